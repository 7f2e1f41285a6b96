"""The command ``cloakllm-gateway``.

Clients start it every time, so the form they use is taken by hand and imports
nothing of a command line; everything else is click's.

Exit status: 0 all is well, 1 a check, the start-up proof or the gateway itself
failed, 2 the configuration or the command line is wrong.
"""

from __future__ import annotations

import gc
import sys

#: What a shell expects of a program that a person interrupted.
INTERRUPTED = 130


def main() -> None:
    """Run the command that ``sys.argv`` asks for."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run() -> None:
    match sys.argv[1:]:
        case ["--config", path] | ["serve", "--config", path]:
            from cloakllm_gateway.shell.streams import claim

            streams = claim()  # before anything that could print is imported
            gc.disable()  # importing makes no garbage worth looking for; serving switches it on again
            from cloakllm_gateway.cli.serve import serve

            sys.exit(serve(path, streams))
        case _:
            from cloakllm_gateway.cli.commands import gateway

            gateway()
