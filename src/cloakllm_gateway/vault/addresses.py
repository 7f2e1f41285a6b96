"""Addresses around tokens: which of them stand in a URL, in its authority or in a bare host name, and in which host.

An address is read as the laxest of its clients reads it.  What a standard
calls a URL is told exactly, because a value is percent-encoded in its path and
query; what only some client would follow is told for the policy alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cloakllm_gateway.patterns import end_of, lazy
from cloakllm_gateway.vault.tokens import TokenMatch


class Address(NamedTuple):
    """What a token stands in.

    ``inside``: a URL, where values are percent-encoded; ``authority``: what
    names the host; ``whole``: it is all of that.  ``host`` is the authority,
    ``bare`` one that text without a scheme may have before the token.
    """

    inside: bool = False
    authority: bool = False
    whole: bool = False
    host: str = ""
    bare: str = ""


NOWHERE = Address()
#: From the slashes behind a scheme to the first character that no URL holds.  Clients take a backslash for a slash.
_RUN = lazy(r"(?<=[A-Za-z0-9+.\-]{2}:)[/\\]{2,}([^\s<>\"`^{}|\x00-\x1f]*)")
_REFERENCE = lazy(r"(?:(?i:https?|wss?|ftp):)?(?:[/\\]{2,})?([^\s<>\"`^{}|\x00-\x1f]*)")
_AUTHORITY = lazy(r"[^/?#\\]*")
#: By RFC 3986 only a slash ends what stands behind slashes: `https://a.org\@b.org/` leads some clients to b.org.
_AUTHORITY_IN_SLASHES = lazy(r"[^/?#]*")
#: The authority of a network-path reference (RFC 3986, 4.2), where a text or a quotation begins with one.
_NETWORK_PATH = lazy(r"(?<![^\s\"'`(\[<=])[/\\]{2}([^\s/\\?#\"'`<>()]*)")
_COLON_WRITTEN = r"(?::|%(?:25)?3A|&colon;|&#58;|&#x3A;)"
_SLASH_WRITTEN = r"(?:\\u00(?:2F|5C)|\\x(?:2F|5C)|[/\\]|%(?:25)?(?:2F|5C)|&b?sol;|&#(?:47|92);|&#x(?:2F|5C);)"
_ENDS_WRITTEN = r"%(?:25)?(?:2F|5C|3F|23)|&(?:sol|bsol|quest|num);|&#(?:47|92|63|35);|&#x(?:2F|5C|3F|23);"
#: Schemes that are followed by a host in any number of slashes (URL Standard, "special" schemes), in any writing.
_SPECIAL = lazy(
    rf"(?i)(?<![a-z0-9+.-])(?:https?|wss?|ftp){_COLON_WRITTEN}{_SLASH_WRITTEN}*+"
    rf"((?:(?!{_ENDS_WRITTEN})[^\s/\\?#\"'`<>()])*+)"
)
#: A text that is an address and nothing else: its host ends where clients let it end.
_ALONE = lazy(r"\s*[A-Za-z][A-Za-z0-9+.\-]*:[/\\]{2,}([^\s/?#]*)\S*\s*\Z")
#: How a text begins that is an address as a whole, blanks and all: clients encode them, or leave them out.
_OPENING = lazy(r"\s*[A-Za-z][A-Za-z0-9+.\-]*:[/\\]{2,}([^\s/?#]*)")
#: Schemes without any host (RFC 6068, 3966, 5724), and what stands behind one of their addresses.
_TO_PEOPLE = lazy(r"(?i)\s*(?:mailto|tel|sms):(?![/\\])")
_ADDRESS_ENDS = lazy(r"[,?#]|\s*\Z")
_DROPPED = lazy(r"[\t\r\n]")
#: What may follow the authority of an address that is written loosely.
_REST = lazy(r"[^\s<>\"'`^{}|\x00-\x1f]*")
#: What RFC 3986 counts to the authority and the URL Standard does not; a backslash may also begin a written slash.
_BEHIND_BACKSLASH = lazy(r"(?:\\(?!u00|x)[^\s/?#\"'`<>()]*)?")
_IPV6 = lazy(r"(?:[^/?#@\[\]]*@)?\[[0-9A-Fa-f:.%]*\]")
#: What often stands right behind a URL in prose, code, Markdown or CSV, though a URL could hold it.
_BEHIND = lazy(r"['\[\]()]|[,;]")
#: Behind a token in an authority: more host, a port, or the end of a user part.
_MORE_AUTHORITY = lazy(r"[A-Za-z0-9._~%!$&*+=:\-]{0,256}@|\.[A-Za-z0-9]")


#: The dot between labels, and what is read as one; what labels are made of, and what is left out of them (UTS 46).
_DOT = "[.\\u2024\\u3002\\uff0e\\uff61]"
_IN_LABEL = r"[\w\-\u00ad\u034f\u180b-\u180d\u200b-\u200d\u2060\u2064\ufe00-\ufe0f\ufeff]"
_LONGEST_HOST = 260
#: Behind a token in a host name: two labels at least, for nobody but a registry owns what is before the last one.
#: What is called or assigned to is code, and before an `@` stands a user.
_HOST_GOES_ON = lazy(
    rf"{_IN_LABEL}*+(?:{_DOT}{_IN_LABEL}++)*{_DOT}{_IN_LABEL}++{_DOT}(?P<last>[^\W\d_]{{2,24}}|xn--[\w-]+)"
    rf"(?![\w@(=-]|{_DOT}\w)"
)
#: Before a host name: it is a part of a path.
_PATH_BEFORE = lazy(r"[/\\][\w.-]*\Z")
#: Last labels of file names with several dots, none of which is a top-level domain.
_FILES = frozenset(
    """
    bak bz cfg conf css csv dll doc docx exe gif gz htm html ini jpeg jpg js json jsx key log pdf pem png sql svg ts
    tsx txt webp xls xlsx xml xz yaml yml zst
    """.split()
)
#: A host, by its name, number or port, with a path, query or fragment behind it, as `curl` and `git` are given it.
#: Where a user is named, a path may follow the colon, as `scp` takes it.
_BARE = lazy(
    r"(?<![\w@%./\\:-])(?P<user>[\w.+-]{1,64}@)?"
    rf"(?P<host>(?:[\w-]+{_DOT})++(?:[^\W\d_]{{2,24}}|xn--[\w-]+|\d{{1,3}})(?::\d{{1,5}})?|[\w-]+:\d{{1,5}})(?(user)(?=[:/?#])|(?=:?[/?#]))"
    r"[^\s\"'`<>]*"
)
#: What every address that leads somewhere has one of, in any writing.
_MAY_BE_URL = lazy(r"[/\\:%&?#]")


def around(text: str, masked: str, matches: Sequence[TokenMatch], is_url: bool) -> dict[int, Address]:
    """What each of sorted ``matches`` stands in, by its start; those in no address are left out.

    ``masked`` is ``text`` with its tokens masked, ``is_url`` says that it is known to be a URL reference.
    """
    if is_url or _MAY_BE_URL.search(text):
        found = _in_urls(text, masked, matches, is_url)
        _add_loose(found, text, masked, matches, is_url)
    else:
        found = {}
    for match in matches:
        if _is_in_host_name(masked, match):
            found[match.start] = found.get(match.start, NOWHERE)._replace(authority=True)
    return found


def _in_urls(text: str, masked: str, matches: Sequence[TokenMatch], is_url: bool) -> dict[int, Address]:
    found: dict[int, Address] = {}
    runs = list(_RUN.finditer(masked))
    people = None
    if is_url and not runs and (reference := _REFERENCE.match(masked)):
        runs = [reference]
        people = _TO_PEOPLE.match(masked)
    at = 0
    for run in runs:
        begin, end = run.span(1)
        limit = begin + _length(run[1])
        ends = _AUTHORITY_IN_SLASHES if text[run.start() : begin].count("/") > 1 else _AUTHORITY
        slash = begin + end_of(ends, run[1])
        host = text[begin:slash]
        while at < len(matches) and matches[at].start < end:
            match = matches[at]
            at += 1
            if match.start < begin:
                continue
            in_authority = match.start < slash
            if people and in_authority and _is_address(masked, match, people.end()):
                continue
            if match.start < limit:
                whole = (match.start, match.end) == (begin, slash)
                found[match.start] = Address(True, in_authority, whole, host)
            elif in_authority and _MORE_AUTHORITY.match(masked, match.end, end):
                found[match.start] = Address(True, True, False, host)
    for match in matches:
        if masked.startswith("://", match.end):  # a scheme
            found[match.start] = Address(True, True)
    return found


def _is_address(masked: str, match: TokenMatch, begin: int) -> bool:
    """Whether a token is all of one of the addresses that stand from ``begin`` on."""
    begins = match.start == begin or masked[match.start - 1] == ","
    return begins and _ADDRESS_ENDS.match(masked, match.end) is not None


def _add_loose(found: dict[int, Address], text: str, masked: str, matches: Sequence[TokenMatch], is_url: bool) -> None:
    """Note what some client would take for an address, though no standard says so: nothing is encoded for it.

    The URL Standard drops tabs and line feeds and needs no slashes behind
    `https:`; a text may begin with the authority of a network-path reference,
    and what tools are given to open has often no scheme.
    """
    for match, in_authority, host in _loosely_found(text, masked, matches, is_url):
        here = found.get(match.start, NOWHERE)
        if host in here.host:
            host = here.host
        elif here.host:  # where a standard sees another host than this client does, what lets it go has to name both
            host = f"{host}\\@{here.host}"
        found[match.start] = here._replace(authority=here.authority or in_authority, host=host)
    for path in _BARE.finditer(masked):
        for match in _within(matches, path.end("host"), path.end()):
            found[match.start] = found.get(match.start, NOWHERE)._replace(bare=path["host"])


def _loosely_found(
    text: str, masked: str, matches: Sequence[TokenMatch], is_url: bool
) -> Iterator[tuple[TokenMatch, bool, str]]:
    """Tokens in loosely written addresses, each with whether it is in the authority, and the whole of that."""
    squeezed, offsets = _squeezed(masked)
    alone = (_OPENING if is_url else _ALONE).match(squeezed)
    paths = [*_NETWORK_PATH.finditer(squeezed), *_SPECIAL.finditer(squeezed)]
    paths = [alone, *paths] if alone and is_url else [*paths, *([alone] if alone else [])]
    reached = 0
    for path in sorted((path for path in paths if path[1]), key=_authority):
        start, slash = offsets[path.start(1)], offsets[path.end(1)]
        end = slash
        if slash >= reached:  # else it stands in the path of the one before, and that is where a value would go
            end = reached = len(masked) if path is alone else end_of(_REST, masked, slash)
        behind = end_of(_BEHIND_BACKSLASH, squeezed, path.end(1))
        host = _DROPPED.sub("", text[start : offsets[behind]])
        for match in _within(matches, start, end):
            yield match, match.start < slash, host


def _authority(path: re.Match[str]) -> tuple[int, int]:
    return path.span(1)


def _within(matches: Sequence[TokenMatch], start: int, end: int) -> Iterator[TokenMatch]:
    """Those of sorted ``matches`` that begin in [start, end)."""
    for number in range(bisect_left(matches, (start,)), len(matches)):
        if matches[number].start >= end:
            return
        yield matches[number]


def _is_in_host_name(masked: str, match: TokenMatch) -> bool:
    """Whether a token is a part of a host name without anything around it: whoever looks that up tells it to others."""
    more = _HOST_GOES_ON.match(masked, match.end, match.end + _LONGEST_HOST)
    if more is None or more["last"].lower() in _FILES:
        return False
    return _PATH_BEFORE.search(masked, max(0, match.start - _LONGEST_HOST), match.start) is None


def _squeezed(text: str) -> tuple[str, Sequence[int]]:
    """``text`` without tabs and line ends, and where each offset of it was."""
    if not _DROPPED.search(text):
        return text, range(len(text) + 1)
    kept = [at for at, character in enumerate(text) if character not in "\t\r\n"]
    return "".join(text[at] for at in kept), [*kept, len(text)]


def _length(url: str) -> int:
    """How far the URL at the beginning of ``url`` reaches before what only stands behind it."""
    bracketed = _IPV6.match(url)
    query = min((at for at in (url.find("?"), url.find("#")) if at >= 0), default=len(url))
    depth = 0
    for mark in _BEHIND.finditer(url, bracketed.end() if bracketed else 0):
        match mark[0]:
            case "(":
                depth += 1
            case ")" if depth:
                depth -= 1
            case "," | ";" if mark.start() > query:
                pass
            case _:
                return mark.start()
    return len(url)
