"""What the coach does with keys, accounts and photos: over HTTP with the stand-ins, through the engine's own ways."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from coach import Services, build
from coach.elsewhere import NEVER_HERE
from coach.messages import understand
from coach.scene import Scene
from coach.tools import Coach
from tests.examples.stage import PLANNED, Chat, Reply, coach, profiles
from tests.oauth.stage import Browser
from tests.web.serving import Served, User, serve
from yourcall import Engine, Rejected
from yourcall.errors import CheckFailed

pytestmark = pytest.mark.anyio

KEY = "hevy-k3y/of ada's"
UNLOCKED = frozenset({"get_hevy_workout_history", "disconnect_hevy", "get_sleep", "disconnect_google_health"})


@pytest.fixture
async def engine(services: Services, tmp_path: Path) -> AsyncIterator[Engine[Coach]]:
    async with coach(tmp_path, services, public_url="http://127.0.0.1:1") as engine:
        yield engine


# --------------------------------------------------------------------------- Hevy


async def connected(chat: Chat) -> Reply:
    return await chat.secret((await chat.say("connect hevy")).card, KEY)


async def test_a_key_unlocks_the_tool_that_needs_it(engine: Engine[Coach]) -> None:
    """A wrong key leaves the card open; the right one is followed by the workouts, in any later chat, too."""
    chat = Chat(engine)
    asked = await chat.say("how did I train according to hevy?")
    assert (asked.tools, asked.card.kind) == (["connect_hevy"], "secret")
    assert "a stand-in" in asked.card.message
    with pytest.raises(Rejected, match="Hevy does not accept this key"):
        await chat.secret(asked.card, "wrong")
    shown = await chat.secret(asked.card, KEY)
    assert shown.tools == ["get_hevy_workout_history"]
    assert "Bench Press (Barbell): 3 x 8, up to 62.5 kg" in shown.text
    later = await Chat(engine, conversation="c2").say("how did I train according to hevy in the last week?")
    assert later.tools == ["get_hevy_workout_history"]
    assert "From Hevy, the last week:" in later.text
    assert KEY not in str((await engine.conversation("c1", user="ada").log()).entries)


async def test_a_key_is_of_its_user_alone(engine: Engine[Coach]) -> None:
    """What ada set up, bob is asked for."""
    await connected(Chat(engine))
    assert (await Chat(engine, "bob").say("my workouts at hevy")).tools == ["connect_hevy"]


async def test_a_key_is_taken_away_again(engine: Engine[Coach]) -> None:
    """By "disconnect hevy", and by "forget me": then the tool is not there any more, and the profile says so."""
    chat = Chat(engine)
    await connected(chat)
    assert "Connected: Hevy" in (await chat.say("what do you know about me?")).text
    assert "The Hevy key was removed" in (await chat.say("disconnect hevy")).text
    assert "Hevy is not connected" in (await chat.say("disconnect hevy")).text
    await connected(chat)
    await chat.click((await chat.say("forget me")).card, "Forget everything")
    assert "Connected" not in (await chat.say("what do you know about me?")).text


async def test_a_service_that_does_not_answer_is_said_to(tmp_path: Path) -> None:
    """A check that cannot be made keeps the card open; a service that is gone later is owned up to."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        asked = await chat.say("connect hevy")
        with pytest.raises(CheckFailed):
            await chat.secret(asked.card, KEY)
        assert await chat.open() == asked.cards


@pytest.mark.parametrize(
    "said",
    [
        "here is my hevy key 7f3a-c4n4ry",
        "my key is hevy-12345",
        "hevy-12345",
        "the hevy api key: 0f8fad5b-d9cb-469f-a165-70867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "my hevy password is letmein",
        "token = sk9d8f7s6d5f4g3h2j1k0l9",
    ],
)
def test_a_key_is_never_taken_in_the_chat(said: str) -> None:
    """It is said where keys belong, and nothing of what was typed goes on to a tool."""
    move = understand(said, Scene(heard=said))
    assert NEVER_HERE in move.text
    assert all(args == {} for _, args in move.calls)


