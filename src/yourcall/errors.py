"""Everything that can go wrong, drawn once.

Exception
└── YourcallError
    ├── ProgrammingError        the app's code is wrong; says what to change
    │   ├── Unstorable          a value that cannot be kept in the log; names the field
│   ├── TooMuchToShow       a value to be approved is longer than anybody would read
    │   └── ReplayMismatch      a re-executed body did not do what its log recorded
    ├── NewerLog                an entry was written by a newer version
    ├── NotAnswered             raised by `ctx.ask` in a tool's body when there is no answer
    │   ├── Skipped  ├── Declined  ├── Expired  └── Unavailable
    ├── OnceFailed              the effect of `ctx.once` failed, now or in an earlier run
    ├── OutcomeUnknown          the effect of `ctx.once` was cut off; nobody knows whether it happened
    ├── FileGone                the bytes of a file are not there any more
    ├── CredentialGone          a tool was offered for a credential that the user has taken back
    ├── SealBroken              a sealed value does not open in its place
    ├── ToolError               a tool's own words to the model
    ├── ModelFailed             the provider did not finish its step
    └── Refused                 a request that was not admitted; nothing was changed
        ├── NotFound  ├── Closed  ├── AlreadyAnswered  ├── Changed  ├── Waiting
        ├── Busy
        │   ├── StoreBusy       the store does not answer now
        │   ├── StoreClosed     its engine is not open, or not any more
        │   └── DraftGone       what an append was to keep is kept elsewhere, or was swept
        ├── NotAsked            the question is the user's own, but it was put to somebody else
        ├── WrongChannel        the answer came by a way that is not this question's
        ├── FileTooLarge  ├── FileType  ├── NoRoom
        ├── TooManyAttempts     too many answers to one question were refused
        ├── HandoffInvalid      whoever comes back from a step outside is not who left for it
        ├── ProviderFailed      a provider did not complete what was asked of it
        ├── Rejected            the answer fails a check; the card shows it and stays open
        └── CheckFailed         the check itself broke; the card stays open

BaseException, so that no `except Exception` of a tool or a library swallows it
├── Paused                      a tool waits for its user
└── Stale                       a runner lost its lease; whatever it still holds is void
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from yourcall.sizes import size


class YourcallError(Exception):
    """The root of all errors that this package raises."""


class ProgrammingError(YourcallError):
    """The app uses the library wrongly; the message says what to change."""


class Unstorable(ProgrammingError):
    """A value cannot be kept in the log. `field` says which; the value itself is never shown."""

    def __init__(self, field: str, type_name: str, hint: str = "") -> None:
        self.field, self.type_name = field, type_name
        super().__init__(f"{field}: a value of type {type_name} cannot be stored.{hint and ' ' + hint}")


class TooMuchToShow(ProgrammingError):
    """A value to be approved has more words than are shown; where a model wrote it, it can write less."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the value has {size:,} bytes in words, at most {limit:,} can be shown")


class ReplayMismatch(ProgrammingError):
    """A body that is re-executed asked, called or returned something else than its log recorded."""


class NewerLog(YourcallError):
    """The log holds an entry of a version that this release does not know."""

    def __init__(self, version: int, known: int) -> None:
        self.version, self.known = version, known
        super().__init__(
            f"This conversation was written by a newer release (entry version {version}, "
            f"this one knows up to {known}). Upgrade yourcall to open it."
        )


class NotAnswered(YourcallError):
    """There is no answer. Uncaught, `text` becomes the tool's result, so that the model reads the truth."""

    ending: str = "unavailable"
    text: str = "The question was not answered."
    of_others: str = ""
    """The text where somebody else than the user was asked: `{to}` is who."""

    def __init__(self, note: str | None = None, to: str | None = None) -> None:
        self.note, self.to = note, to
        if to is not None and self.of_others:
            self.text = self.of_others.format(to=to)
        super().__init__(self.text)


