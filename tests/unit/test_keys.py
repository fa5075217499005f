"""The keys that wrap what a vault seals: how they are written, where they are kept, and what is refused."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

import pytest

from yourcall import Agent, Engine
from yourcall.errors import ProgrammingError, SealBroken
from yourcall.testing import ScriptedModel
from yourcall.vault import KeyFile, KeyRing, keys_of_environment, new_key

KEY, OTHER = new_key(), new_key()


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("YOURCALL_KEYS", raising=False)
    monkeypatch.delenv("YOURCALL_KEY_FILE", raising=False)


@pytest.mark.parametrize("between", [",", ", ", "\n", "  \n "])
def test_the_first_key_is_active(between: str) -> None:
    """However they are put in a row; an id is a key's own, wherever it stands."""
    ring, turned = KeyRing(KEY + between + OTHER), KeyRing(OTHER + between + KEY + "\n")
    assert ring.ids == turned.ids[::-1]
    assert (ring.active, turned.active) == ring.ids
    assert all(KeyRing(key).active == id for key, id in zip((KEY, OTHER), ring.ids, strict=True))


MISTAKES = {
    "cut off": KEY[:-1],
    "longer": KEY + "A",
    "no prefix": KEY[4:],
    "a password": "correct horse battery staple",
    "base64 of another alphabet": "yck_" + base64.b64encode(b"\xff" * 32).decode(),
    "too short": "yck_" + base64.urlsafe_b64encode(b"short").decode(),
    "padded": KEY + "=",
    "another last character": KEY[:-1] + chr(ord(KEY[-1]) + 1),
    "not ascii": KEY[:-1] + "é",
    "a name before it": f"k1:{KEY}",
    "quotes": f'"{KEY}"',
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_what_is_no_key_is_refused_and_not_shown(mistake: str) -> None:
    """A mistake in the second of three is found and placed, and no part of any key is in the words for it."""
    with pytest.raises(ProgrammingError, match=r"number \d of") as raised:
        KeyRing(f"{OTHER},{mistake},{new_key()}")
    for secret in (mistake, mistake[4:20], OTHER[4:20]):
        assert secret not in str(raised.value)


def test_the_same_key_twice_is_refused() -> None:
    """Who meant to add a new key has not done so."""
    with pytest.raises(ProgrammingError, match="twice"):
        KeyRing(f"{KEY},{KEY}")


def test_a_ring_does_not_show_its_keys() -> None:
    """Neither as text nor by its id."""
    ring = KeyRing(KEY)
    assert KEY[4:] not in repr(ring) + str(ring) + str(ring.ids)


@pytest.mark.anyio
async def test_a_key_opens_what_it_wrapped_and_nothing_else() -> None:
    """Not with other associated data, not under another key, and not when a bit of it was changed."""
    ring = KeyRing(f"{KEY},{OTHER}")
    one, other = ring.ids
    wrapped = await ring.wrap(one, b"data key", b"here")
    assert await ring.unwrap(one, wrapped, b"here") == b"data key"
    assert wrapped != await ring.wrap(one, b"data key", b"here")
    flipped = wrapped[:-1] + bytes([wrapped[-1] ^ 1])
    for key, text, bound in [
        (one, wrapped, b"there"), (other, wrapped, b"here"), ("unknown", wrapped, b"here"), (one, flipped, b"here"),
        (one, b"", b"here"), (one, wrapped[:20], b"here"),
    ]:  # fmt: skip
        with pytest.raises(SealBroken):
            await ring.unwrap(key, text, bound)


# --------------------------------------------------------------------------- a file


def test_a_key_file_is_its_owners_alone_and_made_once(tmp_path: Path) -> None:
    """It has one key, which stays the same; who starts second finds the first one's."""
    path = tmp_path / "keys"
    made = KeyFile.make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeyFile.make(path).ids == made.ids == KeyFile(path).ids
    assert len(made.ids) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o644])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    """At the start, and from then on whenever a key is needed."""
    path = tmp_path / "keys"
    made = KeyFile.make(path)
    path.chmod(mode)
    for attempt in (lambda: KeyFile.make(path), lambda: KeyFile(path), lambda: made.active, made.rotate):
        with pytest.raises(ProgrammingError, match="chmod 600"):
            attempt()