@pytest.mark.parametrize(
    "said",
    ["my hevy key is wrong", "where do I find the key?", "what is the key to getting stronger", "bench 3x5 80kg"],
)
def test_talk_of_keys_is_not_taken_for_one(said: str) -> None:
    """Only what looks like a key is refused as one."""
    assert NEVER_HERE not in understand(said, Scene(heard=said)).text


# --------------------------------------------------------------------------- Google Health


@pytest.fixture
async def served(services: Services, tmp_path: Path) -> AsyncIterator[Served]:
    engine = build(tmp_path, services, pace=0)
    async with serve(engine, title="Coach") as served:
        engine.public_url = served.url
        yield served


async def said(user: User, text: str) -> Any:
    """Say it, and get the one question that this leads to."""
    await user.say("c", text)
    await user.events("c")
    (asked,) = await user.open("c")
    return asked


async def reply(user: User) -> str:
    text: str = (await user.settled("c"))["messages"][-1]["content"]
    return text


async def signed_in(user: User, interrupt: str, **answer: str) -> None:
    """Go to the provider, answer its one question, and come back."""
    browser = Browser(user)
    url = await browser.leave(interrupt)
    async with httpx.AsyncClient() as outside:
        page = await outside.get(url)
        assert "A stand-in for Google" in page.text
        assert "http" not in page.text  # what the page looks like comes from nowhere else
        back = await outside.post(url, data=answer)
    await browser.come(back.headers["location"])


@pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning")  # the stand-in's library, in its own thread
async def test_an_account_unlocks_the_tool_that_needs_it(served: Served) -> None:
    """A no at the provider is one; a yes is followed by the nights, by way of a token; and it can be taken back."""
    user = await served.user("ada")
    await user.create(id="c")
    asked = await said(user, "how did I sleep?")
    assert asked["metadata"]["yourcall"]["ask"]["called"] == "Google Health (a stand-in)"
    await signed_in(user, asked["id"], action="deny")
    assert "nothing was connected" in await reply(user)
    asked = await said(user, "connect google health")
    await signed_in(user, asked["id"], sub="alex@example.com")
    shown = await reply(user)
    assert "You have connected Google Health as alex@example.com." in str(await user.snapshot("c"))
    assert "From Google Health, 6 h 56 min on average:" in shown
    assert shown.count("asleep") == 7
    await user.say("c", "how did I sleep in the last 2 nights?")
    assert (await reply(user)).count("asleep") == 2
    await user.say("c", "disconnect google health")
    assert "Google Health was disconnected." in await reply(user)
    assert (await said(user, "how did I sleep?"))["metadata"]["yourcall"]["kind"] == "connect"


# --------------------------------------------------------------------------- photos


def with_place() -> bytes:
    """A photo that says where it was taken."""
    image, exif = Image.new("RGB", (64, 64), "teal"), Image.Exif()
    exif[0x010E] = "c4n4ry at home"
    out = io.BytesIO()
    image.save(out, "JPEG", exif=exif)
    return out.getvalue()


async def test_a_photo_is_kept_without_what_the_camera_wrote(served: Served, tmp_path: Path) -> None:
    """It is in the coach's own file, also once the conversation is gone; "forget me" removes it."""
    user = await served.user("ada")
    await user.create(id="c")
    asked = await said(user, "save a progress photo")
    assert b"c4n4ry" in with_place()
    sent = await user.post(f"/interrupts/{asked['id']}/files", files={"file": ("me.jpg", with_place(), "image/jpeg")})
    assert sent.status_code == 200, sent.text
    assert "The photo is kept, without its metadata. That makes 1 so far." in await reply(user)
    await user.delete("/conversations/c")
    assert await profiles(tmp_path).photos("ada") == [date.today()]
    assert b"JFIF" in (kept := (tmp_path / "profiles.db").read_bytes())
    assert b"c4n4ry" not in kept
    await user.create(id="c")
    await user.say("c", "what do you know about me?")
    assert "Progress photos: 1" in await reply(user)
    asked = await said(user, "forget me")
    await user.answer(asked["id"], {"answers": [{"selected": ["Forget everything"]}]})
    await reply(user)
    assert await profiles(tmp_path).photos("ada") == []