class Skipped(NotAnswered):
    """The user skipped the question; `note` is what they wrote along with it."""

    ending = "skipped"
    text = "The user skipped this question and gave no answer."
    of_others = "This question was put to {to}, who skipped it and gave no answer."


class Declined(NotAnswered):
    """The user said no; `note` is the reason they gave."""

    ending = "declined"
    text = "The user declined. It was not done."
    of_others = "This question was put to {to}, who declined. It was not done."


class Expired(NotAnswered):
    """Nobody answered before the question's time limit."""

    ending = "expired"
    text = "The question expired before the user answered. No answer was given."
    of_others = "This question was put to {to}, and expired before they answered. No answer was given."


class Unavailable(NotAnswered):
    """There is nobody to ask here: no engine runs this tool, or no user interface shows the question."""

    ending = "unavailable"
    text = "No user is available here, so the question was not shown to anybody."


class OnceFailed(YourcallError):
    """The effect given to `ctx.once` raised; `kind` names the exception's type."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        super().__init__(f"once({name!r}) failed: {kind}")


class OutcomeUnknown(YourcallError):
    """The effect given to `ctx.once` began and was cut off; it may or may not have happened."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"once({name!r}) was interrupted: it may or may not have happened")


class CredentialGone(YourcallError):
    """The credential that the tool was offered for is gone: the user took it back meanwhile."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"The user's access to {name} is gone. Connect it again before you use this tool.")


class FileGone(YourcallError):
    """The bytes of this file are not there: its conversation was deleted, or this machine does not have them."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__("This file is not there any more.")


class SealBroken(YourcallError):
    """A sealed value does not open: its row was changed or moved, or the key that sealed it is not here."""

    def __init__(self) -> None:
        super().__init__("A sealed value does not open: it was changed or moved, or its key is not here.")


class ToolError(YourcallError):
    """Raise it in a tool to tell the model, in your own words, what went wrong."""


class ModelFailed(YourcallError):
    """The provider did not finish its step. The message is for the user to read.

    `retryable` says whether the same request may succeed later, `after` in how many seconds the provider says so.
    """

    def __init__(self, message: str, *, retryable: bool = True, after: float | None = None) -> None:
        self.retryable, self.after = retryable, after
        super().__init__(message)


class Refused(YourcallError):
    """A request that is not admitted; nothing was changed. `slug` and `status` are its HTTP form (RFC 9457)."""

    slug = "refused"
    status = 400


class NotFound(Refused):
    """No such conversation or question, or it is somebody else's: the two cannot be told apart."""

    slug, status = "not-found", 404

    def __init__(self, what: str = "question") -> None:
        super().__init__(f"No such {what}.")


class NotAsked(Refused):
    """The question belongs to the user's conversation, but somebody else is to answer it."""

    slug, status = "not-asked", 403

    def __init__(self) -> None:
        super().__init__("Somebody else was asked this.")


class Closed(Refused):
    """The question was closed by another ending than an answer, named in `ending`."""

    status = 410

    def __init__(self, ending: str) -> None:
        self.ending = ending
        expired = ending == "expired"
        self.slug = "expired" if expired else "closed"
        super().__init__("This question has expired." if expired else "This question is no longer open.")


class AlreadyAnswered(Refused):
    """The question was answered before, with something else."""

    slug, status = "already-answered", 409
    ending = "answered"

    def __init__(self) -> None:
        super().__init__("This question was already answered.")


class Changed(Refused):
    """The question is not the one that was shown."""

    slug, status = "changed", 412

    def __init__(self) -> None:
        super().__init__("The question changed. Reload it.")


class WrongChannel(Refused):
    """The answer came by a way that is not this question's: a form's answer to a sign-in, a secret in the open."""

    slug, status = "wrong-channel", 409

    def __init__(self, channel: str) -> None:
        super().__init__(_CHANNELS[channel])


_CHANNELS = {
    "form": "Answer this question with its form.",
    "secret": "Enter this on the card's own field; it must not be sent in the open.",
    "upload": "Answer this question with a file.",
    "handoff": "Finish this step at the provider.",
}


