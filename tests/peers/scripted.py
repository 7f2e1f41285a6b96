"""An upstream that does what a JSON file says: ``python scripted.py BEHAVIOUR.json``.

Stand-alone on purpose: the standard library only, its own framing, no SDK and no code of the
gateway, so that it can say anything, right or wrong, and see exactly what reached it.

The file holds one object (see :class:`peers.upstream.Upstream`, which writes it)::

    {"log":     path that every received line is appended to, verbatim,
     "starts":  path that one line of JSON is appended to at each start (pid, argv, environment),
     "at_start": actions done before anything is read,
     "on":      {method: actions, or {"by": parameter, "cases": {value: actions}, "otherwise": actions}},
     "serial":  true to do one request after the other (default: each in a thread of its own),
     "ignore":  of "term", "eof": signals of the end that are ignored}

An *action* is an object with one of these keys; a request is done when its actions are:

    result, error   answer with this value
    raw_result      answer with this text spliced in as the result, byte for byte
    notify, params  send a notification
    ask, params     send a request to the client and wait for its answer (kept as ``$answer``); raw_params for a text
    write           write this text to stdout as it is, but for $ID and $PROGRESS; write_base64 for bytes
    stderr          write this text to stderr
    wait            wait until a message came whose method (and, with "name", whose params.name) is this one
    set             from now on, do this for these methods: an object like "on"
    crash           end the process with this status, at once

In values, the string ``$id``, ``$args``, ``$params``, ``$answer``, ``$environ`` or ``$encoding`` stands for the
thing it names, ``$progress`` for the progress token of the request, ``$spelled`` for the text whose code points are the
argument ``points`` (a way past whatever rewrites arguments), and ``{{name}}`` inside a string for an argument.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import sys
import threading

WAIT_AT_MOST = 30.0


def dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Upstream:
    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.log = os.open(behaviour["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.writing = threading.Lock()
        self.changed = threading.Condition()
        self.seen = []  # (method, name) of every message
        self.answers = {}
        self.asked = 0

    # -- writing

    def write(self, data):
        with self.writing:
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]

    def send(self, message):
        text = dumps({"jsonrpc": "2.0", **message})
        self.write(text.encode("utf-8", "surrogatepass") + b"\n")

    # -- reading

    def run(self):
        with open(self.behaviour["starts"], "a", encoding="utf-8") as starts:
            start = {"pid": os.getpid(), "argv": sys.argv, "environ": dict(os.environ)}
            starts.write(json.dumps(start) + "\n")
        self.perform(self.behaviour.get("at_start", []), {})
        for line in sys.stdin.buffer:
            os.write(self.log, line)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                self.received(message)
        if "eof" in self.behaviour.get("ignore", []):
            threading.Event().wait(WAIT_AT_MOST)

    def received(self, message):
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        with self.changed:
            if "method" in message:
                self.seen.append((message["method"], params.get("name")))
            elif "id" in message:
                self.answers[message["id"]] = message.get("result", message.get("error"))
            self.changed.notify_all()
        if "method" not in message:
            return
        actions = self.actions(message["method"], params)
        if actions is None:
            if "id" in message:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        elif self.behaviour.get("serial"):
            self.perform(actions, message)
        else:
            threading.Thread(target=self.perform, args=(actions, message), daemon=True).start()

    def actions(self, method, params):
        entry = self.behaviour["on"].get(method)
        if isinstance(entry, dict):
            chosen = params
            for part in entry["by"].split("."):
                chosen = chosen.get(part, "") if isinstance(chosen, dict) else ""
            return entry["cases"].get(str(chosen), entry.get("otherwise"))
        return entry

    # -- doing

    def perform(self, actions, request):
        params = request.get("params") or {}
        names = {
            "$id": request.get("id"),
            "$params": params,
            "$args": params.get("arguments"),
            "$progress": (params.get("_meta") or {}).get("progressToken"),
            "$version": params.get("protocolVersion"),
            "$answer": None,
        }
        for action in actions:
            self.do(action, request, names)

    def do(self, action, request, names):
        def fill(value):
            return filled(value, names)

        if "result" in action:
            self.send({"id": request["id"], "result": fill(action["result"]), **fill(action.get("beside", {}))})
        elif "error" in action:
            self.send({"id": request["id"], "error": fill(action["error"])})
        elif "raw_result" in action:
            line = f'{{"jsonrpc":"2.0","id":{dumps(request["id"])},"result":{action["raw_result"]}}}\n'
            self.write(line.encode("utf-8", "surrogatepass"))
        elif "notify" in action:
            message = {"method": action["notify"]}
            if "params" in action:
                message["params"] = fill(action["params"])
            self.send(message)
        elif "ask" in action:
            params = action["raw_params"] if "raw_params" in action else dumps(fill(action.get("params", {})))
            names["$answer"] = self.ask(action["ask"], params, action.get("id"))
        elif "write" in action:
            spelled = fill(action["write"]).replace("$ID", dumps(request.get("id")))
            spelled = spelled.replace("$PROGRESS", dumps(names["$progress"]))
            self.write(spelled.encode("utf-8", "surrogatepass"))
        elif "write_base64" in action:
            raw = base64.b64decode(action["write_base64"])
            self.write(raw.replace(b"$ID", dumps(request.get("id")).encode()))
        elif "stderr" in action:
            os.write(2, fill(action["stderr"]).encode("utf-8", "surrogatepass"))
        elif "wait" in action:
            self.wait(action["wait"], action.get("name"))
        elif "set" in action:
            self.behaviour["on"].update(action["set"])
        elif "crash" in action:
            os._exit(action["crash"])
        else:
            raise SystemExit(f"no such action: {sorted(action)}")

    def ask(self, method, params, id):
        with self.changed:
            if id is None:
                self.asked += 1
                id = f"asked-{self.asked}" if self.behaviour.get("string_ids") else self.asked - 1
        line = f'{{"jsonrpc":"2.0","id":{dumps(id)},"method":{dumps(method)},"params":{params}}}\n'
        self.write(line.encode("utf-8", "surrogatepass"))
        with self.changed:
            self.changed.wait_for(lambda: id in self.answers, WAIT_AT_MOST)
            return self.answers.pop(id, "no answer came")

    def wait(self, method, name):
        def came():
            return any(m == method and name in (None, n) for m, n in self.seen)

        with self.changed:
            self.changed.wait_for(came, WAIT_AT_MOST)


def filled(value, names):
    """``value`` with its placeholders replaced."""
    if isinstance(value, str):
        if value in names:
            return names[value]
        if value == "$environ":
            return dict(os.environ)
        if value == "$encoding":
            return sys.stdout.encoding
        arguments = names["$args"] if isinstance(names.get("$args"), dict) else {}
        if value == "$spelled":
            return "".join(map(chr, arguments["points"]))
        return re.sub(r"\{\{(\w+)\}\}", lambda m: str(arguments.get(m[1], "")), value)
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {filled(name, names): filled(inner, names) for name, inner in value.items()}
    return value


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        behaviour = json.load(file)
    if "term" in behaviour.get("ignore", []):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Upstream(behaviour).run()


if __name__ == "__main__":
    main()
