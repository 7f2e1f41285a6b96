"""Every category of personal data the gateway knows, as data.

To add one: write its :class:`Category` in the module of its family, with
examples and look-alikes, and name it here.  The generic test and the start-up
proof pick it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cloakllm_gateway.detection.catalogue import (
    api_keys,
    contact,
    identity,
    money,
    network,
    people,
    places,
    private_keys,
    secrets,
    usernames,
)
from cloakllm_gateway.detection.catalogue.model import Category, Example, Pattern
from cloakllm_gateway.gaps import unbroken

#: What the deny list holds, in any case and however its words are wrapped.
TERM = Category("TERM", examples=(), canonical=lambda term: unbroken(term).casefold())

_ALL = (
    private_keys.PRIVATE_KEY, api_keys.JWT, api_keys.AWS_KEY, api_keys.API_KEY, secrets.SECRET, secrets.PIN,
    money.CREDIT_CARD, money.IBAN, money.BIC, money.BANK_ACCOUNT, money.WALLET, money.CARD_CODE, money.CARD_EXPIRY,
    identity.SSN, *identity.NATIONAL, *identity.NUMBERED,
    contact.EMAIL, contact.PHONE, places.ADDRESS, usernames.USERNAME,
    people.PERSON, people.DATE_OF_BIRTH,
    network.IP_ADDRESS, network.MAC_ADDRESS, network.IMEI,
    TERM,
)  # fmt: skip

CATALOGUE: Mapping[str, Category] = MappingProxyType({category.name: category for category in _ALL})

__all__ = ["CATALOGUE", "TERM", "Category", "Example", "Pattern"]