# --------------------------------------------------------------------------- the plan


async def test_a_plan_is_saved_as_it_was_edited(tmp_path: Path) -> None:
    """A day is written anew, another emptied; what is saved and shown later is that. A no saves nothing."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        shown = await chat.answer((await chat.say("plan my week")).card, PLANNED)
        refused = await chat.answer(shown.card, {"approved": False})
        assert "was not saved" in refused.text
        assert (await profiles(tmp_path).load("ada")).plan is None
        shown = await chat.click((await chat.say("plan my week")).card, "Plan that")
        with pytest.raises(Rejected, match="Leave at least one day"):
            await chat.approve(shown, Monday="", Thursday=" ")
        edited = await chat.approve(shown, Monday="only easy things\n\n- Dead bug: 3 x 5", Thursday="")
        assert "Monday: only easy things\n- Dead bug: 3 x 5" in edited.text
        assert "Thursday" not in edited.text
        assert "Dead bug" in (await chat.say("show my plan")).text


async def test_a_reason_with_a_no_is_heard(tmp_path: Path) -> None:
    """What the user wrote beside it says what to do instead."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        shown = await chat.answer((await chat.say("plan my week")).card, PLANNED)
        again = await chat.answer(shown.card, {"approved": False, "reason": "thursdays don't work"})
        assert again.tools == ["plan_week"]


# --------------------------------------------------------------------------- what is understood


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("connect hevy", "connect_hevy"),
        ("I want to link my Hevy account", "connect_hevy"),
        ("hevy", "connect_hevy"),
        ("how did I train according to hevy", "connect_hevy"),
        ("connect google health", "connect_google_health"),
        ("google fit", "connect_google_health"),
        ("how did I sleep", "connect_google_health"),
        ("how did I sleep last night?", "connect_google_health"),
        ("did i sleep well this week", "connect_google_health"),
        ("show me my sleep", "connect_google_health"),
        ("what was my sleep like", "connect_google_health"),
        ("save a progress photo", "save_progress_photo"),
        ("I want to upload a photo", "save_progress_photo"),
        ("can you take my picture", "save_progress_photo"),
        ("show my photos", "show_profile"),
        ("what can you connect to?", "ask_user"),
        ("connect a service", "ask_user"),
    ],
)
def test_what_lies_elsewhere_is_understood(said: str, tool: str) -> None:
    """Before anything is connected, each wish leads to the tool that asks for it."""
    assert [name for name, _ in understand(said, Scene(heard=said)).calls] == [tool]


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("how did I train according to hevy", "get_hevy_workout_history"),
        ("my hevy workouts of the last 2 months", "get_hevy_workout_history"),
        ("disconnect hevy", "disconnect_hevy"),
        ("I have a new hevy key", "connect_hevy"),
        ("how did I sleep", "get_sleep"),
        ("how was my sleep in the last 3 nights?", "get_sleep"),
        ("disconnect google health", "disconnect_google_health"),
        ("remove google", "disconnect_google_health"),
    ],
)
def test_what_is_connected_is_used(said: str, tool: str) -> None:
    """The same wishes afterwards."""
    assert [name for name, _ in understand(said, Scene(heard=said, offered=UNLOCKED)).calls] == [tool]


@pytest.mark.parametrize("said", ["I can't sleep", "how much sleep do I need", "I slept badly", "connect my garmin"])
def test_what_cannot_be_looked_up_is_not_pretended_to(said: str) -> None:
    """Talk of sleep is no wish to have it read, and other services are not there."""
    assert "connect_google_health" not in [name for name, _ in understand(said, Scene(heard=said)).calls]
