"""Whether a text looks like a secret: made by a generator or made up, and no placeholder, path or piece of code."""

from __future__ import annotations

import re
from itertools import pairwise

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.patterns import lazy

#: What stands in place of a secret in documentation, templates and programs.
_PLACEHOLDER = lazy(
    r"(?i)[*xX.•#-]+|(?:[^A-Za-z0-9]*%[sdr])+[^A-Za-z0-9]*|<.*>|\$?\{.*\}|\$\(.*\)|%.*%|\[.*\]|null|none|nil"
    r"|your[A-Za-z_ -]*\d?|(?:my|the|some|new|old|an?)"
    r"(?=[a-z_ -]{0,24}(?:pass|pwd|pw|secret|token|key|value|credential|string))[a-z_ -]+\d?|undefined|true|"
    r"false|yes|no|on|off|string|text|password|passwd|secret|token|key|hidden|redacted|masked|required|optional|"
    r"example|changeme|placeholder|todo|n/?a|empty|default|unset|missing|invalid|expired|env|str|int|bytes|"
    r"object|value|self(?:\..*)?|os\..*|process\..*|env\..*|config\..*|settings\..*|args\..*|getpass\..*|"
    r"(?=\S+ \S+ \S).*\b(?:must|should|cannot|required|incorrect|characters|please|forgot|does not|do not)\b.*|"
    r"\w+\(.*|.*\[\w*\]|\$\w+|.*\(\)?|`.*`|bearer|basic|digest|aws4-hmac-sha256|\w+/\d{8}/[\w-]+/[\w-]+/aws4_request"
)
#: What a shell keeps under PWD.
_DIRECTORY = lazy(r"(?:~|[A-Za-z]:)?(?:[/\\][\w.@ +-]+){2,}[/\\]?")
#: Base64 may begin with a slash and have more: a part of it is a run that no folder is called.
_RUN = lazy(r"[A-Za-z0-9+]{12,}")


def _is_directory(text: str) -> bool:
    if _DIRECTORY.fullmatch(text) is None:
        return False
    return not any(checks.mixed(run) and checks.has_digit(run) for run in _RUN.findall(text))


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text) is not None


def plausible_secret(text: str) -> bool:
    """Whether a secret's field holds one, and not a placeholder, a type, a count or a piece of code."""
    text = text.strip()
    return (
        len(text) >= 4
        and not is_placeholder(text)
        and not _is_directory(text)
        and not re.fullmatch(r"\d{1,5}|[A-Z][a-z]+|[a-z]{2,5}", text)
    )


def is_random(text: str) -> bool:
    """A field whose name may mean something else (``token``, ``key``) must look random."""
    return len(text) >= 8 and plausible_secret(text) and checks.mixed(text) and " " not in text.strip()


def in_both_cases(text: str) -> int:
    """The length of a text with letters as no hash has them, else 0."""
    return 0 if text.islower() or text[4:].isupper() else len(text)


def random_length(text: str) -> int:
    """The length of what is random, less a full stop behind it; 0 for names of something: ``ctypes.POINTER``."""
    value = text.rstrip(".")
    arbitrary = checks.has_digit(value) or (value.isalpha() and in_arbitrary_case(value))
    return len(value) if arbitrary and is_random(value) else 0


def in_arbitrary_case(text: str) -> bool:
    """Whether small letters and capitals change as often as random ones do, which is each second time."""
    return 7 * sum(one.isupper() != other.isupper() for one, other in pairwise(text)) >= 2 * len(text)
