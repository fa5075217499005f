"""Files of a user's messages, as each provider gets them through its own SDK."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests import hostile
from tests.models import trip
from tests.models.checker import check
from tests.models.player import chat, player
from tests.models.speaking import PROVIDERS
from yourcall.entries import File
from yourcall.errors import FileGone
from yourcall.log import AssistantMessage, Done, UserMessage
from yourcall.models import files, openai_compatible, provider, pydantic_ai
from yourcall.ports import ModelRequest
from yourcall.testing import CallStep
from yourcall.trim import recent

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PDF = b"%PDF-1.7\n" + bytes(range(255, -1, -1))
BYTES = {"photo": PNG, "paper": PDF, "notes": "Día 1: 5 × 5\n".encode(), "film": b"\x00film"}
PHOTO = File("photo", "me.png", "image/png", len(PNG), "")
PAPER = File("paper", "plan.pdf", "application/pdf", 1234, "")
NOTES = File("notes", "notes.md", "text/markdown", 15, "")
FILM = File("film", "squat.mp4", "video/mp4", 2_500_000, "")


def reading(kept: Mapping[str, bytes] = BYTES) -> tuple[list[str], Any]:
    """A reader of these, and the list of what it was asked for."""
    asked: list[str] = []

    async def read(file: File) -> bytes:
        asked.append(file.id)
        if file.id not in kept:
            raise FileGone(file.id)
        return kept[file.id]

    return asked, read


async def sent(name: str, *transcript: Any, read: Any) -> list[Any]:
    """The content blocks of all messages of the user in a request, as they are on the wire."""
    make, encode = PROVIDERS[name]
    with player([encode("Seen.", [])]) as server:
        [event async for event in make(server).stream(ModelRequest(transcript, read=read))]
    (body,) = server.requests
    return said_in(body)


def said_in(body: dict[str, Any]) -> list[Any]:
    """The same of one request's body."""
    messages = [one["content"] for one in body.get("messages") or body["input"] if one.get("role") == "user"]
    return [block for content in messages for block in _blocks(content)]


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def image(name: str, data: bytes = PNG) -> Any:
    """The photo in a provider's protocol."""
    url = f"data:image/png;base64,{base64_of(data)}"
    match name:
        case "openai":
            return {"type": "image_url", "image_url": {"url": url}}
        case "openai-responses":
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case _:
            return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_of(data)}}


def document(name: str) -> Any:
    """The paper in a provider's protocol."""
    url = f"data:application/pdf;base64,{base64_of(PDF)}"
    match name:
        case "openai":
            return {"type": "file", "file": {"file_data": url, "filename": "filename.pdf"}}
        case "openai-responses":
            return {"type": "input_file", "file_data": url, "filename": "filename.pdf"}
        case _:
            source = {"type": "base64", "media_type": "application/pdf", "data": base64_of(PDF)}
            return {"type": "document", "source": source}


def words(blocks: list[Any]) -> list[str]:
    return [block["text"] for block in blocks if "text" in block]


@pytest.mark.parametrize("name", ["anthropic", "openai", "openai-responses"])
async def test_what_a_provider_takes_goes_as_it_is(name: str) -> None:
    """An image and a document as blocks with the very bytes, text as text; each under its name, before the message."""
    asked, read = reading()
    blocks = await sent(name, UserMessage("What do you see?", (PHOTO, PAPER, NOTES)), read=read)
    assert [block for block in blocks if "text" not in block] == [image(name), document(name)]
    assert words(blocks) == [
        "[file me.png, image/png, 264 B]",
        "[file plan.pdf, application/pdf, 1.2 KiB]",
        "[file notes.md, text/markdown, 15 B]\nDía 1: 5 × 5\n",
        "What do you see?",
    ]
    assert sorted(asked) == ["notes", "paper", "photo"]


@pytest.mark.parametrize("name", PROVIDERS)
async def test_every_model_sees_an_image_and_is_told_of_the_rest(name: str) -> None:
    """The images are in order and to the byte; a film, and an image that is gone, are named. The message is last."""
    _, read = reading()
    gone = File("gone", "gone.png", "image/png", 3, "")
    blocks = await sent(name, UserMessage("Look.", (FILM, PHOTO, gone, PHOTO)), read=read)
    assert [block for block in blocks if "text" not in block] == [image(name)] * 2
    said = words(blocks)
    assert any("squat.mp4" in text and "not readable" in text for text in said)
    assert any("gone.png" in text for text in said)
    assert said[-1] == "Look."


async def test_a_message_of_a_file_alone() -> None:
    """Nothing is said in the user's name."""
    _, read = reading()
    for text in ("", " \n"):
        blocks = await sent("anthropic", UserMessage(text, (PHOTO,)), read=read)
        assert blocks == [{"type": "text", "text": "[file me.png, image/png, 264 B]"}, image("anthropic")]


@pytest.mark.parametrize("name", ["anthropic", "openai", "openai-responses"])
async def test_the_same_is_sent_again_with_the_steps_between(name: str) -> None:
    """A later request has the file where it was, byte for byte; a message without files is as it always was."""
    _, read = reading()
    first = UserMessage("Look.", (PHOTO,))
    before = await sent(name, first, read=read)
    after = await sent(name, first, AssistantMessage("Seen."), UserMessage("And?"), read=read)
    assert after[: len(before)] == before
    assert words(after[len(before) :]) == ["And?"]


