"""The start-up proof: before the first message, show that what must be hidden is hidden.

The examples of every enabled category go through the real sanitizing path, the
worker process included, into a vault that is thrown away.  The proof of the
deterministic part is remembered by a digest of detection's own code, its
configuration and the version, since clients start the gateway every time.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cloakllm_gateway import __version__, detection
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.sanitizer import Sanitizing, drive
from cloakllm_gateway.core.settings import Mode
from cloakllm_gateway.core.source import Source
from cloakllm_gateway.detection.categories import NAMES
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.protocol.surface import SURFACE
from cloakllm_gateway.shell.private import make_private
from cloakllm_gateway.shell.stores import MemoryStore, Options
from cloakllm_gateway.shell.wiring import Shared
from cloakllm_gateway.vault import tokens
from cloakllm_gateway.vault.entries import Entry, Spelling
from cloakllm_gateway.vault.vault import Vault

if TYPE_CHECKING:
    from cloakllm_gateway.detection.catalogue.model import Example

#: Holds the digest of the last proof, beside the other state.
REMEMBERED = "proved"


async def prove(shared: Shared) -> None:
    """Raises :class:`DetectionError` naming the first category whose example gets through."""
    if not shared.config.sanitize:
        shared.logger.log("warning", "sanitizing is off", key="sanitize")
        return
    if shared.config.mode is Mode.OBSERVE:
        shared.logger.log("warning", "observing only: the model sees every value", key="mode")
    if shared.state_dir is None or not _is_remembered(shared.state_dir / REMEMBERED, _digest(shared)):
        await prove_anew(shared)
    if shared.scanner.covers_names:
        await shared.scanner.workers.prove()


async def prove_anew(shared: Shared) -> int:
    """Prove the deterministic part, whatever is remembered, and remember it; the number of examples that were hidden.

    Raises :class:`DetectionError` like :func:`prove`.
    """
    count = await _prove_examples(shared)
    if shared.state_dir is not None:
        _remember(shared.state_dir / REMEMBERED, _digest(shared))
    return count


async def _prove_examples(shared: Shared) -> int:
    store = MemoryStore(Options(None))
    count = 0
    for category, examples in _examples(shared):
        vault = Vault()

        async def assign(spellings: Sequence[Spelling], vault: Vault = vault) -> Sequence[Entry]:
            entries = await store.assign("proof", "proof", "proof", spellings)
            vault.learn(entries)
            return entries

        source = Source("proof", "proof", vault, Handles(), NAMES | {tokens.LITERAL})
        result = {"content": [{"type": "text", "text": example.text} for example in examples]}
        shape = SURFACE["tools/call"].result
        assert shape is not None
        clean = await drive(Sanitizing(result, shape, source), shared.scanner.find, assign)
        for example, block in zip(examples, clean.part["content"], strict=True):
            if example.value in _without_tokens(block["text"]):
                raise DetectionError(
                    f"The start-up proof failed: an example of {category} was not hidden",
                    "Check detection.allow_list and the installation; the gateway does not start like this",
                )
        count += len(examples)
    return count


def _without_tokens(text: str) -> str:
    """``text`` without its tokens: their numbers may hold the digits of an example."""
    for token in reversed(tokens.scan(text)):
        text = text[: token.start] + text[token.end :]
    return text


def _examples(shared: Shared) -> Iterator[tuple[str, Sequence[Example]]]:
    """The examples of every category that is switched on."""
    from cloakllm_gateway.detection.catalogue import CATALOGUE  # most starts remember the proof
    from cloakllm_gateway.detection.catalogue.model import Example

    settings = shared.detection
    for name, category in CATALOGUE.items():
        if name not in settings.off and (examples := category.all_examples()):
            yield name, examples
    if settings.deny_list:
        yield "TERM", [Example(f"about {term} .", term) for term in sorted(settings.deny_list)]


def _digest(shared: Shared) -> str:
    """Over everything the proof depends on: versions, detection's own code, its configuration, its libraries."""
    sha = hashlib.sha256(f"{__version__}\n{sys.version}\n{_stable(shared)}\n".encode())
    for library in ("re2", "phonenumbers", "stdnum"):
        spec = find_spec(library)
        origin = spec.origin if spec and spec.origin else os.devnull
        sha.update(f"{origin} {os.stat(origin).st_mtime_ns}\n".encode())
    for source in sorted(Path(detection.__file__).parent.rglob("*.py")):
        sha.update(source.read_bytes())
    return sha.hexdigest()


def _stable(shared: Shared) -> str:
    """The detection settings in an order of their own: sets have none."""
    settings = shared.detection
    sets = [sorted(settings.off), sorted(settings.allow_list), sorted(settings.deny_list)]
    return repr((settings.locales, settings.custom_patterns, settings.max_input_length, sets))


def _is_remembered(path: Path, digest: str) -> bool:
    try:
        return path.read_text("ascii").strip() == digest
    except (OSError, UnicodeDecodeError):
        return False


def _remember(path: Path, digest: str) -> None:
    """Best effort: without it the next start proves again."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        make_private(path.parent)
        fresh.touch(mode=0o600)
        fresh.write_text(digest + "\n", "ascii")
        fresh.replace(path)
