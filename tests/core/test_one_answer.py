"""Every request gets exactly one answer, shows no value and leaves nothing behind, whatever order things happen in.

A machine plays the client, both upstreams, the shell and the clock, each doing
what it may do next: answer, answer again, ask, keep silent, fail, die, come back, take back.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from cloakllm_gateway.core.events import CLIENT, AssignFailed, Overlong, Received, ScanFailed
from cloakllm_gateway.core.jobs import LARGE
from cloakllm_gateway.core.settings import Scope
from cloakllm_gateway.protocol import eras, jsonrpc
from tests.core import test_eras, transcript
from tests.core.test_eras import ASKS, DISCOVERED, MAIL, UNKNOWN_METHOD
from tests.core.transcript import HELLO, SERVES, Conversation, says, upstream

UPSTREAMS = ("crm", "evil")
ERAS = st.sampled_from(["session", "stateless"])
NAMES = st.sampled_from(UPSTREAMS)

#: What clients of either era ask, and what only those of one do.
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("prompts/list", {}),
    ("tools/call", {"name": "crm__send", "arguments": {}}),
    ("tools/call", {"name": "evil__send", "arguments": {"to": "[EMAIL_0]"}}),
    ("tools/call", {"name": "nobody's"}),
    ("prompts/get", {"name": "evil__letter"}),
    ("resources/read", {"uri": "crm://x"}),
    ("resources/read", {"uri": "nobody's://x"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "crm__letter"}, "argument": {"name": "a"}}),
    ("tasks/get", {"taskId": "t-1"}),
]
OF_SESSIONS = [
    ("ping", {}),
    ("logging/setLevel", {"level": "info"}),
    ("resources/subscribe", {"uri": "evil://x"}),
    ("resources/unsubscribe", {"uri": "evil://x"}),
]
LISTENS = {"toolsListChanged": True, "resourceSubscriptions": ["crm://x"], "taskIds": ["t-1"]}
STANDING_ALONE = [("server/discover", {}), ("subscriptions/listen", {"notifications": LISTENS})]

WHERE = {"method": "roots/list"}
RESULTS = st.sampled_from(
    [
        {},
        says("done"),
        says(MAIL),
        {"resultType": "task", "taskId": "t-1", "status": "working"},
        {"resultType": "input_required", "requestState": "later"},
        {"resultType": "input_required", "inputRequests": {"who": ASKS}},
        {"resultType": "input_required", "inputRequests": {"who": ASKS, "where": WHERE}, "requestState": "s"},
        {"resultType": "input_required", "inputRequests": {"who": 3}},
        {"resultType": "input_required", "inputRequests": {"who": {"method": "ping"}}},
    ]
)
CODES = st.sampled_from([-32601, -32602, -32603, -32020, -32021, -32022])
#: What an upstream may answer any request with: a result of its method, another one, an error, or no result at all.
ANSWERS = st.one_of(
    st.just({"result": None}),
    RESULTS.map(lambda result: {"result": result}),
    CODES.map(lambda code: {"error": {"code": code, "message": MAIL}}),
)
LISTS = {
    "tools/list": {"tools": [{"name": "send", "inputSchema": {"type": "object"}}]},
    "prompts/list": {"prompts": [{"name": "letter"}]},
    "resources/list": {"resources": [{"uri": "crm://x", "name": "x"}]},
    "resources/templates/list": {"resourceTemplates": []},
}
REPLIES = st.sampled_from(
    [
        {"result": {"action": "accept", "content": {"who": MAIL}}},
        {"result": {"action": "decline"}},
        {"result": {"roots": []}},
        {"error": {"code": -1, "message": "no"}},
    ]
)


class Traffic(RuleBasedStateMachine):
    @initialize(
        front=ERAS,
        crm=ERAS,
        evil=ERAS,
        hold=st.booleans(),
        at_once=st.booleans(),
        large=st.sampled_from([0, LARGE]),
        scope=st.sampled_from([Scope.SESSION, Scope.ASK]),
    )
    def begin(self, front: str, crm: str, evil: str, hold: bool, at_once: bool, large: int, scope: Scope) -> None:
        self.front, self.eras = front, {"crm": crm, "evil": evil}
        known = transcript.settings(upstream("crm"), upstream("evil", token_scope=scope))
        self.talk = Conversation(known, at_once=at_once, large=large)
        self.talk.hold = hold
        self.asked: dict[Any, tuple[str, dict[str, Any]]] = {}
        self.answered: Counter[Any] = Counter()
        self.taken_back: set[Any] = set()
        self.up = dict.fromkeys(UPSTREAMS, True)
        self.open: dict[str, list[dict[str, Any]]] = {name: [] for name in UPSTREAMS}
        self.ids: list[Any] = []
        self.questions: list[Any] = []
        self.states: list[tuple[Any, dict[str, Any]]] = []
        for name in UPSTREAMS:
            self.talk.connect(name)
        if front == "session":
            self.asked["hello"] = ("initialize", {})
            self.talk.ask("hello", "initialize", HELLO)
            self.talk.client(jsonrpc.notification("notifications/initialized"))
        self.look()

    def look(self) -> None:
        """Take note of what left."""
        while self.talk.sent:
            peer, message = self.talk.sent.popleft()
            is_request = "method" in message and "id" in message
            assert peer != CLIENT or MAIL.encode() not in jsonrpc.encode(message)
            if peer != CLIENT and is_request:
                self.open[peer].append(message)
                self.ids.append(message["id"])
            elif is_request:
                self.questions.append(message["id"])
            elif peer == CLIENT and "method" not in message:
                id, result = message["id"], message.get("result", {})
                assert id in self.asked
                self.answered[id] += 1
                assert self.answered[id] == 1
                if result.get("resultType") == "input_required":
                    self.states.append((id, result))

    def ask(self, method: str, params: dict[str, Any]) -> None:
        id = len(self.asked)
        self.asked[id] = method, params
        if self.front == "session":
            self.talk.ask(id, method, {**params, "_meta": {"progressToken": id}})
        else:
            test_eras.alone(self.talk, id, method, params, progressToken=id)
        self.look()

    # -- the client ------------------------------------------------------------------------------------

    @rule(data=st.data())
    def client_asks(self, data: st.DataObject) -> None:
        self.ask(*data.draw(st.sampled_from(ASKED + (OF_SESSIONS if self.front == "session" else STANDING_ALONE))))

    @precondition(lambda self: self.questions)
    @rule(data=st.data(), reply=REPLIES)
    def client_replies(self, data: st.DataObject, reply: dict[str, Any]) -> None:
        question = self.questions.pop(data.draw(st.integers(0, len(self.questions) - 1)))
        self.talk.client({"jsonrpc": "2.0", "id": question, **reply})
        self.look()

    @precondition(lambda self: self.states)
    @rule(data=st.data(), reply=REPLIES)
    def client_comes_back(self, data: st.DataObject, reply: dict[str, Any]) -> None:
        id, wants = self.states.pop(data.draw(st.integers(0, len(self.states) - 1)))
        method, params = self.asked[id]
        keys = data.draw(st.sets(st.sampled_from(sorted(wants.get("inputRequests", {})) or ["none"])))
        responses = {key: reply.get("result", {}) for key in keys}
        self.ask(method, {**params, "requestState": wants["requestState"], "inputResponses": responses})

    @rule(data=st.data())
    def client_takes_back(self, data: st.DataObject) -> None:
        if waiting := self.waiting():
            id = data.draw(st.sampled_from(waiting))
            self.taken_back.add(id)
            self.talk.client(jsonrpc.notification("notifications/cancelled", {"requestId": id}))
            self.look()

    def waiting(self) -> list[Any]:
        return [id for id in self.asked if id != "hello" and not self.answered[id] and id not in self.taken_back]

    # -- the upstreams ---------------------------------------------------------------------------------

    @rule(name=NAMES, data=st.data(), answer=ANSWERS)
    def upstream_answers(self, name: str, data: st.DataObject, answer: dict[str, Any]) -> None:
        if not self.open[name]:
            return
        request = self.open[name].pop(data.draw(st.integers(0, len(self.open[name]) - 1)))
        method = request["method"]
        if method in ("initialize", "server/discover"):
            answer = self.greeting(name, method)
        elif method in LISTS:
            answer = {"result": LISTS[method]}
        self.talk.upstream(name, {"jsonrpc": "2.0", "id": request["id"], **answer})
        self.look()

    def greeting(self, name: str, method: str) -> dict[str, Any]:
        if (method == "initialize") is not (self.eras[name] == "session"):
            about = {"code": eras.UNSUPPORTED_VERSION, "message": "no", "data": {"supported": [test_eras.VERSION]}}
            return {"error": about if method == "initialize" else UNKNOWN_METHOD}
        hello = {"protocolVersion": "2025-11-25", "capabilities": SERVES}
        return {"result": hello if method == "initialize" else DISCOVERED}

    @precondition(lambda self: self.ids)
    @rule(name=NAMES, data=st.data(), answer=ANSWERS)
    def upstream_answers_what_it_was_not_asked(self, name: str, data: st.DataObject, answer: dict[str, Any]) -> None:
        """What it has answered already, what another was asked, or what nobody was."""
        asked = {request["id"] for request in self.open[name]}
        id = data.draw(st.sampled_from([*self.ids, 999_999, "1", None]).filter(lambda id: id not in asked))
        self.talk.upstream(name, {"jsonrpc": "2.0", "id": id, **answer})
        self.look()

    @rule(name=NAMES, data=st.data(), on_its_stream=st.booleans())
    def upstream_says(self, name: str, data: st.DataObject, on_its_stream: bool) -> None:
        if not self.open[name]:
            return
        about = data.draw(st.sampled_from(self.open[name]))["id"]
        said = data.draw(
            st.sampled_from(
                [
                    jsonrpc.notification("notifications/progress", {"progressToken": about, "message": MAIL}),
                    jsonrpc.notification("notifications/message", {"level": "error", "data": MAIL}),
                    jsonrpc.notification("notifications/cancelled", {"requestId": about}),
                    jsonrpc.notification("notifications/tools/list_changed"),
                    jsonrpc.request(f"{about}", "elicitation/create", ASKS["params"]),
                    jsonrpc.request(f"{about}", "roots/list"),
                ]
            )
        )
        self.talk.tell(Received(name, jsonrpc.encode(said), during=about if on_its_stream else None))
        self.look()

    @rule(name=NAMES)
    def upstream_says_too_much(self, name: str) -> None:
        if self.open[name]:
            self.talk.tell(Overlong(name, self.open[name].pop()["id"]))
            self.look()

    @rule(name=NAMES)
    def upstream_dies_or_comes_back(self, name: str) -> None:
        self.up[name] = not self.up[name]
        self.open[name].clear()
        self.talk.connect(name) if self.up[name] else self.talk.disconnect(name)
        self.look()

    # -- the shell and the clock -----------------------------------------------------------------------

    @rule(data=st.data())
    def job_goes_on(self, data: st.DataObject) -> None:
        if jobs := self.talk.held_jobs():
            self.talk.release(data.draw(st.sampled_from(jobs)))
            self.look()

    @rule(data=st.data(), how=st.sampled_from([ScanFailed, AssignFailed]))
    def job_fails(self, data: st.DataObject, how: type[ScanFailed] | type[AssignFailed]) -> None:
        if jobs := self.talk.held_jobs():
            job = data.draw(st.sampled_from(jobs))
            self.talk.held = deque(event for event in self.talk.held if getattr(event, "job", None) != job)
            self.talk.tell(how(job, "it broke"))
            self.look()

    @rule(data=st.data())
    def time_passes(self, data: st.DataObject) -> None:
        if timers := sorted(self.talk.timers, key=repr):
            self.talk.elapse(data.draw(st.sampled_from(timers)))
            self.look()

    # -- the end ---------------------------------------------------------------------------------------

    def teardown(self) -> None:
        """Both upstreams go for good, the shell finishes its work, and nobody comes back in time."""
        if not hasattr(self, "talk"):
            return
        for name in UPSTREAMS:
            self.talk.disconnect(name, final=True)
        self.settle()
        while self.talk.timers:
            self.talk.elapse(min(self.talk.timers, key=repr))
            self.settle()
        assert [id for id in self.waiting() if self.asked[id][0] != "subscriptions/listen"] == []
        gateway = self.talk.gateway
        assert len(gateway._suspensions) == len(gateway._questions) == 0
        assert gateway.idle

    def settle(self) -> None:
        while jobs := self.talk.held_jobs():
            self.talk.release(jobs[0])
        self.look()


Traffic.TestCase.settings = settings(max_examples=60, stateful_step_count=60, suppress_health_check=list(HealthCheck))
TestEveryRequestGetsExactlyOneAnswer = Traffic.TestCase
