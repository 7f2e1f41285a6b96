"""One upstream's life, with real processes: started, heard, fed, restarted, and gone with all its descendants."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from cloakllm_gateway.core.events import Connected, Disconnected, Event, Overlong, Received, Send
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.shell import supervisor
from cloakllm_gateway.shell.config import UpstreamConfig
from cloakllm_gateway.shell.logging import Logger
from cloakllm_gateway.shell.supervisor import Restarts, Spec, Supervisor
from tests.patience import PATIENCE

#: What the lines of these tests say does not matter to those who carry them.
SEND = Send("peer", {})

pytestmark = pytest.mark.anyio
ECHO = """
    import sys
    for line in sys.stdin:
        print(line, end="", flush=True)
"""


@pytest.fixture
def anyio_backend():
    return "asyncio"


def python(source: str, **settings: object) -> UpstreamConfig:
    """An upstream that runs ``source``."""
    return UpstreamConfig(sys.executable, args=("-c", textwrap.dedent(source)), **settings)  # type: ignore[arg-type]


class Watched:
    """A supervisor, the events it posted so far, and its log."""

    def __init__(self, upstream: UpstreamConfig, log_path: Path, **options: object) -> None:
        self.events: list[Event] = []
        self._changed = anyio.Event()
        self._log_path = log_path
        self._log_fd = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.logger = Logger("debug", self._log_fd)
        self.scope = anyio.CancelScope()
        self.sanitize: Callable[[str], str] = lambda line: line.replace("kim@example.com", "[EMAIL_0]")
        self.supervisor = Supervisor(
            Spec("crm", upstream, 1 << 20),
            self._post,
            self._sanitize,
            self.logger,
            restarts=Restarts(first=0.01, attempts=3),
            **options,  # type: ignore[arg-type]
        )

        self.listens = anyio.Event()
        self.listens.set()

    async def _post(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()
        self._changed = anyio.Event()
        await self.listens.wait()

    async def _sanitize(self, line: str) -> str:
        return self.sanitize(line)

    async def run(self) -> None:
        with self.scope:
            await self.supervisor.run()
        self.logger.close()
        os.close(self._log_fd)

    async def until(self, seen: Callable[[list[Event]], bool]) -> None:
        with anyio.fail_after(PATIENCE):
            while not seen(self.events):
                await self._changed.wait()

    async def until_connected(self, times: int = 1) -> None:
        await self.until(lambda events: sum(isinstance(event, Connected) for event in events) >= times)

    async def until_received(self, lines: int) -> None:
        await self.until(lambda events: len(self.received) >= lines)

    @property
    def received(self) -> list[bytes]:
        return [event.line for event in self.events if isinstance(event, Received)]

    def log(self) -> str:
        return self._log_path.read_text(encoding="utf-8")

    async def until_logged(self, text: str) -> None:
        with anyio.fail_after(PATIENCE):
            while text not in self.log():
                await anyio.sleep(0.01)


@pytest.fixture
def supervised(tmp_path):
    @asynccontextmanager
    async def supervised(upstream: UpstreamConfig, **options: object) -> AsyncIterator[Watched]:
        watched = Watched(upstream, tmp_path / "log", **options)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watched.run)
            yield watched
            watched.scope.cancel()

    return supervised


async def test_lines_go_in_and_come_out_in_order(supervised):
    async with supervised(python(ECHO)) as crm:
        await crm.until_connected()
        for i in range(100):
            crm.supervisor.send(b"%d" % i, SEND)
        await crm.until_received(100)
    assert crm.events[0] == Connected("crm")
    assert crm.received == [b"%d" % i for i in range(100)]
    assert "info upstream_started upstream=crm pid=" in crm.log()


async def test_a_long_line_arrives_whole_and_one_over_the_limit_is_reported(supervised):
    source = """
        print('{"id":3,"x":"' + "y" * 2_000_000 + '"}')
        print("z" * 300_000)
    """
    async with supervised(python(source)) as crm:
        await crm.until_received(1)
    assert crm.events[:3] == [Connected("crm"), Overlong("crm", 3), Received("crm", b"z" * 300_000)]


async def test_the_last_line_before_a_crash_is_delivered_before_the_end_is_told(supervised):
    async with supervised(python("import sys; sys.stdout.write('last'); sys.stdout.flush(); sys.exit(3)")) as crm:
        await crm.until(lambda events: len(events) >= 3)
    assert crm.events[:3] == [
        Connected("crm"),
        Received("crm", b"last"),
        Disconnected("crm", "exited with status 3"),
    ]


async def test_the_time_for_last_words_does_not_run_while_nobody_listens(supervised, monkeypatch):
    """Whoever is slow to take what came is us: what stands in the pipe by then is heard all the same."""
    monkeypatch.setattr(supervisor, "LAST_WORDS", 0.1)
    # It prints when nothing is read any more: before that, all of it may have been heard on a busy machine.
    source = "import os; os.read(0, 1); os.write(1, b'first\\n' + b'x' * 50_000 + b'\\nthe answer\\n'); os._exit(0)"
    others = {*psutil.Process().children()}
    async with supervised(python(source)) as crm:
        crm.listens = anyio.Event()
        await crm.until_connected()
        crm.supervisor.send(b"now", SEND)
        with anyio.fail_after(PATIENCE):
            while {*psutil.Process().children()} - others:  # until it has ended, and for longer than it is waited for
                await anyio.sleep(0.05)
        await anyio.sleep(0.5)
        assert not any(isinstance(event, Disconnected) for event in crm.events)
        crm.listens.set()
        await crm.until(lambda events: any(isinstance(event, Disconnected) for event in events))
    told = [event for event in crm.events if not isinstance(event, Connected)][:4]
    assert [getattr(event, "line", b"")[:10] for event in told[:3]] == [b"first", b"x" * 10, b"the answer"]
    assert told[3] == Disconnected("crm", "exited with status 0")


async def test_a_descendant_that_goes_on_talking_is_heard_no_further_than_a_pipe_reaches(supervised, monkeypatch):
    monkeypatch.setattr(supervisor, "LAST_WORDS", PATIENCE)
    source = """
        import os, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork():
            os._exit(0)
        while True:
            os.write(1, b'x' * 4095 + b'\\n')
    """
    async with supervised(python(source)) as crm:
        await crm.until(lambda events: any(isinstance(event, Disconnected) for event in events))
        assert sum(len(line) + 1 for line in crm.received) <= supervisor.LAST_BYTES + (1 << 18)


async def test_a_crash_loop_ends_in_a_final_end(supervised):
    async with supervised(python("raise SystemExit(1)")) as crm:
        await crm.until(lambda events: len(events) >= 6)
    assert crm.events == [Connected("crm"), Disconnected("crm", "exited with status 1")] * 2 + [
        Connected("crm"),
        Disconnected("crm", "exited with status 1", final=True),
    ]


async def test_a_dropped_upstream_is_started_again(supervised):
    async with supervised(python(ECHO)) as crm:
        await crm.until_connected()
        crm.supervisor.drop("too slow")
        await crm.until_connected(2)
        crm.supervisor.send(b"again", SEND)
        await crm.until_received(1)
    assert crm.events[1] == Disconnected("crm", "too slow")
    assert crm.received == [b"again"]


async def test_an_upstream_that_was_killed_says_by_what(supervised):
    async with supervised(python("import os; os.kill(os.getpid(), 9)")) as crm:
        await crm.until(lambda events: len(events) >= 2)
    assert crm.events[1] == Disconnected("crm", "was ended by signal 9")


async def test_an_upstream_that_closes_its_output_is_no_use_and_ends(supervised):
    async with supervised(python("import os, signal; os.close(1); signal.pause()")) as crm:
        await crm.until(lambda events: len(events) >= 2)
    assert crm.events[1] == Disconnected("crm", "closed its output")


async def test_what_a_program_says_at_each_of_its_crashes_is_logged_once(supervised):
    source = "import sys; print('no database', 'in sight', sep=chr(10), file=sys.stderr); sys.exit(1)"
    async with supervised(python(source)) as crm:
        await crm.until(lambda events: bool(events) and isinstance(events[-1], Disconnected) and events[-1].final)
    said = crm.log()
    assert said.count("no database") == said.count("in sight") == 1
    assert "upstream_says_the_same_again upstream=crm lines=" in said


async def test_a_command_that_does_not_exist_is_final_and_explained_in_the_log_alone(supervised):
    async with supervised(UpstreamConfig("no-such-program")) as crm:
        await crm.until(lambda events: len(events) >= 1)
    assert crm.events == [Disconnected("crm", "has a command that was not found", final=True)]
    assert "command=no-such-program searched=" in crm.log()


async def test_an_upstream_that_does_not_read_is_dropped_and_nobody_waits_for_it(supervised):
    async with supervised(python("import signal; signal.pause()")) as crm:
        await crm.until_connected()
        with anyio.fail_after(PATIENCE):
            for _ in range(4):
                crm.supervisor.send(b"x" * 1_000_000, SEND)
        await crm.until(lambda events: Disconnected("crm", "does not read its input") in events)


async def test_a_line_for_an_upstream_that_is_not_running_is_lost(supervised):
    async with supervised(UpstreamConfig("no-such-program")) as crm:
        await crm.until(lambda events: len(events) >= 1)
        crm.supervisor.send(b"x", SEND)


# -- what it prints beside the protocol --------------------------------------------------------------


async def test_standard_error_is_drained_sanitized_and_logged_with_its_name(supervised):
    source = """
        import sys
        sys.stderr.write("x" * 262_144)
        sys.stderr.write("\\nDEBUG user=kim@example.com \\x1b[31m\\n")
        print("answered", flush=True)
        sys.stdin.read()
    """
    async with supervised(python(source)) as crm:
        await crm.until_received(1)
        await crm.until_logged("upstream_says")
    log = crm.log()
    assert 'info upstream_says upstream=crm line="DEBUG user=[EMAIL_0] \\x1b[31m"' in log
    assert "warning upstream_lines_not_shown upstream=crm lines=1" in log
    assert "kim@example.com" not in log


async def test_the_last_words_of_a_crash_are_logged_though_no_line_feed_ends_them(supervised):
    source = (
        "import os, sys; os.close(1); sys.stderr.write('x' * 9_000 + '\\nno database for kim@example.com'); os._exit(1)"
    )
    async with supervised(python(source)) as crm:
        await crm.until(lambda events: len(events) >= 2)
        await crm.until_logged("no database for [EMAIL_0]")
    assert "no database for [EMAIL_0]x" not in crm.log()


async def test_a_flood_on_standard_error_delays_no_answer_and_is_rationed(supervised):
    source = """
        import sys
        for i in range(50_000):
            print("flood", i, file=sys.stderr)
        print("answered", flush=True)
        sys.stdin.read()
    """
    async with supervised(python(source)) as crm:
        await crm.until_received(1)
    log = crm.log()
    assert "upstream_lines_not_shown" in log
    assert log.count("upstream_says") < 1_000
    assert 'line="flood 49999"' in log


async def test_a_line_that_cannot_be_sanitized_is_withheld(supervised):
    def fail(line: str) -> str:
        raise DetectionError("the detector is gone")

    async with supervised(python("import sys; sys.stderr.write('kim@example.com\\n'); sys.stdin.read()")) as crm:
        crm.sanitize = fail
        await crm.until_logged("upstream_lines_withheld")
    assert "kim@example.com" not in crm.log()


BANNER = "import sys; print('banner for kim@example.com', flush=True); sys.stdin.read()"


async def test_noise_on_standard_output_is_logged_the_same_way(supervised):
    async with supervised(python(BANNER)) as crm:
        await crm.until_received(1)
        crm.supervisor.noise(crm.received[0])
        await crm.until_logged("banner for [EMAIL_0]")


# -- its environment ---------------------------------------------------------------------------------

SHOW = """
    import json, os, sys
    print(json.dumps([dict(os.environ), os.getcwd(), sys.stdout.encoding]), flush=True)
    sys.stdin.read()
