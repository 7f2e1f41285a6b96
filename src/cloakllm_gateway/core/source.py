"""Where a message comes from, and what holds for its values because of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from cloakllm_gateway.core.allowed import NOTHING, Allowed
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.ruling import NO_ITEMS
from cloakllm_gateway.core.treatments import Treatments
from cloakllm_gateway.protocol.walk import Path
from cloakllm_gateway.vault.entries import Entry
from cloakllm_gateway.vault.vault import Vault


class Source(Struct, frozen=True):
    """The upstream of a message, as far as sanitizing the message is concerned.

    ``origin`` is the upstream, ``group`` the upstreams that it shares equality
    with.  ``categories`` are the names that make ``[NAME_1]`` a token that
    restore would accept: in data, such a text is a look-alike; with ``redacts``
    so are the marks of values that were cut out.  ``treatments`` are the rules
    for its values, ``items`` those for items of its lists, ``allowed`` what is
    never hidden.  ``uris`` maps the real URI of a resource to the one that the
    client knows it by.  ``restored`` are the entries whose values the call that
    is answered carried, or for other messages any call in flight.
    ``exact_links`` says that the address of a page a person is sent to stays
    as it is.
    """

    origin: str
    group: str
    vault: Vault
    handles: Handles
    categories: frozenset[str]
    treatments: Treatments = Treatments()
    items: Mapping[Path, Treatments] = NO_ITEMS
    redacts: bool = False
    allowed: Allowed = NOTHING
    uris: Mapping[str, str] = field(default_factory=dict)
    restored: Sequence[Entry] = ()
    exact_links: bool = False
