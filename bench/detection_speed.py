"""Detection beside other engines, its linearity and its memory: the tables of ``speed.py --only detection``."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import corpora
from engines import ENGINES, NAMED

SIZES = (50_000, 500_000)
#: Linearity is looked at from the first size to the last, each twice the one before.
DOUBLINGS = tuple(50_000 * 2**n for n in range(8))
#: All sizes are measured in turns: a machine that is slow for a while is slow for each of them.
_TURNS = 2
_ROUNDS = {size: 3 if size < 10**6 else 1 for size in DOUBLINGS}
#: Where the engines that are compared are installed, if not here: interpreters, between ``:``.
OTHERS = "BENCH_PYTHON"
#: Slower engines are asked once where others run several times.
_PATIENCE = 3.0
#: An engine that takes more seconds than this for a text is not asked about one of ten times the size.
_TOO_SLOW = 0.3


class Engine:
    """One engine in a process of its own."""

    def __init__(self, name: str, process: subprocess.Popen[str], version: str) -> None:
        self.name = name
        self.version = version
        self._process = process

    def ask(self, **task: object) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def seconds(self, **task: object) -> float:
        return float(self.ask(**task)["seconds"])


@contextmanager
def engine(name: str) -> Iterator[Engine | None]:
    """An engine under the first interpreter that has it; None if none has."""
    env = {corpora.SOURCES: sysconfig.get_paths()["stdlib"], **os.environ}  # the same texts for all
    for python in [sys.executable, *filter(None, os.environ.get(OTHERS, "").split(":"))]:
        command = [python, str(Path(__file__).with_name("engines.py")), name]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, text=True, env=env, **pipes) as process:  # type: ignore[call-overload]
            version = json.loads(process.stdout.readline())["version"]
            if version is not None:
                yield Engine(name, process, version)
                process.stdin.close()
                process.wait(60)
                return
    yield None


def mean(ratios: Iterable[float]) -> float:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


#: For a kind, with or without personal data: our seconds, those of the others by name, and what else a row says.
Measure = Callable[[str, bool], tuple[float, dict[str, float], list[object]]]


def table(heads: list[str], others: list[Engine], measure: Measure) -> None:
    """A row for each kind: our milliseconds, those of others and how many times as long they take; and the means."""
    print(f"| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    names = [one.name for one in others]
    for personal in (True, False):
        what = "with" if personal else "without"
        ratios: dict[str, list[float]] = {name: [] for name in names}
        for kind in corpora.KINDS:
            ours, taken, more = measure(kind, personal)
            for name in names:
                ratios[name].append(taken[name] / ours)
            compared = [f"{taken[name] * 1000:.1f} ({ratios[name][-1]:.2f}x)" for name in names]
            cells = [f"{kind} {what} personal data", f"{ours * 1000:.2f}", *compared, *more]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
        means = [f"**{mean(ratios[name]):.2f}x**" for name in names]
        print(f"| {' | '.join([f'geometric mean {what}', '', *means, *[''] * (len(heads) - 2 - len(names))])} |")


def beside(engines: list[Engine], size: int, rounds: int) -> list[Engine]:
    """Milliseconds of each engine on each kind, and how many times as long as ours the others take.

    Answers with those that are quick enough for ten times the text, even where they are not linear.
    """
    slow: set[str] = set()
    ours, *others = engines

    def measure(kind: str, personal: bool) -> tuple[float, dict[str, float], list[object]]:
        task = {"kind": kind, "personal": personal, "size": size}
        answer = ours.ask(**task, rounds=rounds)
        taken = {}
        for one in others:
            taken[one.name] = one.seconds(**task, rounds=1)
            if taken[one.name] * rounds < _PATIENCE:
                taken[one.name] = min(taken[one.name], one.seconds(**task, rounds=rounds))
        # Before and behind the others: what slows the machine down for a while slows all of them down.
        least = min(answer["seconds"], ours.seconds(**task, rounds=rounds))
        slow.update(name for name, seconds in taken.items() if seconds > _TOO_SLOW)
        return least, taken, [answer["count"]]

    print(f"\n## detection: {size // 1000} KB, milliseconds of CPU to find and replace (and as a multiple of ours)\n")
    table(["text", *(f"{one.name} {one.version}" for one in engines), "replaced by ours"], others, measure)
    return [one for one in engines if one.name not in slow]


#: Texts that an engine has not seen, of each kind.
_NEW = 8


def anew(engines: list[Engine], size: int = SIZES[0]) -> None:
    """The same for texts that are new to the engine, as those of tools are: its automata have not met them."""
    ours, *others = engines

    def measure(kind: str, personal: bool) -> tuple[float, dict[str, float], list[object]]:
        task = {"kind": kind, "personal": personal, "size": size, "new": _NEW}
        return ours.seconds(**task), {one.name: one.seconds(**task) for one in others}, []

    print(f"\n## detection: {size // 1000} KB that are new, the median of {_NEW} texts, milliseconds of CPU\n")
    table(["text", *(one.name for one in engines)], others, measure)


def named(rounds: int, size: int = SIZES[0]) -> None:
    """The same with names of people in free text, for the engines that look for them."""
    with ExitStack() as stack:
        found = [stack.enter_context(engine(name)) for name in NAMED]
        engines = [one for one in found if one is not None]
        if len(engines) < len(NAMED):
            print("\n## detection with names: left out, since not every engine is installed")
            return
        print("\n## detection with names of people\n")
        beside(engines, size, rounds)


def linear(ours: Engine) -> None:
    """How much longer twice the text takes: the bar is 2.3."""
    print("\n## detection: time of 2n over time of n, 50 KB to 6.4 MB\n")
    print(f"| text | {' | '.join(f'{size / 1e6:.1f} MB' for size in DOUBLINGS[1:])} | MB/s at the end |")
    print("|---" * (len(DOUBLINGS) + 1) + "|")
    tasks: list[tuple[str, dict[str, object]]] = [
        (f"{kind} {'with' if personal else 'without'}", {"kind": kind, "personal": personal})
        for personal in (True, False)
        for kind in corpora.KINDS
    ]
    tasks += [(f"`{unit!r}` again and again", {"unit": unit}) for unit in corpora.HOSTILE]
    for name, task in tasks:
        turns = [[ours.seconds(**task, size=size, rounds=_ROUNDS[size]) for size in DOUBLINGS] for _ in range(_TURNS)]
        taken = [min(seconds) for seconds in zip(*turns, strict=True)]
        ratios = " | ".join(f"{later / earlier:.2f}" for earlier, later in pairwise(taken))
        print(f"| {name} | {ratios} | {DOUBLINGS[-1] / taken[-1] / 1e6:.1f} |", flush=True)


def memory(ours: Engine, size: int = 10_000_000) -> None:
    """The peak of what detection allocates, its result included, as a multiple of the text: the bar is 12."""
    print("\n## detection: memory for a text of 10 MB, the spans included, as a multiple of the text\n")
    print("| text | with personal data | without |\n|---|---|---|")
    for kind in corpora.KINDS:
        cells = [
            f"{ours.ask(kind=kind, personal=personal, size=size, memory=True)['bytes'] / size:.1f}"
            for personal in (True, False)
        ]
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


def tables(rounds: int) -> None:
    with ExitStack() as stack:
        found = [stack.enter_context(engine(name)) for name in ENGINES]
        engines = [one for one in found if one is not None]
        quick = engines
        anew(engines)
        for size in SIZES:
            quick = beside(quick, size, rounds if size <= SIZES[0] else 3)
        named(rounds)
        linear(engines[0])
        memory(engines[0])