"""


async def test_an_upstream_sees_its_own_environment_and_folder(supervised, tmp_path):
    upstream = python(SHOW, env={"CRM_KEY": "k1"}, cwd=str(tmp_path))
    parent = {"PATH": os.environ["PATH"], "HOME": "/h", "OTHER_SECRET": "zzz", "PYTHONIOENCODING": "cp1252"}
    async with supervised(upstream, parent=parent) as crm:
        await crm.until_received(1)
    variables, folder, encoding = json.loads(crm.received[0])
    assert variables["CRM_KEY"] == "k1"
    assert variables["HOME"] == "/h"
    assert "OTHER_SECRET" not in variables
    assert folder == str(tmp_path)
    assert encoding == "utf-8"


# -- its end -----------------------------------------------------------------------------------------


SERVER = """
import os, signal

print(os.getpid(), flush=True)
while True:
    signal.pause()
"""
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" + SERVER


def tree(server: str) -> UpstreamConfig:
    """A shell that waits for a server, which does not end with its input (nor, if stubborn, on SIGTERM)."""
    return UpstreamConfig("/bin/sh", args=("-c", '"$0" -c "$1" & wait', sys.executable, server))


async def test_a_whole_tree_is_gone_within_seconds_of_the_end(supervised):
    async with supervised(tree(STUBBORN)) as crm:
        await crm.until_received(1)
        server = psutil.Process(int(crm.received[0]))
        shell = server.parent()
        started = anyio.current_time()
    assert anyio.current_time() - started < 6
    assert_gone(server)
    assert_gone(shell)


async def test_a_tree_whose_start_is_cancelled_is_gone_as_well(supervised):
    """It may have descendants before anybody has heard of it."""
    marker = "29.7301"
    others = {*psutil.Process().children()}
    async with supervised(UpstreamConfig("/bin/sh", args=("-c", f"sleep {marker} & sleep {marker}"))) as crm:
        with anyio.fail_after(PATIENCE):
            while not (own := {*psutil.Process().children()} - others):
                await anyio.lowlevel.checkpoint()
        (shell,) = own
        assert not crm.events, "it is too late to cancel its start"
        late = time.monotonic() + PATIENCE
        while len(descendants := shell.children()) < 2:
            assert time.monotonic() < late  # the event loop has not had a turn
        crm.scope.cancel()
    for process in (shell, *descendants):
        assert_gone(process)


async def test_the_end_of_an_upstream_is_told_before_it_has_been_made_to_go(supervised):
    async with supervised(tree(STUBBORN)) as crm:
        await crm.until_received(1)
        server = psutil.Process(int(crm.received[0]))
        crm.supervisor.drop("too slow")
        with anyio.fail_after(PATIENCE):
            await crm.until(lambda events: Disconnected("crm", "too slow") in events)
        assert server.is_running()


async def test_a_server_whose_wrapper_crashed_goes_too(supervised):
    async with supervised(tree(SERVER)) as crm:
        await crm.until_received(1)
        server = psutil.Process(int(crm.received[0]))
        server.parent().kill()
        await crm.until(lambda events: Disconnected("crm", "was ended by signal 9") in events)
        assert_gone(server)


async def test_an_upstream_that_ends_with_its_input_is_not_signalled(supervised, tmp_path):
    mark = tmp_path / "ended"
    source = f"""
        import pathlib, sys
        print("up", flush=True)
        sys.stdin.read()
        pathlib.Path({str(mark)!r}).write_text("by itself")
    """
    async with supervised(python(source)) as crm:
        await crm.until_received(1)
    assert mark.read_text() == "by itself"


async def test_an_upstream_stuck_in_a_write_still_sees_the_end_of_its_input(supervised, tmp_path):
    mark = tmp_path / "ended"
    source = f"""
        import pathlib, sys
        print("up", flush=True)
        sys.stdin.readline()
        print("x" * 3_000_000, flush=True)
        pathlib.Path({str(mark)!r}).write_text("by itself")
    """
    async with supervised(python(source)) as crm:
        await crm.until_received(1)
        crm.supervisor.send(b"go", SEND)
    assert mark.read_text() == "by itself"


GATEWAY = """
    import os, signal, sys
    import anyio
    from cloakllm_gateway.core.events import Send
    from cloakllm_gateway.shell.config import UpstreamConfig
    from cloakllm_gateway.shell.logging import Logger
    from cloakllm_gateway.shell.supervisor import Spec, Supervisor
    from cloakllm_gateway.shell.streams import claim
    from cloakllm_gateway.shell.transports.stdio import Front

    front = Front(*claim(), 1 << 20)

    async def clean(line):
        return line

    async def main():
        async with front, anyio.create_task_group() as tasks:
            async def leave():
                with anyio.open_signal_receiver(signal.SIGTERM) as signals:
                    async for _ in signals:
                        tasks.cancel_scope.cancel()
            async def forward(event):
                if hasattr(event, "line"):
                    await front.send(event.line, Send("client", {}))
            async def ignore(event): ...
            tasks.start_soon(leave)
            spec = Spec("crm", UpstreamConfig(sys.argv[1], args=tuple(sys.argv[2:])), 1 << 20)
            tasks.start_soon(Supervisor(spec, forward, clean, Logger()).run)
            await front.run(ignore)
            tasks.cancel_scope.cancel()

    anyio.run(main)
