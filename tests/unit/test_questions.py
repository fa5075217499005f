"""`Questions`: which may be asked, what is an answer, and how one is kept."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yourcall.asks import digest, shown
from yourcall.errors import ProgrammingError, Rejected
from yourcall.questions import MAX_BYTES, Option, Question, QuestionAnswer, Questions


def options(*labels: str) -> list[Option]:
    return [Option(label) for label in labels]


GOAL = Question("What is your goal?", options("Strength", "Muscle", "Fitness"), header="Goal")
DAYS = Question("Which days?", options("Monday", "Tuesday", "Wednesday"), multi=True)
BOTH = Questions([GOAL, DAYS])


def outcome(ask: Questions, answer: Any) -> tuple[QuestionAnswer, ...] | Rejected:
    try:
        return ask.parse(answer)
    except Rejected as refused:
        return refused


def faults(ask: Questions, answer: Any) -> list[tuple[str, str]]:
    with pytest.raises(Rejected) as refused:
        ask.parse(answer)
    return [(fault.pointer, fault.slug) for fault in refused.value.faults]


# --------------------------------------------------------------------------- what may be asked


@pytest.mark.parametrize(
    ("questions", "problem"),
    [
        ([], "questions must have 1 to 4 entries, not 0"),
        ([GOAL] * 5, "questions must have 1 to 4 entries, not 5"),
        ([Question("a?", options("x"))], "questions.0.options must have 2 to 4 entries, not 1"),
        ([Question("a?", options(*"abcde"))], "questions.0.options must have 2 to 4 entries, not 5"),
        ([GOAL, Question("", options("a", "b"))], "questions.1.prompt is empty; write 1 to 2,000 characters"),
        ([Question("a" * 2001, options("a", "b"))], "questions.0.prompt has 2,001 characters, at most 2,000"),
        ([Question("a?", options("a", "b"), header="h" * 25)], "questions.0.header has 25 characters, at most 24"),
        ([Question("a?", options("a", "b"), header="")], "questions.0.header is empty; write 1 to 24 characters"),
        ([Question("a?", options("a", "b" * 301))], "questions.0.options.1.label has 301 characters, at most 300"),
        ([Question("a?", [Option("a", "d" * 1001), Option("b")])], "questions.0.options.0.description has 1,001"),
        ([Question("a?", options("a", "a\nb"))], "questions.0.options.1.label has the character U+000A"),
        ([Question("a?", options("a", "A "))], "questions.0.options.1.label looks like that of questions.0.options.0"),
        ([GOAL, GOAL], "questions.1 has the prompt and the header of questions.0"),
    ],
)
def test_what_may_not_be_asked_is_named_with_its_limit(questions: list[Question], problem: str) -> None:
    """Place, figure and limit in one line: enough to mend it."""
    with pytest.raises(ProgrammingError) as refused:
        Questions(questions, max_questions=4, max_options=4)
    assert str(refused.value).startswith(problem)


def test_all_problems_are_told_at_once() -> None:
    """A model that is told one problem at a time needs a request for each; but no flood comes back."""
    with pytest.raises(ProgrammingError) as refused:
        Questions([Question("", options("", "x" * 500)), Question(" ", options("Skip", "b"))])
    assert str(refused.value).count(";") >= 4
    with pytest.raises(ProgrammingError) as refused:
        Questions([Question("", options(*[""] * 20)) for _ in range(10)])
    assert len(str(refused.value)) < 1_000


OTHERS = """
Other, other, OTHER..., Other…, Others, Other (please specify), An other option, Another answer, Something else
None of these, None of the above., Someone else, Skip, skip this question, [Skip], Custom answer, Type my own
I'll type it in, Ｏｔｈｅｒ, Oth\u200der, Autre, Andere, その他, Другое
"""
NOT_OTHERS = """
None, Neither, All of the above, Other half, Skip tests, Own, Custom, Write something funny, No preference, Type
Not sure, Different day, 👍, …
"""


@pytest.mark.parametrize("label", re.split(r", |\n", OTHERS.strip()))
def test_an_option_that_the_card_adds_itself_is_refused(label: str) -> None:
    """Two ways to say "other", one with a field and one without, would lose what the user means."""
    with pytest.raises(ProgrammingError, match=r"options\.1\.label is reserved: the card always adds"):
        Questions([Question("a?", options("a", label))])


@pytest.mark.parametrize("label", re.split(r", |\n", NOT_OTHERS.strip()))
def test_an_option_that_only_resembles_one_is_kept(label: str) -> None:
    """What the user can mean by choosing it is an answer."""
    assert Questions([Question("a?", options("a", label))]).parse({"answers": [{"selected": [label]}]}) == (
        QuestionAnswer([label]),
    )


def test_four_questions_fit_in_any_script() -> None:
    """The bound of the whole card leaves every prompt, header and label its own limit, at four bytes a character."""
    wide = "\U00020000"
    full = [
        Question(str(n) + wide * 1999, options(*(str(k) + wide * 299 for k in range(4))), header=str(n) + wide * 23)
        for n in range(4)
    ]
    assert Questions(full, max_questions=4, max_options=4).payload()


def test_a_card_has_a_bound() -> None:
    """Descriptions that add up beyond it are refused with both figures."""
    many = [Question(f"{n}?", [Option(f"{k}", "d" * 1000) for k in range(20)]) for n in range(4)]
    with pytest.raises(ProgrammingError, match=f"at most {MAX_BYTES:,} are allowed"):
        Questions(many)


def test_questions_may_share_a_prompt_or_a_header() -> None:
    """Answers are aligned by index, so neither is a key; only both together cannot be told apart by a reader."""
    ask = Questions(
        [
            Question("Which?", options("a", "b"), header="First"),
            Question("Which?", options("a", "b"), header="Second"),
            Question("And which?", options("a", "b"), header="First"),
        ]
    )
    given = {"answers": [{"selected": ["a"]}, {"selected": ["b"]}, {"other": "c"}]}
    assert ask.parse(given) == (QuestionAnswer(["a"]), QuestionAnswer(["b"]), QuestionAnswer([], "c"))


# --------------------------------------------------------------------------- what the card draws


def test_the_payload_is_what_was_asked() -> None:
    """Texts go out as they came in; what is null or false is left out."""
    ask = Questions([Question("a?\nb?", [Option("x", "why", recommended=True), Option("y")], header="h", multi=True)])
    assert shown(ask) == {
        "questions": [
            {
                "prompt": "a?\nb?",
                "header": "h",
                "multi": True,
                "options": [{"label": "x", "description": "why", "recommended": True}, {"label": "y"}],
            }
        ]
    }
    assert Questions([GOAL]).payload()["questions"][0].keys() == {"prompt", "header", "options"}
    assert BOTH.title == "What is your goal?\nWhich days?"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ([GOAL], True),
        ([Question(GOAL.prompt, [Option(o.label, "help", recommended=True) for o in GOAL.options], "Goal")], True),
        ([Question("What is your aim?", GOAL.options, "Goal")], False),
        ([Question(GOAL.prompt, GOAL.options, "Aim")], False),
        ([Question(GOAL.prompt, GOAL.options, "Goal", multi=True)], False),
        ([Question(GOAL.prompt, list(reversed(GOAL.options)), "Goal")], False),
        ([GOAL, DAYS], False),
    ],
)
def test_an_answer_belongs_to_its_question(other: list[Question], same: bool) -> None:
    """Help texts and recommendations may change under an open card; what is asked and offered may not."""
    assert (digest(Questions([GOAL]), "k") == digest(Questions(other), "k")) is same


# --------------------------------------------------------------------------- what is an answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"selected": ["Strength"]}, QuestionAnswer(["Strength"])),
        ({"selected": ["Strength"], "other": "and size"}, QuestionAnswer(["Strength"], "and size")),
        ({"other": " as it is\n"}, QuestionAnswer([], " as it is\n")),
        ({"skipped": True, "note": "later"}, QuestionAnswer([], None, "later", skipped=True)),
        ({"selected": [], "skipped": True}, QuestionAnswer(skipped=True)),
        ({"selected": ["Muscle"], "note": "hm"}, QuestionAnswer(["Muscle"], None, "hm")),
        ({"selected": ["Muscle"], "note": "  "}, QuestionAnswer(["Muscle"])),
        ({"selected": ["Muscle"], "other": None, "note": None, "skipped": None}, QuestionAnswer(["Muscle"])),
        ({"selected": None, "other": "x", "skipped": False}, QuestionAnswer([], "x")),
        ({"other": "\u202ehowever they write \u200b\t"}, QuestionAnswer([], "\u202ehowever they write \u200b\t")),
        ({"other": "x" * 10_000}, QuestionAnswer([], "x" * 10_000)),
    ],
)  # fmt: skip
def test_an_answer_is_kept_as_it_is(answer: Any, expected: QuestionAnswer) -> None:
    """Labels, own words, both, or a skip; and the same again after it was stored."""
    ask = Questions([GOAL])
    parsed = ask.parse({"answers": [answer]})
    assert parsed == (expected,)
    assert ask.decode(json.loads(json.dumps(ask.encode(parsed)))) == parsed


def test_several_may_be_chosen_where_several_may() -> None:
    """In the order in which they were sent."""
    chosen = ["Tuesday", "Monday"]
    parsed = BOTH.parse({"answers": [{"selected": ["Muscle"]}, {"selected": chosen, "other": "and at night"}]})
    assert parsed == (QuestionAnswer(["Muscle"]), QuestionAnswer(chosen, "and at night"))


INVALID = "invalid-answer"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], [("/answers", INVALID)]),
        ([{}, {}, {}], [("/answers", INVALID)]),
        ([{}], [("/answers", INVALID)]),
        ("Muscle", [("/answers", INVALID)]),
        (None, [("/answers", INVALID)]),
        ({"0": {}}, [("/answers", INVALID)]),
        ([{}, {}], [("/answers/0", INVALID), ("/answers/1", INVALID)]),
        ([None, ""], [("/answers/0", INVALID), ("/answers/1", INVALID)]),
    ],
)
def test_one_answer_for_each_question(answers: Any, expected: list[tuple[str, str]]) -> None:
    """Neither spread nor shifted nor guessed: a wrong length is refused, and so is an empty answer."""
    assert faults(BOTH, {"answers": answers}) == expected


@pytest.mark.parametrize("answer", [None, [], "x", 1, {}, {"answer": []}, [{"selected": ["Muscle"]}]])
def test_an_answer_is_an_object(answer: Any) -> None:
    """Anything else is refused as a whole."""
    assert faults(BOTH, answer) == [("", INVALID)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"selected": "Muscle"}, [("/selected", INVALID)]),
        ({"selected": {"0": "Muscle"}}, [("/selected", INVALID)]),
        ({"selected": ["M"]}, [("/selected/0", INVALID)]),
        ({"selected": ["muscle"]}, [("/selected/0", INVALID)]),
        ({"selected": ["Muscle "]}, [("/selected/0", INVALID)]),
        ({"selected": ["2"]}, [("/selected/0", INVALID)]),
        ({"selected": [1]}, [("/selected/0", INVALID)]),
        ({"selected": [["Muscle"]]}, [("/selected/0", INVALID)]),
        ({"selected": [""]}, [("/selected/0", INVALID)]),
        ({"selected": ["Muscle", "Fitness"]}, [("/selected", INVALID)]),
        ({"selected": ["Muscle", "Muscle"]}, [("/selected", INVALID)]),
        ({"skipped": True, "selected": ["Muscle"]}, [("/skipped", INVALID)]),
        ({"skipped": True, "other": "x"}, [("/skipped", INVALID)]),
        ({"skipped": 1}, [("/skipped", INVALID)]),
        ({"skipped": "false", "other": "x"}, [("/skipped", INVALID)]),
        ({"skipped": 0, "other": "x"}, [("/skipped", INVALID)]),
        ({"other": ""}, [("/other", INVALID)]),
        ({"other": " \u200b\n", "selected": ["Muscle"]}, [("/other", INVALID)]),
        ({"other": ["x"]}, [("/other", INVALID)]),
        ({"other": "x" * 10_001}, [("/other", INVALID)]),
        ({"other": "a\0"}, [("/other", "invalid-text")]),
        ({"note": "\ud800", "other": "x"}, [("/note", "invalid-text")]),
        ({"note": "only a note"}, [("", INVALID)]),
        ({"selected": []}, [("", INVALID)]),
        ({"answer": "Muscle", "selected": ["Muscle"]}, [("/answer", "unknown-field")]),
        ({"a/b": 1, "x" * 1000: 2, "skipped": True}, [("/a~1b", "unknown-field"), ("", "unknown-field")]),
        (
            {"selected": ["no"], "other": "", "z": 1},
            [("/z", "unknown-field"), ("/selected/0", INVALID), ("/other", INVALID)],
        ),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused_in_its_place(given: Any, expected: list[tuple[str, str]]) -> None:
    """Every fault has the place and the kind; nothing is matched loosely, completed or dropped."""
    found = faults(BOTH, {"answers": [given, {"skipped": True}]})
    assert found == [("/answers/0" + pointer, slug) for pointer, slug in expected]


def test_a_text_is_not_a_list_of_letters() -> None:
    """Where labels are single letters, too, a string is no list of them."""
    assert faults(Questions([Question("a?", options("a", "b"))]), {"answers": [{"selected": "a"}]}) == [
        ("/answers/0/selected", INVALID)
    ]


def test_each_option_once() -> None:
    """In a multiple choice, too."""
    answers = [{"selected": ["Muscle"]}, {"selected": ["Monday", "Tuesday", "Monday"]}]
    assert faults(BOTH, {"answers": answers}) == [("/answers/1/selected/2", INVALID)]


def test_more_than_there_is_is_one_fault() -> None:
    """A flood of labels or of fields is not answered by a flood of faults."""
    answers = [{str(n): n for n in range(100_000)}, {"selected": ["Monday"] * 100_000}]
    assert len(faults(BOTH, {"answers": answers})) < 20


@pytest.mark.parametrize("canary", ["canary", "canary\0", "canary" * 5000])
@pytest.mark.parametrize("place", ["selected", "other", "note", "skipped"])
def test_a_fault_never_repeats_the_answer(place: str, canary: str) -> None:
    """What the user typed may be private: a refusal names its place only."""
    for value in (canary, [canary]):
        told = outcome(Questions([GOAL]), {"answers": [{place: value}]})
        assert isinstance(told, tuple) or "canary" not in str(told) + repr(told.faults)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["Muscle", "Monday", "selected"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["answers", "selected", "other", "note", "skipped", "x"]), inner, max_size=5)
    ),
)
answers = st.fixed_dictionaries(
    {},
    optional={
        "selected": st.lists(st.sampled_from(["Muscle", "Monday", "Tuesday", "monday"]), max_size=3) | json_values,
        "other": st.text() | json_values,
        "note": st.text() | json_values,
        "skipped": st.booleans() | json_values,
        "x": json_values,
    },
)


@settings(deadline=None)
@given(json_values | st.fixed_dictionaries({"answers": st.lists(answers, min_size=2, max_size=2)}))
def test_any_json_is_an_answer_or_is_refused(answer: Any) -> None:
    """Nothing else happens; and what is accepted says something on every question, or that it was skipped."""
    before = copy.deepcopy(answer)
    told = outcome(BOTH, answer)
    assert repr(answer) == repr(before)
    if isinstance(told, Rejected):
        assert told.status == 422
        assert all(fault.message for fault in told.faults)
        return
    for question, one in zip(BOTH.questions, told, strict=True):
        assert bool(one.selected or one.other) != one.skipped
        assert set(one.selected) <= {option.label for option in question.options}
        assert len(one.selected) <= 1 or question.multi
    assert BOTH.decode(json.loads(json.dumps(BOTH.encode(told)))) == told
