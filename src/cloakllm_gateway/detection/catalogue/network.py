"""Machines that lead to people: addresses of hosts and devices."""

from __future__ import annotations

from cloakllm_gateway.detection.catalogue import checks
from cloakllm_gateway.detection.catalogue.checks import compact, whole
from cloakllm_gateway.detection.catalogue.model import CONTEXT, Category, Pattern, example
from cloakllm_gateway.patterns import lazy

_BRACKETS = lazy(r"[\[(](?:\.|dot)[\])]")


def _plain(text: str) -> str:
    """An address less the brackets around its dots."""
    return _BRACKETS.sub(".", text)


IP_ADDRESS = Category(
    "IP_ADDRESS",
    examples=(
        example("from «203.0.113.7», port 22"),
        example("http://«198.51.100.23»:8080/x"),
        example('{"ip": "«2001:db8:85a3::8a2e:370:7334»"}'),
        example("peer=«fe80::1ff:fe23:4567:890a»"),
        example("seen from «203[.]0[.]113[.]7»"),
    ),
    lookalikes=(
        "listen 127.0.0.1:8080; 0.0.0.0/0; 255.255.255.0",
        "Chrome/120.0.0.0 Safari/537.36",
        "version 1.2.3.4, v10.4.2.1 and 1.2.3.4.5 and 1.2.3.4-rc1",
        "at 12:30:45 std::vector::at ::1",
        "1.3.6.1.4.1.311",
        "urn:oid:1.2.36.146, RFC 5849 section 3.4.1.2 and § 8.6.2.2",
    ),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9._-])(?<![A-Za-z0-9]/)(?<![<>=~!]=)(?<!(?i:ersion|elease|.build) )(?<!(?i:ersion)[:=])(?<!"
            r"(?i:ersion): )(?<!(?i:ersion)\": \")(?<!oid:)(?<!ection )(?<!§)(?<!§ )"
            r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![A-Za-z0-9_]|[.-][A-Za-z0-9])",
            whole(checks.ipv4),
        ),
        Pattern(  # as analysts write it, so that nobody follows it
            r"(?<![A-Za-z0-9._-])\d{1,3}(?:\.\d{1,3}){0,2}[\[(](?:\.|dot)[\])]\d{1,3}"
            r"(?:(?:\.|[\[(](?:\.|dot)[\])])\d{1,3}){0,2}(?![A-Za-z0-9_]|[.-][A-Za-z0-9])",
            lambda text: len(text) if checks.ipv4(_plain(text)) else 0,
        ),
        # Shortened, or all eight groups: a time of day has neither form, so that logs do not pay for it.
        Pattern(
            r"(?<![A-Za-z0-9:._-])(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?::"
            r"(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?(?::?\d{1,3}(?:\.\d{1,3}){3})?:?(?![A-Za-z0-9_:]|\.\d)",
            checks.ipv6,
        ),
        Pattern(
            r"(?<![A-Za-z0-9:._-])(?:[0-9A-Fa-f]{1,4}:){6}(?:[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})"
            r":?(?![A-Za-z0-9_:]|\.\d)",
            checks.ipv6,
        ),
    ),
    keys=(
        "ip",
        "ipaddress",
        "ipaddr",
        "clientip",
        "remoteip",
        "sourceip",
        "remoteaddr",
        "ipv4",
        "ipv6",
        "hostip",
        "serverip",
    ),
    shape=r"[0-9A-Fa-f:.]{3,45}|\d{1,3}(?:(?:\.|\[\.\]|\(\.\)|\[dot\])\d{1,3}){3}",
    plausible=lambda text: bool(
        checks.ipv4(text) if text.count(".") == 3 and text.replace(".", "").isdigit() else checks.ipv6(text)
    ),
    canonical=lambda text: checks.ip_canonical(_plain(text)),
)

MAC_ADDRESS = Category(
    "MAC_ADDRESS",
    examples=(
        example('macAddress: "«67:9e:76:88:24:65»"'),
        example("device «00-1B-44-11-3A-B7» joined"),
        example("Internet 10.1.1.1 - «001a.2b3c.4d5e» ARPA"),
    ),
    lookalikes=(
        "1234.5678.9012",
        "dead.beef.cafe",
        "00:00:00:00:00:00",
        "ff:ff:ff:ff:ff:ff",
        "SHA256 67:9e:76:88:24:65:11:22",
    ),
    patterns=(
        Pattern(
            r"(?<![A-Za-z0-9:-])[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})(?![A-Za-z0-9]|"
            r"[:-][A-Za-z0-9])",
            whole(lambda text: len(set(compact(text))) > 2),
        ),
        Pattern(  # as routers print it
            r"(?<![A-Za-z0-9._:-])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![A-Za-z0-9_]|[.-][A-Za-z0-9])",
            whole(lambda text: not compact(text).isdecimal() and not compact(text).isalpha()),
        ),
    ),
    keys=("mac", "macaddress", "macaddr", "hwaddr"),
    shape=r"[0-9A-Fa-f]{2}(?:[:.-]?[0-9A-Fa-f]{2}){5}",
    canonical=compact,
)

IMEI = Category(
    "IMEI",
    examples=(example("IMEI «35-209900-176148-1»"), example('{"imei": "«490154203237518»"}')),
    lookalikes=("35-209900-176148-2", "counter 490154203237518"),
    patterns=(
        Pattern(
            r"(?<![A-Za-z])(?i:imei)[^A-Za-z0-9\n]{1,6}(\d{2}(?:[ -]?\d){12,13})(?![A-Za-z0-9]|-\d)",
            whole(lambda text: checks.luhn(checks.digits(text)) or len(checks.digits(text)) == 14),
            rank=CONTEXT,
        ),
    ),
    keys=("imei", "imeinumber"),
    shape=r"\d(?:[ -]?\d){13,16}",
    canonical=compact,
)
