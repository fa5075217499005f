"""`Visit(url)`: a step outside, at whatever page, and what its completion brings back.

The page is handed a link of ours, in a parameter of its own address. It is completed in one of two ways, and the tool
says in which: the user comes back by that link, and what it brings went through their browser, so believe of it what
you would believe of a form; or the service itself calls the link, signed with a key that it shares with the app.
"""

from __future__ import annotations

import hmac
import re
from typing import Any, Final, Generic
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypeVar

from yourcall.asks import Ask, Check
from yourcall.entries import Json
from yourcall.errors import Fault, ProgrammingError, Rejected
from yourcall.faults import pointer, said
from yourcall.hosts import is_loopback

T = TypeVar("T", default=Json)

LASTS: Final = 3600.0
WINDOW: Final = 300.0
"""Seconds that a signed call may be on its way, or its clock be off."""
KEY_BYTES: Final = 16


class Visit(Ask[T], Generic[T]):
    """Send the user to `url`; the tool gets what the completion brings, as `returns` (a pydantic model) or as JSON.

    `back` names the query parameter in which the page is handed the link that completes the visit. With `signed_by`,
    a key of 16 bytes or more, only the service completes it: it POSTs JSON to the link, with the header that
    `signature` makes. Without, the user does, who comes back by the link; its other query parameters are what it
    brings. A link lasts `lasts` seconds from when the user left, and each leaving makes a new one. `check` looks at
    what came, and may raise `Rejected`: the question stays open. Whoever completes a question that was closed
    meanwhile is told so, the user by the page and the service by a 410 whose `ending` says how, and can undo what was
    done. Raises `ProgrammingError` if `url` is not https, or http on a loopback address.
    """

    kind = "visit"
    channel = "handoff"
    payload_says_all = True

    def __init__(
        self,
        url: str,
        title: str,
        *,
        returns: type[T] | None = None,
        back: str = "return_url",
        signed_by: bytes | None = None,
        lasts: float = LASTS,
        check: Check[T] | None = None,
    ) -> None:
        if signed_by is not None and len(signed_by) < KEY_BYTES:
            raise ProgrammingError(f"Visit: signed_by is a key of {KEY_BYTES} bytes or more.")
        self.url, self.host = url, _host(url)
        self.title, self.back, self.lasts, self.check = title, back, lasts, check
        self.signed_by = signed_by
        self.answer_type = returns
        self._adapter: TypeAdapter[T] = TypeAdapter(Any if returns is None else returns)

    def payload(self) -> Json:
        return {"title": self.title, "host": self.host} | ({"signed": True} if self.signed_by else {})

    def schema(self) -> Json:
        return {} if self.answer_type is None else self._adapter.json_schema()

    def identity(self) -> Json:
        return [self.title, self.url, self.signed_by is not None]

    def parse(self, answer: Json) -> T:
        try:
            return self._adapter.validate_python(answer)
        except ValidationError as error:
            found = error.errors(include_url=False)
            raise Rejected(faults=[Fault(pointer(*one["loc"]), said(one)) for one in found]) from None

    def address(self, link: str) -> str:
        """Where the user is sent: the page, with the link that completes the visit."""
        parts = urlsplit(self.url)
        query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != self.back]
        return urlunsplit(parts._replace(query=urlencode([*query, (self.back, link)])))


def signature(key: bytes, token: str, body: bytes, at: float) -> str:
    """The header `Yourcall-Signature` of a call that completes a visit.

    `token` is the last part of the link's path, `body` what is sent, `at` the time in Unix seconds:
    `t=AT,v1=` and the HMAC-SHA256, in hex, of `AT.TOKEN.BODY` under the key.
    """
    moment = int(at)
    mac = hmac.digest(key, f"{moment}.{token}.".encode() + body, "sha256").hex()
    return f"t={moment},v1={mac}"


def signed(key: bytes, token: str, body: bytes, header: str, now: float) -> bool:
    """Whether this call was signed with the key, within five minutes of `now`."""
    return fresh(header, now) and hmac.compare_digest(header, signature(key, token, body, _moment(header)))


def fresh(header: str, now: float) -> bool:
    """Whether it has the form of a signature, and says that it was made within five minutes of `now`."""
    return _HEADER.fullmatch(header) is not None and abs(now - _moment(header)) <= WINDOW


_HEADER: Final = re.compile(r"t=([0-9]{1,12}),v1=[0-9a-f]{64}")


def _moment(header: str) -> int:
    return int(header[2 : header.index(",")])


def _host(url: str) -> str:
    """Whose page it is, to be read by people. Raises `ProgrammingError` for what must not be followed."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:  # of a bracket, or a port
        raise ProgrammingError("Visit: this is no address.") from None
    if not _HOST.fullmatch(host) or "@" in parts.netloc or not _SAFE.fullmatch(url):
        raise ProgrammingError("Visit: the address needs a host in ASCII, and no user name, space or backslash.")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise ProgrammingError("Visit: an address must begin with https://, or be http:// on a loopback address.")
    return parts.netloc.lower()


_HOST: Final = re.compile(r"[a-z0-9.:_-]+")
_SAFE: Final = re.compile(r"[!-\[\]-~]+")
