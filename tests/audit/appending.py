"""A writer in a process of its own: ``python -m tests.audit.appending DIR COUNT SESSION [--loop]``.

With ``--loop`` it says on standard output how many entries it has written for sure, until it is killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cloakllm_gateway.shell.audit.log import Log, utc_now
from tests.audit.logs import body


def main() -> None:
    directory, count, session = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    log = Log(directory, f"{session:016x}", utc_now)
    if sys.argv[4:] == ["--loop"]:
        written = 0
        while True:
            log.append([body(), body()])
            written += 2
            sys.stdout.write(f"{written}\n")
            sys.stdout.flush()
    for n in range(count):
        log.append([body(upstream=f"writer-{session}", entity_count=n)])
    log.close()


if __name__ == "__main__":
    main()
