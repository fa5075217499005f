"""`Secret`: ask the user for a password, a key, anything that neither the log nor the model may see.

What the user enters goes by a route of its own into the vault, and the log gets a reference. A tool that needs the
value reveals it (`ctx.reveal`), and holds it in a wrapper that shows it to nobody by accident.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from yourcall.asks import Ask, Check
from yourcall.entries import Json
from yourcall.errors import Fault, ProgrammingError, Rejected
from yourcall.faults import is_id
from yourcall.sizes import size
from yourcall.texts import blank, storable_text

LIMIT: Final = 16 << 10
"""Bytes of UTF-8 that a secret may have."""


@dataclass(frozen=True, slots=True)
class SecretReference:
    """Says that the user gave a secret, not what it is: its name, and which version of it was given."""

    name: str
    version: str


class Secret(Ask[SecretReference]):
    """Ask the user for a secret, which is kept under `name`; `ctx.reveal` gives a tool its value.

    `help` tells the user where to find it. `check` gets the plain text while the card is still open. The user has one
    value under a name in all conversations, or with `per="conversation"` one in each. Within an engine a name stands
    for one credential. As a tool's `when=` it offers the tool once the user has given the value.
    """

    kind = "secret"
    channel = "secret"
    payload_says_all = True

    def __init__(
        self,
        name: str,
        title: str = "",
        help: str = "",
        check: Check[str] | None = None,
        *,
        per: Literal["user", "conversation"] = "user",
    ) -> None:
        if not is_id(name) or blank(name):
            raise ProgrammingError("A Secret's name is 1 to 200 printable characters without a slash.")
        self.name, self.title, self.help, self.per = name, title or name, help, per
        self.check = check  # type: ignore[assignment]  # it looks at the text; what a tool gets stands for it

    def payload(self) -> Json:
        return {"title": self.title, "help": self.help}

    def schema(self) -> Json:
        return None

    def identity(self) -> Json:
        return [self.name, self.per, self.title]

    def parse(self, answer: Json) -> Any:
        """The text as it is. Raises `Rejected`."""
        require_secret(answer)
        return answer

    def encode(self, value: SecretReference) -> Json:
        return {"name": value.name, "version": value.version}

    def decode(self, stored: Json) -> SecretReference:
        return SecretReference(stored["name"], stored["version"])


def require_secret(text: Json) -> None:
    """Raises `Rejected` for what can be no secret; its words show nothing of it."""
    if not isinstance(text, str):
        raise Rejected(faults=[Fault("", "Expected a text.")])
    if not storable_text(text):
        raise Rejected(faults=[Fault("", "Text contains characters that cannot be stored.", "invalid-text")])
    if blank(text):
        raise Rejected(faults=[Fault("", "Please fill this in.")])
    if len(text.encode()) > LIMIT:
        raise Rejected(faults=[Fault("", f"At most {size(LIMIT)}.")])


class SecretValue:
    """A revealed secret. `get_secret_value()` is its text; nothing else gives it away.

    `repr` names it. Turning it into text, JSON or a pickle, and copying it, raise `TypeError`.
    """

    __slots__ = ("__value", "name")

    def __init__(self, name: str, value: str) -> None:
        self.name = name
        self.__value = value

    def get_secret_value(self) -> str:
        """The text itself, to be handed to the one who needs it."""
        return self.__value

    def __repr__(self) -> str:
        return f"SecretValue({self.name!r})"

    def __str__(self) -> NoReturn:
        raise TypeError(f"The secret {self.name!r} is not shown as text; its text is .get_secret_value().")

    def __format__(self, spec: str) -> NoReturn:
        str(self)
        raise AssertionError

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"The secret {self.name!r} is neither copied nor pickled; reveal it where it is needed.")
