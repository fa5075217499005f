"""The wording of secrets: what asks for one is refused where it would be kept in the open, and little else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from tests.scene import Scene
from tests.unit.wordings import FIELDS, INNOCENT, INNOCENT_FIELDS, SECRET
from yourcall import Choose, Confirm, Form, Option, ProgrammingError, Question, Questions, Rejected, ask_user
from yourcall.wording import asks_for_secret, names_secret, resembles_key


@pytest.mark.parametrize("text", SECRET)
def test_what_asks_for_a_secret_is_recognised(text: str) -> None:
    """In a dozen languages, as a question, a request or a label; also in capitals."""
    assert asks_for_secret(text)
    assert asks_for_secret(text.upper())


@pytest.mark.parametrize("label", FIELDS)
def test_a_field_for_a_secret_is_recognised(label: str) -> None:
    """By its name alone."""
    assert names_secret(label)


def test_innocent_questions_pass(record_property: Any) -> None:
    """Of 200 innocent questions and labels, many with the same words in them, at most one in a hundred is refused.

    The rate is put into the report of the tests; the list and the rules are by the same hands, so that others may
    fare worse.
    """
    assert len(set(INNOCENT)) >= 200
    refused = [text for text in INNOCENT if asks_for_secret(text)]
    refused += [label for label in INNOCENT_FIELDS if names_secret(label)]
    rate = len(refused) / (len(INNOCENT) + len(INNOCENT_FIELDS))
    record_property("false_refusal_rate", rate)
    print(f"false refusals: {len(refused)} of {len(INNOCENT) + len(INNOCENT_FIELDS)} ({rate:.1%}) {refused}")
    assert rate <= 0.01, refused


@pytest.mark.parametrize("piece", ["enter your ", "a ", "please ", "what is your ", "(", "password ", "code we "])
def test_every_text_is_read_to_its_end(piece: str) -> None:
    """However long it is and whatever is repeated in it: an expression that backtracks would never return."""
    names_secret(piece * 2_000)


def model(title: str, hint: Any = str, **more: Any) -> type[BaseModel]:
    made: type[BaseModel] = create_model("Access", fine=(int, 1), value=(hint, Field(title=title, **more)))
    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda: Questions([Question("What is your password?", [Option("a"), Option("b")])]),
        lambda: Questions([Question("Please paste it here.", [Option("a"), Option("b")], header="API key")]),
        lambda: Choose(["a", "b"], "What is your PIN?"),
        lambda: Confirm("Enter your password to go on"),
        lambda: Confirm("Sign in?", {"password": ""}, editable=["password"]),
        lambda: Form(model("Value"), title="Please enter your API key"),
        lambda: Form(model("API key")),
        lambda: Form(model("Card number", int)),
        lambda: Form(model("Value", description="Paste your access token here.")),
    ],
)
def test_no_open_ask_asks_for_a_secret(make: Any) -> None:
    """It fails where it is made, and says what to use instead."""
    with pytest.raises(ProgrammingError, match="Use `Secret`"):
        make()


def test_what_cannot_hold_a_secret_may_be_named_like_one() -> None:
    """A choice, a yes or no, and a consent that only shows; another title is a way out of a false refusal."""
    Form(model("Password", Literal["keep", "reset"]))
    Form(model("Show the password", bool))
    Form(model("Board pin"))
    Confirm("Reset this?", {"password": "hidden"})


@pytest.mark.anyio
async def test_T12_a_model_cannot_have_the_user_asked_for_a_secret(tmp_path: Path) -> None:
    """It reads why and what there is instead; nobody is asked."""
    question = {"prompt": "What is your Hevy API key?", "options": [{"label": "I have one"}, {"label": "I have none"}]}
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", {"questions": [question]})]]) as process:
        await process.say()
        assert "questions.0.prompt asks for a secret" in await process.error()
        assert "`Secret`" in await process.error()
        assert await process.chat.interrupts() == ()


KEYS = ["sk-ant-api03-" + "x" * 40, "ghp_" + "a1" * 18, "AKIA" + "ABCD1234" * 2, "-----BEGIN RSA PRIVATE KEY-----\nx"]
NO_KEYS = ["sk-ant", "ask-proj-management-and-more-words", "AKIA", "ghp_short", "eyJ0", "a" * 200, "BEGIN PRIVATE KEY"]


@pytest.mark.parametrize("key", KEYS)
def test_T12_a_key_that_is_typed_into_the_open_is_refused(key: str) -> None:
    """With a hint, and without repeating it; in a question, a form and a reason."""
    questions = Questions([Question("How?", [Option("a"), Option("b")])])
    for ask, answer in (
        (questions, {"answers": [{"other": f"It is {key}."}]}),
        (Form(model("Value")), {"value": key}),
        (Confirm("Go?"), {"approved": False, "reason": key}),
    ):
        with pytest.raises(Rejected) as refused:
            ask.parse(answer)
        assert "looks like a secret key" in refused.value.faults[0].message
        assert key not in repr(refused.value.faults)


@pytest.mark.parametrize("text", NO_KEYS)
def test_what_only_begins_like_a_key_is_taken(text: str) -> None:
    """The forms are those that nothing else has."""
    assert not resembles_key(text)