@pytest.mark.parametrize(
    ("file", "kept", "why"),
    [
        (FILM, BYTES, "[file squat.mp4, video/mp4, 2.4 MiB: not readable by this model]"),
        (PHOTO, {}, "[file me.png, image/png, 264 B: not there any more]"),
        (NOTES, {"notes": b"\xff\xfe"}, "[file notes.md, text/markdown, 15 B: not readable by this model]"),
        (
            File("photo", "big.png", "image/png", files.IMAGE_BYTES + 1, ""), BYTES,
            "[file big.png, image/png, 3.7 MiB: too large to be sent]",
        ),
        (
            File("notes", "log.txt", "text/plain", files.TEXT_BYTES + 1, ""), BYTES,
            "[file log.txt, text/plain, 195.3 KiB: too large to be sent]",
        ),
        (
            File("paper", "book.pdf", "application/pdf", files.REQUEST_BYTES + 1, ""), BYTES,
            "[file book.pdf, application/pdf, 13.4 MiB: too large to be sent]",
        ),
    ],
    ids=["a type that it does not take", "gone", "no text", "a large image", "a long text", "a large document"],
)  # fmt: skip
async def test_of_what_cannot_be_sent_the_model_is_told(file: File, kept: Any, why: str) -> None:
    """One line stands in its place, and the request is made: it would be refused with the file in every other try.

    What is not sent for its type or size is not read, either."""
    asked, read = reading(kept)
    assert await sent("anthropic", UserMessage("Look.", (file,)), read=read) == [
        {"type": "text", "text": why},
        {"type": "text", "text": "Look."},
    ]
    assert bool(asked) is ("too large" not in why and file is not FILM)


async def test_all_files_of_a_request_have_a_bound_together() -> None:
    """The latest are sent; of the earliest, which no longer fit, the model is told."""
    half = files.REQUEST_BYTES // 2
    papers = [File(f"{n}", f"{n}.pdf", "application/pdf", half, "") for n in range(3)]
    asked, read = reading({paper.id: PDF for paper in papers})
    blocks = await sent("anthropic", *(UserMessage("", (paper,)) for paper in papers), read=read)
    assert words(blocks) == [
        "[file 0.pdf, application/pdf, 6.7 MiB: too large to be sent]",
        "[file 1.pdf, application/pdf, 6.7 MiB]",
        "[file 2.pdf, application/pdf, 6.7 MiB]",
    ]
    assert sorted(asked) == ["1", "2"]


async def test_a_server_of_which_nothing_is_known_gets_text_alone() -> None:
    """Behind an address of the app's own an image might be refused each time; the app may say that it is not."""
    _, read = reading()
    message = UserMessage("Look.", (PHOTO, NOTES))
    with player([chat("Seen.")] * 3) as server:
        base = server.url + "/v1"
        blind = openai_compatible("m", base_url=base, attempts=1)
        seeing = openai_compatible("m", base_url=base, attempts=1, takes=["image/png"])
        theirs = OpenAIChatModel("m", provider=OpenAIProvider(base_url=base, api_key="k"))
        for model in (blind, seeing, pydantic_ai(theirs, attempts=1)):
            [event async for event in model.stream(ModelRequest((message,), read=read))]
        await theirs.client.close()
    contents = [body["messages"][0]["content"] for body in server.requests]
    assert [[block for block in content if block["type"] != "text"] for content in contents] == [
        [],
        [image("openai")],
        [],
    ]
    assert "Día 1" in str(contents[0])


# --------------------------------------------------------------------------- in conversations

NAMES = {
    "anthropic": "anthropic:claude-sonnet-5",
    "openai": "openai:gpt-4o",
    "openai-responses": "openai-responses:gpt-5",
}
ASKS: list[CallStep] = [("ask", {"what": "color"}), ("look", {}), ("ask", {"what": "size"})]


@pytest.mark.parametrize("name", NAMES)
async def test_a_file_is_sent_again_after_a_pause_by_another_process(name: str, tmp_path: Path) -> None:
    """The process that got it is gone; the one that takes the answers sends the same bytes in the same place."""
    photo = tmp_path / "me.png"
    photo.write_bytes(hostile.image())
    _, encode = PROVIDERS[name]
    with player([encode("", ASKS), encode("Seen.", [])]) as server:
        program = [sys.executable, trip.__file__, tmp_path, NAMES[name], server.base(name), photo]
        paused = await anyio.run_process([str(word) for word in program], stderr=None)
        assert [asked["name"] for asked in json.loads(paused.stdout)] == ["color", "size"]
        model = provider(NAMES[name], base_url=server.base(name), api_key="sk-test")
        assert await trip.answer(tmp_path, model, {"color": "red", "size": "L"}) == Done("success")
    first, second = server.requests
    assert image(name, photo.read_bytes()) in said_in(first)
    assert said_in(second)[: len(said_in(first))] == said_in(first)
    assert check(second) == 3


async def test_a_file_is_read_when_its_message_is_sent(tmp_path: Path) -> None:
    """What `trim` leaves out costs nothing. Where the bytes are lost, the model is told, and it goes on."""
    photo, kept = tmp_path / "me.png", tmp_path / "chat.db-files"
    photo.write_bytes(hostile.image())
    _, encode = PROVIDERS["anthropic"]
    with player([encode("Seen.", [])] * 4) as server:
        model = provider(NAMES["anthropic"], base_url=server.url, api_key="sk-test")
        await trip.say(tmp_path, model, files=[photo])
        await trip.say(tmp_path, model, "and now?")
        await trip.say(tmp_path, model, "and now?", trim=recent(1))
        kept.rename(tmp_path / "elsewhere")
        assert await trip.say(tmp_path, model, "and now?") == Done("success")
    sent, whole, cut, lost = map(said_in, server.requests)
    assert whole[:2] == sent[:2] == [{"type": "text", "text": words(sent)[0]}, image("anthropic", photo.read_bytes())]
    assert words(cut) == ["and now?"] * 2
    assert words(lost)[0] == words(sent)[0].removesuffix("]") + ": not there any more]"
    assert words(lost)[-3:] == ["and now?"] * 3