class TooManyAttempts(Refused):
    """Too many answers to this question were refused; `after` is in how many seconds one is looked at again."""

    slug, status = "too-many-attempts", 429

    def __init__(self, after: float) -> None:
        self.after = after
        minutes = math.ceil(after / 60)
        when = f"{minutes} minutes" if minutes > 1 else "a minute"
        super().__init__(f"Too many tries. Try again in {when}.")


class FileTooLarge(Refused):
    """The file is larger than its question allows; it was not read to its end. `limit` is in bytes."""

    slug, status = "too-large", 413

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"The file is larger than {size(limit)}.")


class FileType(Refused):
    """The file's name, its content and what is taken do not say the same of it."""

    slug, status = "file-type", 415

    def __init__(self, message: str = "This file type is not allowed.") -> None:
        super().__init__(message)


class NoRoom(Refused):
    """The user's files would take more room than one user has."""

    slug, status = "quota", 413

    def __init__(self) -> None:
        super().__init__("There is no room for more files. Delete a conversation with files that you no longer need.")


class HandoffInvalid(Refused):
    """Whoever opens or comes back from a step outside is not who was asked, or it was used already, or too late."""

    slug, status = "handoff-invalid", 403

    def __init__(self, message: str = "This sign-in link belongs to another session.") -> None:
        super().__init__(message)


class ProviderFailed(Refused):
    """A provider did not answer, or not as it must; nothing was taken. What it said is nobody's to read."""

    slug, status = "provider-failed", 502

    def __init__(self) -> None:
        super().__init__("The provider did not complete this. Try again.")


class Waiting(Refused):
    """The agent takes no messages while a question is open (`Agent(on_message="reject")`)."""

    slug, status = "waiting", 409

    def __init__(self) -> None:
        super().__init__("Answer or skip the open question first.")


class Busy(Refused):
    """The engine takes no new work now: it is shutting down, or its store does not answer."""

    slug, status = "busy", 503

    def __init__(self, message: str = "The server is shutting down. Try again in a moment.") -> None:
        super().__init__(message)


class StoreBusy(Busy):
    """The store does not answer now; nothing was changed, or nobody can say yet."""

    def __init__(self, message: str = "The store is busy. Try again in a moment.") -> None:
        super().__init__(message)


class StoreClosed(Busy):
    """The store is not open, or not any more: to wait for it is of no use."""

    def __init__(self) -> None:
        super().__init__("The store is closed.")


class DraftGone(Busy):
    """What an append was to keep is no draft any more: another append has kept it, or it waited too long."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__("This took too long to be kept. Send it again.")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an answer: a JSON pointer (RFC 6901, `""` for the whole) and words for the user."""

    pointer: str
    message: str
    slug: str = "invalid-answer"


class Rejected(Refused):
    """The answer fails a check: the card shows why and the question stays open.

    Raise it in a `check=` with words for the user, and `field=` to put them on one field of a form.
    """

    status = 422

    def __init__(self, message: str = "", *, field: str | None = None, faults: Sequence[Fault] = ()) -> None:
        self.faults = tuple(faults) or (Fault(f"/{field}" if field else "", message, "rejected"),)
        self.slug = self.faults[0].slug
        super().__init__(message or self.faults[0].message)

    def without(self, hide: Callable[[str], str]) -> Rejected:
        """The same, in words that went through `hide`."""
        faults = [Fault(hide(one.pointer), hide(one.message), one.slug) for one in self.faults]
        return Rejected(hide(str(self)), faults=faults)


class CheckFailed(Refused):
    """The tool's check of the answer broke; the question stays open and the answer was not taken."""

    slug, status = "check-failed", 502

    def __init__(self) -> None:
        super().__init__("The answer could not be checked just now. Try again.")


class Paused(BaseException):
    """A tool waits for its user. Never catch it; `finally` blocks run as usual."""


class Stale(BaseException):
    """This runner lost its lease: another one carries on, and nothing more of this one is recorded."""
