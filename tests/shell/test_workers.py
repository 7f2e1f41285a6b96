"""Detection in processes of its own, with real processes: asked, killed, hung, replaced, and gone at the end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.lowlevel
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.settings import NameSettings, Settings
from cloakllm_gateway.errors import ConfigError, DetectionError
from cloakllm_gateway.shell import frames, name_models
from cloakllm_gateway.shell.command_hints import spacy_model
from cloakllm_gateway.shell.workers import LARGE, Deadlines, Workers
from cloakllm_gateway.spans import Encoding, Findings, Proof, Span, Text
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
MISSING = name_models.available(NameSettings())
needs_model = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
posix = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped and continued here")

MAIL = "write to kim@example.com today"
WITH_NAMES = Settings(names=NameSettings())
STRINGS = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@asynccontextmanager
async def workers(settings: Settings = Settings(), deadlines: Deadlines = Deadlines()) -> AsyncIterator[Workers]:  # noqa: B008
    """Started workers, and in the end the certainty that none is left."""
    before = set(processes())
    started = Workers(settings, deadlines)
    await started.start()
    try:
        with anyio.fail_after(PATIENCE):
            yield started
    finally:
        await started.close()
        assert set(processes()) <= before


def processes() -> list[psutil.Process]:
    """The worker processes of this process that are alive."""
    return [
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and "cloakllm_gateway.shell.worker" in child.cmdline()
    ]


def _died(process: psutil.Process) -> None:
    """Wait for the end of a child and leave its status to those who started it, who may have taken it before."""
    if hasattr(os, "waitid"):
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


async def categories(of: Workers, text: str) -> list[str]:
    (found,) = (await of.find([Text(text)])).spans
    return [span.category for span in found]


async def test_a_job_that_waits_for_its_worker_to_load_is_told_of():
    seen = []

    async def ask() -> None:
        seen.append(await categories(started, MAIL))

    async with workers() as started, anyio.create_task_group() as tasks:
        assert not started.is_loading
        tasks.start_soon(ask)
        while not started.is_loading:
            assert not seen
            await anyio.lowlevel.checkpoint()
        while not seen:
            await anyio.sleep(0.01)
        assert seen == [["EMAIL"]] and not started.is_loading


# -- what they find --------------------------------------------------------------------------------


async def test_a_worker_finds_what_the_detector_finds_in_each_text():
    texts = [Text(MAIL), Text("nothing"), Text("4111 1111 1111 1111", key="card"), Text("")]
    async with workers() as started:
        assert await started.find(texts) == Detector().look(texts)


@needs_model
async def test_names_are_found_only_in_texts_that_may_be_read_for_them():
    text = "we met Thessaly Vandermeer and kim@example.com"
    async with workers(WITH_NAMES) as started:
        read, unread = (await started.find([Text(text), Text(text, names=False)])).spans
    assert [span.category for span in read] == ["PERSON", "EMAIL"]
    assert [span.category for span in unread] == ["EMAIL"]


@needs_model
async def test_a_label_that_is_switched_off_is_not_looked_for():
    async with workers(Settings(names=NameSettings(), off=frozenset({"PERSON"}))) as started:
        assert await categories(started, "we met Thessaly Vandermeer") == []


@needs_model
async def test_allowed_names_are_no_finds():
    allowed = Settings(names=NameSettings(), allow_list=frozenset({"Thessaly Vandermeer"}))
    async with workers(allowed) as started:
        assert await categories(started, "we met Thessaly Vandermeer") == []


async def test_lone_surrogates_survive_the_way_there_and_back():
    text = "\ud800 kim@example.com \udfff"
    async with workers() as started:
        ((span,),) = (await started.find([Text(text, key="\ud800")])).spans
    assert (span.start, span.value) == (2, "kim@example.com")


async def test_a_megabyte_is_looked_at_whole():
    text = "nothing of interest here, \n" * 40_000 + MAIL
    async with workers() as started:
        ((span,),) = (await started.find([Text(text)])).spans
    assert text[span.start : span.end] == "kim@example.com"


async def test_jobs_at_the_same_time_each_get_their_own_answer():
    answers: dict[int, str] = {}

    async def ask(number: int, padding: str) -> None:
        ((span,),) = (await started.find([Text(f"{padding}kim{number}@example.com")])).spans
        answers[number] = span.value

    async with workers() as started, anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(ask, number, "some words \n" * 8000 if number % 5 == 0 else "")
    assert answers == {number: f"kim{number}@example.com" for number in range(20)}


async def test_the_proof_holds_in_the_worker():
    async with workers() as started:
        await started.prove()


@needs_model
async def test_the_proof_covers_names():
    async with workers(WITH_NAMES) as started:
        await started.prove()


@needs_model
async def test_a_model_that_lacks_a_label_fails_the_proof_naming_it():
    async with workers(Settings(names=NameSettings(labels=("STARSHIP",)))) as started:
        with pytest.raises(DetectionError, match="STARSHIP"):
            await started.prove()


async def test_what_the_detector_refuses_fails_that_job_only():
    async with workers(Settings(max_input_length=100)) as started:
        with pytest.raises(DetectionError, match="max_input_length"):
            await started.find([Text("x" * 101)])
        (process,) = processes()
        assert await categories(started, MAIL) == ["EMAIL"]
        assert processes() == [process]


# -- when they fail --------------------------------------------------------------------------------


@posix
async def test_a_worker_that_dies_fails_its_job_and_the_next_one_works():
    async with workers() as started:
        await categories(started, MAIL)
        (process,) = processes()
        async with anyio.create_task_group() as tasks:
            process.suspend()  # so that it is certainly in the job when it dies
            tasks.start_soon(_fails, started, "ended unexpectedly")
            await anyio.wait_all_tasks_blocked()
            process.kill()
        assert await categories(started, MAIL) == ["EMAIL"]
        assert processes() != [process]


async def test_a_worker_that_died_between_jobs_fails_none():
    async with workers() as started:
        await categories(started, MAIL)
        (process,) = processes()
        process.kill()
        await anyio.to_thread.run_sync(_died, process)
        await anyio.wait_all_tasks_blocked()
        assert await categories(started, MAIL) == ["EMAIL"]


@posix
async def test_a_worker_that_hangs_is_ended_when_its_time_is_up():
    async with workers(deadlines=Deadlines(job=0.5, million=10e6)) as started:  # ten seconds for each character
        assert await categories(started, MAIL) == ["EMAIL"]
        (process,) = processes()
        process.suspend()
        with pytest.raises(DetectionError, match="more than"):
            await started.find([Text("")])
        assert not process.is_running()
        assert await categories(started, MAIL) == ["EMAIL"]


@posix
async def test_a_large_job_keeps_no_small_one_waiting():
    async with workers() as started:
        await started.find([Text("x " * LARGE)])
        (large,) = processes()
        large.suspend()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(started.find, [Text("x " * LARGE)])
            await anyio.wait_all_tasks_blocked()
            assert await categories(started, MAIL) == ["EMAIL"]
            large.resume()


@posix
async def test_a_job_that_is_given_up_leaves_no_answer_for_the_next():
    async with workers() as started:
        await categories(started, MAIL)
        (process,) = processes()
        process.suspend()
        with anyio.move_on_after(0.1):
            await started.find([Text("4111 1111 1111 1111")])
        assert await categories(started, MAIL) == ["EMAIL"]
        assert not process.is_running()


async def test_after_the_end_nothing_is_started_any_more():
    started = Workers(Settings())
    await started.close()
    with pytest.raises(DetectionError, match="shut down"):
        await started.find([Text(MAIL)])
    assert processes() == []


@posix
async def test_closing_in_the_middle_of_a_job_fails_it_and_leaves_no_process():
    async with workers() as started:
        await categories(started, MAIL)
        (process,) = processes()
        process.suspend()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_fails, started)
            await anyio.wait_all_tasks_blocked()
            await started.close()
        assert not process.is_running()


async def test_cancelling_their_task_ends_them():
    started = Workers(Settings())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(started.run)
        await categories(started, MAIL)
        assert len(processes()) == 1
        tasks.cancel_scope.cancel()
    assert processes() == []


async def _fails(started: Workers, match: str | None = None) -> None:
    with pytest.raises(DetectionError, match=match):
        await started.find([Text(MAIL)])


# -- what they need --------------------------------------------------------------------------------


async def test_without_names_no_process_is_started_before_the_first_job():
    async with workers():
        assert processes() == []


@needs_model
async def test_with_names_the_model_loads_before_the_first_job():
    async with workers(WITH_NAMES):
        while len(processes()) != 1:  # for a moment it runs and has no command line yet
            await anyio.sleep(0.01)


def test_an_absent_model_is_said_and_only_refused_where_it_is_required():
    absent = NameSettings((("*", "no_such_model_here"),))
    assert Workers(Settings(names=absent)).names_missing is not None
    with pytest.raises(ConfigError, match=re.escape(spacy_model("no_such_model_here"))):
        Workers(Settings(names=NameSettings((("*", "no_such_model_here"),), required=True)))


async def test_without_the_model_what_is_plain_to_see_is_still_found():
    async with workers(Settings(names=NameSettings((("*", "no_such_model_here"),)))) as started:
        assert await categories(started, f"{MAIL}, Ann Lee and Thessaly Vandermeer") == ["EMAIL", "PERSON"]


def test_importing_the_gateway_side_imports_no_model():
    code = "import sys, cloakllm_gateway.shell.workers; print(*(m for m in ('spacy', 'numpy') if m in sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == []


# -- the process itself ----------------------------------------------------------------------------


def run_worker(source: str) -> subprocess.Popen[bytes]:
    """A worker as it is started by the gateway, with ``source`` run first in its process."""
    code = f"{source}\nfrom cloakllm_gateway.shell.worker import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def read_frame(process: subprocess.Popen[bytes]) -> frames.Reply:
    assert process.stdout is not None
    return frames.decode_reply(process.stdout.read(frames.length(process.stdout.read(frames.HEADER))))


def test_what_a_library_prints_does_not_get_between_the_frames():
    noisy = """
