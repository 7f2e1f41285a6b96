"""The process that detects: ``python -m cloakllm_gateway.shell.worker``, started by :mod:`workers` alone.

Its standard input and output carry frames and nothing else, so both are taken
away from everybody else first: what a library prints goes to standard error.
It ends when its input does, even in the middle of a job.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import warnings
from types import TracebackType
from typing import BinaryIO

from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.shell import frames
from cloakllm_gateway.shell.frames import Failed, Find


def main() -> None:
    sys.excepthook = _say_where
    warnings.simplefilter("ignore")  # a warning of a library may quote what it was given
    requests, replies = _claim()
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, inbox), daemon=True).start()
    try:
        worker = Worker(inbox.get())
    except DetectionError as error:
        _send(replies, Failed(error.what, error.hint))
        return
    _send(replies, frames.Ready())
    while True:
        _send(replies, worker.answer(inbox.get()))


class Worker:
    """Detection as the settings want it, loaded."""

    def __init__(self, settings: bytes) -> None:
        from cloakllm_gateway.detection.allow_list import AllowList
        from cloakllm_gateway.detection.engine import Detector
        from cloakllm_gateway.shell import name_models

        self._settings = frames.decode_settings(settings)
        self._detector = Detector(self._settings)
        self._allowed = AllowList(self._settings.allow_list)
        self._recogniser = name_models.load(self._settings.names) if self._settings.names else None

    def answer(self, request: bytes) -> frames.Reply:
        """The reply to one request; only a :class:`DetectionError` is one, anything else ends the process."""
        try:
            match frames.decode_request(request):
                case Find() as wanted:
                    return self._find(wanted)
                case frames.Prove():
                    return self._prove()
        except DetectionError as error:
            return Failed(error.what, error.hint)

    def _find(self, request: Find) -> frames.Found:
        from cloakllm_gateway.detection.names import with_names

        texts = frames.texts_of(request)
        found = self._detector.look(texts)
        if self._recogniser is not None:
            found = found._replace(spans=with_names(found.spans, texts, self._recogniser, self._allowed))
        return frames.found(found)

    def _prove(self) -> frames.Done:
        from cloakllm_gateway.detection import names

        self._detector.prove()
        if self._recogniser is not None and self._settings.names is not None:
            names.prove(self._recogniser, self._settings.names.labels)
        return frames.Done()


def _claim() -> tuple[BinaryIO, BinaryIO]:
    """Keep standard input and output for the frames, and put what is harmless in their places."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _read(requests: BinaryIO, inbox: queue.SimpleQueue[bytes]) -> None:
    """Pass frames on; when there are no more, the gateway is gone or wants this process gone."""
    try:
        while len(header := requests.read(frames.HEADER)) == frames.HEADER:
            inbox.put(requests.read(frames.length(header)))
    finally:
        os._exit(0)


def _send(replies: BinaryIO, reply: frames.Reply) -> None:
    replies.write(frames.frame(reply))
    replies.flush()


def _say_where(kind: type[BaseException], _error: BaseException, at: TracebackType | None) -> None:
    """Say what ended the process and where, not what was in it."""
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else "an unknown place"
    os.write(2, f"cloakllm-gateway worker: {kind.__name__} at {place}\n".encode())


if __name__ == "__main__":
    main()
