"""How long a test waits for what has to come."""

from __future__ import annotations

#: Seconds after which it hangs: on a machine with much else to do a gateway alone takes a while to start.
PATIENCE = 240.0