import os, cloakllm_gateway.detection.engine as engine
class Noisy(engine.Detector):
    def look(self, texts):
        print('downloading model 10%', flush=True)
        os.write(1, b'and again')
        os.system('echo even from a program')
        return super().look(texts)
engine.Detector = Noisy
"""
    with run_worker(noisy) as process:
        assert process.stdin is not None
        process.stdin.write(frames.frame(Settings()) + frames.frame(frames.find([Text(MAIL)])))
        process.stdin.flush()
        assert isinstance(read_frame(process), frames.Ready)
        answer = read_frame(process)
        rest, said = process.communicate()
    assert isinstance(answer, frames.Found)
    assert [span.value for span in frames.findings_of(answer).spans[0]] == ["kim@example.com"]
    assert rest == b""
    for line in (b"downloading model 10%", b"and again", b"even from a program"):
        assert line in said


def test_what_ends_a_worker_is_said_without_a_value():
    broken = """
import cloakllm_gateway.detection.engine as engine
def look(self, texts):
    raise ValueError(texts[0].text)
engine.Detector.look = look
"""
    with run_worker(broken) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(frames.frame(Settings()) + frames.frame(frames.find([Text(MAIL)])))
        process.stdin.flush()
        assert isinstance(read_frame(process), frames.Ready)
        said = process.stderr.read()
        assert process.wait(PATIENCE) == 1
    assert said == b"cloakllm-gateway worker: ValueError at <string>:4\n"


def test_a_worker_ends_with_its_input_even_in_the_middle_of_a_job():
    endless = """