"""


@pytest.mark.parametrize(
    ("end", "server"),
    [("the client closes its side", SERVER), ("the client is killed", STUBBORN), ("the gateway gets SIGTERM", SERVER)],
    ids=["closed", "killed", "SIGTERM"],
)
def test_nothing_survives_a_client_that_goes(end, server):
    upstream = tree(server)
    gateway = [sys.executable, "-c", textwrap.dedent(GATEWAY), upstream.command, *upstream.args]
    client_source = textwrap.dedent("""
        import subprocess, sys
        gateway = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print(gateway.pid, gateway.stdout.readline().decode(), flush=True)
        sys.stdin.read()
        gateway.stdin.close()
        gateway.wait()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", client_source, *gateway], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdin and client.stdout
        pids = [int(word) for word in client.stdout.readline().split()]
        processes = [psutil.Process(pid) for pid in pids]
        processes.append(processes[1].parent())
        match end:
            case "the client closes its side":
                client.stdin.close()
            case "the client is killed":
                client.kill()
            case _:
                processes[0].terminate()
        gone, alive = psutil.wait_procs(processes[1:], timeout=7)
        assert not alive
        assert len(gone) == 2
        client.stdin.close()
        client.wait(PATIENCE)
    assert_gone(processes[0])


def assert_gone(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.wait(PATIENCE)
    assert not process.is_running()


# -- when it is started again ------------------------------------------------------------------------


def test_pauses_double_up_to_the_longest():
    restarts = Restarts()
    assert [restarts.after(15) for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_five_short_runs_in_a_row_are_a_crash_loop():
    restarts = Restarts()
    assert [restarts.after(0.1) for _ in range(5)] == [0.5, 1, 2, 4, None]


def test_a_longer_run_between_short_ones_is_no_crash_loop():
    restarts = Restarts()
    assert None not in [restarts.after(lived) for lived in (1, 1, 1, 1, 20, 1, 1, 1, 1)]


def test_a_stable_run_makes_the_next_pause_the_first_again():
    restarts = Restarts()
    assert [restarts.after(lived) for lived in (1, 1, 100, 1)] == [0.5, 1, 0.5, 1]
