"""Keys in a file that only its owner may read, one a line.

The file is read each time that a key is needed: engines that are at work meet a rotated key as soon as it is there.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from yourcall.errors import ProgrammingError
from yourcall.vault.keyring import KeyRing, new_key


class KeyFile:
    """A `KeyProvider` of the keys in a file. Raises `ProgrammingError` if others may read it, or it holds no key."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.ring()  # whatever is wrong with it is said where the app starts

    @classmethod
    def make(cls, path: str | os.PathLike[str]) -> KeyFile:
        """The file at this path; a new one, with a new key, if there is none."""
        with suppress(FileExistsError):
            _write(Path(path), new_key() + "\n")
            _sync(Path(path).parent)
        return cls(path)

    def rotate(self) -> None:
        """Put a new key before the others, which stay: what they sealed is still opened.

        The file is replaced as a whole. Raises `ProgrammingError` if somebody else is about to do so.
        """
        beside = self.path.with_name(self.path.name + ".new")
        try:
            _write(beside, f"{new_key()}\n{self._text()}")
        except FileExistsError:
            raise ProgrammingError(
                f"{beside} is there: the keys are being rotated, or that was cut off. If it was, delete that file."
            ) from None
        os.replace(beside, self.path)
        _sync(self.path.parent)

    @property
    def active(self) -> str | None:
        return self.ring().active

    @property
    def ids(self) -> tuple[str, ...]:
        return self.ring().ids

    def knows(self, key: str) -> bool:
        return self.ring().knows(key)

    async def wrap(self, key: str, value: bytes, bound: bytes) -> bytes:
        return await self.ring().wrap(key, value, bound)

    async def unwrap(self, key: str, wrapped: bytes, bound: bytes) -> bytes:
        return await self.ring().unwrap(key, wrapped, bound)

    def ring(self) -> KeyRing:
        """The keys as the file has them now."""
        ring = KeyRing(self._text(), source=str(self.path))
        if ring.active is None:
            raise ProgrammingError(f"{self.path} holds no key. If nothing was sealed yet, delete it, and start anew.")
        return ring

    def _text(self) -> str:
        try:
            with self.path.open(encoding="ascii", errors="replace") as file:
                if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                    raise ProgrammingError(
                        f"Others may read the keys in {self.path}: chmod 600 it, and rotate them if others have."
                    )
                return file.read()
        except OSError as error:
            raise ProgrammingError(f"The keys in {self.path} cannot be read: {error.strerror}.") from None


def _write(path: Path, text: str) -> None:
    """Make a file that only its owner may read; it is on the disk when this returns."""
    with open(path, "x", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    if os.name == "posix":  # elsewhere a folder is no file to sync
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
