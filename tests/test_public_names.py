"""What `import yourcall` promises. A change of this list is a change for users: it belongs in the changelog."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import yourcall

NAMES = """
Account Agent Ask Check Choose Confirm Connect Context Conversation CredentialGone Declined Engine Expired Fault File
FileGone Form ModelFailed NotAnswered OAuthProvider OnceFailed Option OutcomeUnknown ProgrammingError ProviderFailed
Question QuestionAnswer Questions Refused Rejected ReplayMismatch Secret SecretReference SecretValue Skipped Titles
Tool ToolError Unavailable Upload Visit YourcallError ask_user make_ask_user tool
""".split()

HEAVY = ("aiosqlite", "ag_ui", "fastapi", "starlette", "uvicorn")


def test_the_names_are_these() -> None:
    """No name comes or goes unnoticed, and what is listed is what a console completes."""
    assert sorted(yourcall.__all__) == sorted(NAMES)
    assert sorted(name for name in dir(yourcall) if not name.startswith("_")) == sorted(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Check"])  # an alias has no words of its own
def test_every_name_is_there_and_says_what_it_is(name: str) -> None:
    """Each can be imported, and has words of its own for who asks for its help."""
    value = getattr(yourcall, name)
    assert value.__doc__
    assert not isinstance(value, types.ModuleType)
    if isinstance(value, type):
        assert value.__doc__ != getattr(value.__base__, "__doc__", None)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As of any module, so that `hasattr` and `from yourcall import *` work."""
    assert not hasattr(yourcall, "Agents")
    everything: dict[str, object] = {}
    exec("from yourcall import *", everything)
    assert set(NAMES) <= set(everything)


def test_all_names_come_without_driver_and_framework() -> None:
    """Whoever only writes tools does not pay for a database, a web framework or a protocol."""
    code = f"import sys; from yourcall import *; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
