"""Four times the message takes about four times the time, on its way to the model and back, whatever it is made of."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from tests.core import transcript
from tests.core.transcript import opened, says
from tests.cost import compare

ROW = "mail p@corp.pl "
#: Texts that a careless reader looks at again for each of their parts; the name and the address are known.
REPEATED: dict[str, Callable[[int], str]] = {
    "look-alikes": lambda n: "".join(f"[EMAIL_{k}] " for k in range(n // 4)),
    "brackets": lambda n: "[" * 8 * n,
    "beginnings": lambda n: "[EMAIL_" * n,
    "marks": lambda n: "[SSN_REDACTED]" * n,
    "percents": lambda n: "%25" * 3 * n,
    "backslashes": lambda n: "\\" * 8 * n,
    "escapes": lambda n: "\\u005b" * n,
    "quotes": lambda n: '"' * 8 * n,
    "records": lambda n: json.dumps([{"email": f"p{k}@corp.pl", "first_name": "Quillon"} for k in range(n // 8)]),
    "records in records": lambda n: json.dumps(json.dumps(json.dumps([f"p{k}@corp.pl" for k in range(n // 8)]))),
    "base64": lambda n: base64.b64encode(ROW.encode() * n).decode(),
    "hexadecimal": lambda n: ROW.encode().hex() * n,
    "records in base64": lambda n: base64.b64encode(json.dumps([{"email": "p@corp.pl"}] * n).encode()).decode(),
    "base64 in lines": lambda n: (base64.b64encode(ROW.encode() * 3).decode() + "\n") * (n // 4),
    "signs of an address": lambda n: "a@" * 4 * n,
    "digits": lambda n: "4111 1111 " * n,
    "what is not seen": lambda n: "\u200b" * 4 * n,
    "addresses": lambda n: "https://a.io/?q=p@corp.pl&r=[EMAIL_0] " * (n // 8),
    "links": lambda n: "![x](http://[" * n,
    "commands": lambda n: "$(echo '" * n,
}


def there_and_back(text: str) -> None:
    """A result with the text, and a call with what the model made of it."""
    talk = opened(transcript.settings())
    talk.call(1, "crm__look").answer(
        "crm", {"content": [], "structuredContent": {"email": ROW, "first_name": "Quillon"}}
    )
    talk.take()
    talk.call(2, "crm__look").answer("crm", says(text))
    talk.call(3, "crm__send", {"text": transcript.text_of(talk.only())})


@pytest.mark.parametrize("made", REPEATED)
def test_four_times_the_message_takes_about_four_times_the_time(made: str) -> None:
    few, many = map(REPEATED[made], (1000, 4000))
    compare(lambda: there_and_back(few), lambda: there_and_back(many), most=8, slack=0.05)
