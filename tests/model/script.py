"""What happens in one example, as data: what the model and the tools' bodies do, and what users and machines do.

The world performs it on real engines; the reference predicts from it what may be recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Policy: TypeAlias = Literal["supersede", "reject", "keep"]
Sort: TypeAlias = Literal["ctx", "held", "thread", "plain", "idempotent", "held-plain", "unknown", "bad-args"]
Payload: TypeAlias = Literal["good", "odd", "wrong", "stale-digest"]

# --- what a tool's body does ---


@dataclass(frozen=True)
class AskFor:
    """Ask for a digit. With `until`, ask again until it is even; `swallow` catches the pause and returns or goes on.

    `worded` has the text depend on the release of the app that runs.
    """

    key: str | None = None
    until: bool = False
    expires_in: float | None = None
    unanswered: Literal["raise", "catch", "otherwise"] = "raise"
    swallow: Literal["no", "return", "go on"] = "no"
    worded: bool = False


@dataclass(frozen=True)
class Raw:
    """`ctx.interrupt`: any JSON comes back, and a skip is a value too."""

    name: str


@dataclass(frozen=True)
class Once:
    """`ctx.once` with a function that counts how often it runs; with `fails` it raises, and the body goes on."""

    name: str
    repeatable: bool = False
    fails: bool = False
    catch: bool = False


@dataclass(frozen=True)
class Work:
    """An await in the middle of the body: a slow call to somewhere."""


@dataclass(frozen=True)
class Fail:
    """The body raises."""


Op: TypeAlias = AskFor | Raw | Once | Work | Fail
Program: TypeAlias = tuple[Op, ...]

# --- what the model does ---


@dataclass(frozen=True)
class Planned:
    """One call of a step; `id` is what the model calls it, and may be one that it used before."""

    sort: Sort
    id: str
    program: Program = ()

    @property
    def held(self) -> bool:
        return self.sort in ("held", "held-plain")

    @property
    def rerun(self) -> bool:
        """Whether the body accepted to be executed again."""
        return self.sort in ("ctx", "held", "thread", "idempotent")

    @property
    def refused(self) -> bool:
        """Whether the call cannot be run at all: no such tool, or arguments that do not fit."""
        return self.sort in ("unknown", "bad-args")


# --- what happens from outside ---


@dataclass(frozen=True)
class Post:
    text: str
    id: str | None = None
    say: bool = False


@dataclass(frozen=True)
class Answer:
    """Answer one of the interrupts: an open one, or, with `old`, any that ever was."""

    pick: int = 0
    payload: Payload = "good"
    old: bool = False
    twice: bool = False


@dataclass(frozen=True)
class Skip:
    pick: int = 0
    old: bool = False


@dataclass(frozen=True)
class Decline:
    pick: int = 0
    old: bool = False


@dataclass(frozen=True)
class Cancel: ...


@dataclass(frozen=True)
class Resume: ...


@dataclass(frozen=True)
class Listen:
    """Follow the conversation's events from the beginning."""


@dataclass(frozen=True)
class Stranger:
    """Another user tries an interrupt's id."""

    pick: int = 0
    old: bool = True


@dataclass(frozen=True)
class Advance:
    seconds: float


@dataclass(frozen=True)
class Sweep: ...


@dataclass(frozen=True)
class Expire:
    """The time of the open question with the least of it passes, and somebody sweeps."""


@dataclass(frozen=True)
class Lapse:
    """A process stands still for longer than its lease, and another one sweeps."""


@dataclass(frozen=True)
class Open:
    """A second process opens the same file."""


@dataclass(frozen=True)
class Crash:
    """The process dies at the append that comes after `skip` others: before it, or just after it took effect.

    `now` does not wait for an append: whatever is parked then never happens.
    """

    skip: int = 0
    after: bool = False
    now: bool = False


@dataclass(frozen=True)
class Deploy:
    """The process dies, and another one comes up with the app's next release."""


@dataclass(frozen=True)
class Stop:
    """The process shuts down in good order."""


@dataclass(frozen=True)
class Drop:
    """The oldest request still under way loses its client."""


@dataclass(frozen=True)
class Drive:
    """Let everything go on, but for operations whose label starts with one of these, until nothing else is left."""

    hold: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expect:
    """These calls have a result by now, and no others."""

    calls: tuple[str, ...]


Act: TypeAlias = (
    Post
    | Answer
    | Skip
    | Decline
    | Cancel
    | Resume
    | Listen
    | Stranger
    | Advance
    | Sweep
    | Expire
    | Lapse
    | Open
    | Crash
    | Deploy
    | Stop
    | Drop
    | Drive
    | Expect
)


@dataclass(frozen=True)
class Scenario:
    """One example. `tape` decides which operation goes next, and when the next act happens.

    `steps` is what the model says in its nth message; after the last it only writes text. `faults[n]` is how often
    its nth message fails first. `on` spreads the acts over the processes that are up, in turn. Where `tape` ends,
    everything goes on until nothing is left before the next act; with `directed`, acts follow at once, and `Drive`
    lets go on.
    """

    steps: tuple[tuple[Planned, ...], ...]
    acts: tuple[Act, ...]
    tape: bytes = b""
    on_message: Policy = "supersede"
    faults: tuple[int, ...] = ()
    max_steps: int = 50
    fine: bool = False
    directed: bool = False
    on: tuple[int, ...] = field(default=(0,))

    def planned(self, number: int) -> Planned:
        """The call whose arguments carry this number."""
        step, place = divmod(number, 10)
        return self.steps[step][place]
