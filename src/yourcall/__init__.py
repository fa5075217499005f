"""Yourcall: tools that pause an agent's loop to get something from its user, and carry on.

The names are imported when they are first used, as pydantic's own are: `import yourcall` alone costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yourcall.agent import Agent
    from yourcall.asker import ask_user, make_ask_user
    from yourcall.asks import Ask, Check
    from yourcall.choose import Choose
    from yourcall.confirm import Confirm
    from yourcall.connect import Account, Connect, OAuthProvider
    from yourcall.context import Context
    from yourcall.engine import Conversation, Engine
    from yourcall.entries import File
    from yourcall.errors import (
        CredentialGone,
        Declined,
        Expired,
        Fault,
        FileGone,
        ModelFailed,
        NotAnswered,
        OnceFailed,
        OutcomeUnknown,
        ProgrammingError,
        ProviderFailed,
        Refused,
        Rejected,
        ReplayMismatch,
        Skipped,
        ToolError,
        Unavailable,
        YourcallError,
    )
    from yourcall.forms import Form, Titles
    from yourcall.questions import Option, Question, QuestionAnswer, Questions
    from yourcall.secret import Secret, SecretReference, SecretValue
    from yourcall.tools import Tool, tool
    from yourcall.upload import Upload
    from yourcall.visit import Visit

_HOMES = {
    "agent": ("Agent",),
    "asker": ("ask_user", "make_ask_user"),
    "asks": ("Ask", "Check"),
    "choose": ("Choose",),
    "confirm": ("Confirm",),
    "connect": ("Account", "Connect", "OAuthProvider"),
    "context": ("Context",),
    "engine": ("Conversation", "Engine"),
    "entries": ("File",),
    "errors": (
        "CredentialGone",
        "Declined",
        "Expired",
        "Fault",
        "FileGone",
        "ModelFailed",
        "NotAnswered",
        "OnceFailed",
        "OutcomeUnknown",
        "ProgrammingError",
        "ProviderFailed",
        "Refused",
        "Rejected",
        "ReplayMismatch",
        "Skipped",
        "ToolError",
        "Unavailable",
        "YourcallError",
    ),
    "forms": ("Form", "Titles"),
    "secret": ("Secret", "SecretReference", "SecretValue"),
    "questions": ("Option", "Question", "QuestionAnswer", "Questions"),
    "tools": ("Tool", "tool"),
    "upload": ("Upload",),
    "visit": ("Visit",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Account",
    "Agent",
    "Ask",
    "Check",
    "Choose",
    "Confirm",
    "Connect",
    "Context",
    "Conversation",
    "CredentialGone",
    "Declined",
    "Engine",
    "Expired",
    "Fault",
    "File",
    "FileGone",
    "Form",
    "ModelFailed",
    "NotAnswered",
    "OAuthProvider",
    "OnceFailed",
    "Option",
    "OutcomeUnknown",
    "ProgrammingError",
    "ProviderFailed",
    "Question",
    "QuestionAnswer",
    "Questions",
    "Refused",
    "Rejected",
    "ReplayMismatch",
    "Secret",
    "SecretReference",
    "SecretValue",
    "Skipped",
    "Titles",
    "Tool",
    "ToolError",
    "Unavailable",
    "Upload",
    "Visit",
    "YourcallError",
    "ask_user",
    "make_ask_user",
    "tool",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
