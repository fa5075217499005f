"""`Choose(options)`: pick one of many things, or several, and get the things themselves.

The options are made at run time, as seats and repositories are. The client sees labels and sends labels back; the
value that one stands for never leaves the server, and the digest covers it: an answer to "12A" is none to another
"12A". Nothing but a label that was offered is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, overload

from yourcall.asks import Ask, Check
from yourcall.entries import Json, canonical
from yourcall.errors import Fault, ProgrammingError, Rejected
from yourcall.faults import pointer, unexpected
from yourcall.questions import MAX_BYTES, MAX_LABEL, MAX_PROMPT
from yourcall.texts import amiss, look
from yourcall.values import encode
from yourcall.wording import INSTEAD, asks_for_secret

V = TypeVar("V")
T = TypeVar("T")

_SHOWN_PROBLEMS: Final = 8


class Choose(Ask[T]):
    """Ask the user to choose one of `options`, or with `multi=True` one or more of them.

    `options` are values, of which `label` makes what is shown (`str` by default), or a mapping from labels to values.
    A value is whatever the log can keep. Raises `ProgrammingError` if there is nothing to choose from, or for labels
    that cannot be shown or told apart, and `Unstorable` for values.
    """

    kind = "choose"
    payload_says_all = True

    @overload
    def __init__(
        self: Choose[V],
        options: Mapping[str, V],
        title: str,
        *,
        multi: Literal[False] = False,
        check: Check[V] | None = None,
        to: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Choose[list[V]],
        options: Mapping[str, V],
        title: str,
        *,
        multi: Literal[True],
        check: Check[list[V]] | None = None,
        to: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Choose[V],
        options: Iterable[V],
        title: str,
        *,
        label: Callable[[V], str] = ...,
        multi: Literal[False] = False,
        check: Check[V] | None = None,
        to: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Choose[list[V]],
        options: Iterable[V],
        title: str,
        *,
        label: Callable[[V], str] = ...,
        multi: Literal[True],
        check: Check[list[V]] | None = None,
        to: str | None = None,
    ) -> None: ...
    def __init__(
        self,
        options: Mapping[str, Any] | Iterable[Any],
        title: str,
        *,
        label: Callable[[Any], str] = str,
        multi: bool = False,
        check: Check[Any] | None = None,
        to: str | None = None,
    ) -> None:
        pairs = list(options.items() if isinstance(options, Mapping) else ((label(one), one) for one in options))
        problems = list(_problems(title, [name for name, _ in pairs]))
        if problems:
            raise ProgrammingError("; ".join(problems[:_SHOWN_PROBLEMS]))
        self.options, self.title, self.multi, self.check, self.to = dict(pairs), title, multi, check, to
        self._values = {name: encode(value, type(value), field=f"option {name!r}") for name, value in pairs}
        self._labels = {canonical(value): name for name, value in self._values.items()}
        if len(self._labels) < len(pairs):
            raise ProgrammingError("two options stand for the same value; offer it once")
        if (size := len(canonical(self.payload()))) > MAX_BYTES:
            raise ProgrammingError(f"options have {size:,} bytes of JSON, at most {MAX_BYTES:,} can be shown")

    def payload(self) -> Json:
        return {"title": self.title, "options": list(self.options)} | ({"multi": True} if self.multi else {})

    def schema(self) -> Json:
        return answer_schema(self.payload())

    def identity(self) -> Json:
        return [self.title, list(self._values.values())]

    def parse(self, answer: Json) -> T:
        match answer:
            case {"choice": choice}:
                faults = [*unexpected(answer, ("choice",)), *self._amiss(choice)]
            case _:
                faults = [Fault("/choice", "Choose an option.")]
        if faults:
            raise Rejected(faults=faults)
        return self.decode(answer)

    def _amiss(self, choice: Json) -> Iterator[Fault]:
        if not self.multi:
            if not (isinstance(choice, str) and choice in self.options):
                yield Fault("/choice", "Not one of the offered options.")
        elif not (isinstance(choice, list) and choice):
            yield Fault("/choice", "Choose at least one option.")
        elif len(choice) > len(self.options):
            yield Fault("/choice", "Each option can be chosen once.")
        else:
            for n, name in enumerate(choice):
                if not (isinstance(name, str) and name in self.options):
                    yield Fault(pointer("choice", n), "Not one of the offered options.")
                elif name in choice[:n]:
                    yield Fault(pointer("choice", n), "Each option can be chosen once.")

    def encode(self, value: T) -> Json:
        """The labels, as the client sent them: which values they stand for is in the digest."""
        values: Any = value if self.multi else [value]
        labels = [self._labels[canonical(encode(one, type(one)))] for one in values]
        return {"choice": labels if self.multi else labels[0]}

    def decode(self, stored: Json) -> T:
        choice = stored["choice"]
        chosen: Any = [self.options[name] for name in choice] if self.multi else self.options[choice]
        value: T = chosen
        return value


def answer_schema(payload: Json) -> Json:
    """JSON Schema of the answer, as it follows from what the card draws."""
    one: Json = {"type": "string", "enum": payload["options"]}
    several = {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}
    return {
        "type": "object",
        "properties": {"choice": {"title": payload["title"]} | (several if payload.get("multi") else one)},
        "required": ["choice"],
        "additionalProperties": False,
    }


def _problems(title: str, labels: Sequence[str]) -> Iterator[str]:
    """Everything that keeps these options from being offered."""
    if wrong := amiss(title, MAX_PROMPT, lines=True):
        yield f"title {wrong}"
    if asks_for_secret(title):
        yield f"title {INSTEAD}"
    if not labels:
        yield "options are empty: there is nothing to choose from"
    seen: dict[str, int] = {}
    for n, name in enumerate(labels):
        if wrong := amiss(name, MAX_LABEL):
            yield f"the label of option {n} {wrong}"
        elif (first := seen.setdefault(look(name), n)) != n:
            yield f"the label of option {n} looks like that of option {first}; tell them apart"