import threading, cloakllm_gateway.detection.engine as engine
engine.Detector.look = lambda self, texts: threading.Event().wait()
"""
    with run_worker(endless) as process:
        assert process.stdin is not None
        process.stdin.write(frames.frame(Settings()) + frames.frame(frames.find([Text(MAIL)])))
        process.stdin.flush()
        assert isinstance(read_frame(process), frames.Ready)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@posix
def test_a_worker_does_not_outlive_a_gateway_that_is_killed():
    gateway = """
import anyio, os, psutil
from cloakllm_gateway.detection.settings import Settings
from cloakllm_gateway.shell.workers import Workers
from cloakllm_gateway.spans import Text
async def main():
    workers = Workers(Settings())
    await workers.find([Text("x")])
    print(psutil.Process().children()[0].pid, flush=True)
    await anyio.sleep_forever()
anyio.run(main)
"""
    with subprocess.Popen([sys.executable, "-c", gateway], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        worker = psutil.Process(int(process.stdout.readline()))
        process.kill()
    gone, _ = psutil.wait_procs([worker], timeout=PATIENCE)
    assert gone


# -- frames ----------------------------------------------------------------------------------------


#: Records.
RECORDS = st.integers(-1, 9)


@given(st.lists(st.builds(Text, STRINGS, STRINGS, RECORDS, st.booleans(), STRINGS, RECORDS), max_size=5))
def test_texts_survive_framing(texts: list[Text]):
    request = frames.decode_request(frames.frame(frames.find(texts))[frames.HEADER :])
    assert isinstance(request, frames.Find)
    assert frames.texts_of(request) == texts


@given(
    st.lists(
        st.lists(
            st.builds(
                Span, st.integers(0, 9), st.integers(9, 99), st.sampled_from(["EMAIL", "TERM"]), STRINGS, STRINGS,
                st.sampled_from(Encoding), st.sampled_from(Proof), st.integers(0, 400), st.booleans(),
            ),
            max_size=3,
        ),
        max_size=3,
    ),
    st.frozensets(st.integers(0, 2)),
)  # fmt: skip
def test_findings_survive_framing(spans: list[list[Span]], encoded: frozenset[int]):
    found = Findings(spans, encoded)
    reply = frames.decode_reply(frames.frame(frames.found(found))[frames.HEADER :])
    assert isinstance(reply, frames.Found)
    assert frames.findings_of(reply) == found


def test_settings_survive_framing():
    chosen = Settings(("de",), frozenset({"SSN"}), (("ORDER", r"O-\d+"),), frozenset({"a"}), frozenset({"b"}), 9, None)
    assert frames.decode_settings(frames.frame(chosen)[frames.HEADER :]) == chosen


def test_a_frame_that_announces_too_much_is_refused():
    with pytest.raises(DetectionError):
        frames.length((frames.LONGEST + 1).to_bytes(frames.HEADER, "big"))
