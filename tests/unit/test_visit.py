"""The address of a visit, the link in it, and the signature of a service's call."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import parse_qsl, urlsplit

import pytest
from pydantic import BaseModel

from yourcall import ProgrammingError, Rejected, Visit
from yourcall.asks import digest
from yourcall.visit import signature, signed

KEY = b"0123456789abcdef"
LINK = "https://app.example/chat/visits/a.b?c=d&e=ü"


class Paid(BaseModel):
    order: int


@pytest.mark.parametrize(
    "url",
    [
        *("http://pay.example/", "ftp://pay.example/", "javascript:alert(1)", "data:text/html,x", "//pay.example/", ""),
        *("https://", "https://user@pay.example/", "https://pay.example@evil.example/", "https://pay.example\\@evil/"),
        *("https://pay.example/a b", "https://pay.example/\n", "https://pаy.example/", "https://[::1/", "pay.example"),
        *("https://pay.example:port/", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/"),
    ],
)
def test_an_address_that_must_not_be_followed_is_refused(url: str) -> None:
    """P9: https alone, of a host that people can read for what it is; http for this very machine."""
    with pytest.raises(ProgrammingError, match="Visit"):
        Visit(url, "Pay")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Pay.Example/x", "pay.example"),
        ("https://pay.example:8443/", "pay.example:8443"),
        ("http://localhost:8000/", "localhost:8000"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://[::1]:80/", "[::1]:80"),
        ("https://xn--py-7kc.example/", "xn--py-7kc.example"),
    ],
)
def test_the_card_names_the_host(url: str, host: str) -> None:
    """The whole of it, with its port, and not what looks like it."""
    assert Visit(url, "Pay").payload() == {"title": "Pay", "host": host}


@pytest.mark.parametrize(
    "url", ["https://p.example", "https://p.example/a?b=1&b=&c=%26#part", "https://p.example/?return_url=https://evil/"]
)
def test_the_page_is_handed_the_link_in_its_own_address(url: str) -> None:
    """What stood in the address stays; the link comes whole, however many signs it has."""
    address = urlsplit(Visit(url, "Pay").address(LINK))
    before = urlsplit(url)
    assert address._replace(query="") == before._replace(query="")
    query = parse_qsl(address.query, keep_blank_values=True)
    assert query[-1] == ("return_url", LINK)
    assert query[:-1] == [pair for pair in parse_qsl(before.query, keep_blank_values=True) if pair[0] != "return_url"]


def test_what_came_is_the_tool_s_own_type() -> None:
    """With a fault for each field; without a type, it is the JSON that came."""
    visit = Visit("https://p.example", "Pay", returns=Paid)
    assert visit.parse({"order": "7"}) == Paid(order=7)
    assert visit.decode(visit.encode(Paid(order=7))) == Paid(order=7)
    with pytest.raises(Rejected) as refused:
        visit.parse({"order": "secret words"})
    assert [fault.pointer for fault in refused.value.faults] == ["/order"]
    assert "secret words" not in str(refused.value)
    plain: Visit[object] = Visit("https://p.example", "Pay")
    for value in ({"a": [1, None]}, "x", None, 0, False):
        assert plain.decode(plain.encode(plain.parse(value))) == value


def test_another_page_is_another_question() -> None:
    """An answer to where the user was sent is none to where they are sent now, nor by whom else it is to be given."""
    visits = [
        Visit("https://p.example/1", "Pay"),
        Visit("https://p.example/2", "Pay"),
        Visit("https://p.example/1", "Sign"),
        Visit("https://p.example/1", "Pay", signed_by=KEY),
        Visit("https://p.example/1", "Pay", returns=Paid),
    ]
    assert len({digest(visit, "#1") for visit in visits}) == len(visits)


def test_a_short_key_is_refused() -> None:
    """A key that can be guessed proves nothing."""
    with pytest.raises(ProgrammingError, match="16 bytes"):
        Visit("https://p.example", "Pay", signed_by=b"short")


def test_a_signature_is_what_its_words_say() -> None:
    """Whoever calls from another language makes it of these parts, in this order."""
    mac = hmac.new(KEY, b"1700000000.the-token." + b'{"order":7}', hashlib.sha256).hexdigest()
    header = signature(KEY, "the-token", b'{"order":7}', 1_700_000_000.9)
    assert header == f"t=1700000000,v1={mac}"
    assert signed(KEY, "the-token", b'{"order":7}', header, 1_700_000_300)
    assert not signed(KEY, "the-token", b'{"order":7}', header, 1_700_000_301)
    assert not signed(KEY, "the-token", b'{"order":7}', header, 1_699_999_699)
    assert not signed(KEY, "the-token", b'{"order":7} ', header, 1_700_000_000)
    assert not signed(KEY, "the-toke", b'n{"order":7}', header, 1_700_000_000)