@pytest.mark.parametrize("text", ["", "\n", "yck_half", "\x00" * 100, "ключ"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, text: str) -> None:
    """One that was cut off while it was made is not taken for one without keys."""
    path = tmp_path / "keys"
    path.touch(0o600)
    path.write_text(text)
    with pytest.raises(ProgrammingError, match="no key") as raised:
        KeyFile.make(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_gone_closes_everything(tmp_path: Path) -> None:
    """Nothing is sealed with what was once in it."""
    made = KeyFile.make(tmp_path / "keys")
    made.path.unlink()
    with pytest.raises(ProgrammingError, match="cannot be read"):
        assert made.active
    with pytest.raises(ProgrammingError, match="cannot be read"):
        KeyFile(tmp_path / "keys")


@pytest.mark.anyio
async def test_a_rotated_key_is_met_by_who_is_at_work(tmp_path: Path) -> None:
    """The old ones stay and open; nobody has to start anew; the file is still its owner's alone."""
    at_work, rotating = KeyFile.make(tmp_path / "keys"), KeyFile(tmp_path / "keys")
    (old,) = at_work.ids
    wrapped = await at_work.wrap(old, b"data key", b"")
    rotating.rotate()
    new = at_work.active
    assert new
    assert at_work.ids == (new, old)
    assert await rotating.unwrap(old, wrapped, b"") == b"data key"
    assert await at_work.unwrap(new, await rotating.wrap(new, b"other", b""), b"") == b"other"
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["keys"]


def test_two_who_rotate_at_once_lose_no_key(tmp_path: Path) -> None:
    """The second is refused while the first is at it, and the file is as it was."""
    keys = KeyFile.make(tmp_path / "keys")
    before = keys.ids
    (tmp_path / "keys.new").touch()
    with pytest.raises(ProgrammingError, match=r"keys\.new"):
        keys.rotate()
    assert keys.ids == before


# --------------------------------------------------------------------------- the environment


def test_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those in YOURCALL_KEYS, or in the file of YOURCALL_KEY_FILE; none if neither is there, and never a guess."""
    assert keys_of_environment().active is None
    made = KeyFile.make(tmp_path / "keys")
    monkeypatch.setenv("YOURCALL_KEY_FILE", str(made.path))
    assert keys_of_environment().ids == made.ids
    monkeypatch.setenv("YOURCALL_KEYS", KEY)
    with pytest.raises(ProgrammingError, match="both set"):
        keys_of_environment()
    monkeypatch.delenv("YOURCALL_KEY_FILE")
    assert keys_of_environment().ids == KeyRing(KEY).ids
    monkeypatch.setenv("YOURCALL_KEYS", "")
    assert keys_of_environment().active is None


@pytest.mark.anyio
async def test_an_engine_takes_its_keys_from_there_or_as_they_are_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What one of them has sealed, an engine with other keys does not start on, nor one without; the same keys do."""
    url, agent = f"sqlite:///{tmp_path / 'c.db'}", Agent(ScriptedModel([]))
    monkeypatch.setenv("YOURCALL_KEYS", KEY)
    async with Engine(agent, url) as engine:
        mac = engine.vault.mac("secret", b"x")
    monkeypatch.delenv("YOURCALL_KEYS")
    async with Engine(agent, url, keys=KeyRing(KEY)) as engine:
        assert engine.vault.mac("secret", b"x") == mac
    for keys in (KeyRing(OTHER), None):
        other = Engine(agent, url, keys=keys)
        with pytest.raises(ProgrammingError, match="not here"):
            await other.__aenter__()
    monkeypatch.setenv("YOURCALL_KEYS", "nonsense")
    with pytest.raises(ProgrammingError, match="YOURCALL_KEYS"):
        Engine(agent, url)
    assert os.environ["YOURCALL_KEYS"] == "nonsense"
