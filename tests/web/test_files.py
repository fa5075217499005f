"""Files over HTTP: what is taken and what is not, what becomes of it, and how it is given back."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from PIL import Image
from pydantic import BaseModel

from tests import hostile
from tests.web.agents import engine_of
from tests.web.serving import Served, User, serve
from tests.web.test_bad_input import problem
from yourcall import Context, Engine, File, Form, Option, Question, Questions, Rejected, Upload, tool
from yourcall.errors import FileGone, ProgrammingError
from yourcall.web.files import FileRoutes

pytestmark = pytest.mark.anyio

NOT_ALLOWED = (415, "file-type", "This file type is not allowed.")
ANOTHER = (415, "file-type", "The content of this file is not what its name says.")


@tool
async def progress_photo(ctx: Context) -> str:
    """Ask for a photo."""
    photo = ctx.ask(Upload(["image/*"], title="Your photo", max_bytes=1 << 20, strip=True))
    return f"{photo.name}, {photo.type}, {photo.size} bytes: {hashlib.sha256(await ctx.read(photo)).hexdigest()}"


@tool
async def paper(ctx: Context) -> str:
    """Ask for a paper; the one that counts says so in its text."""

    async def signed(file: File) -> None:
        if file.type == "text/plain" and b"signed" not in await ctx.read(file):
            raise Rejected("This is not signed.")

    file = ctx.ask(Upload([".pdf", "text/*", ".zip", "image/png"], title="Your paper", check=signed))
    return f"Got {file.name!r}."


@tool
async def drawing(ctx: Context) -> str:
    """Ask for a drawing, SVG too."""
    return ctx.ask(Upload(["image/*", "image/svg+xml"])).type


class Size(BaseModel):
    waist: int


@tool
async def measure(ctx: Context) -> list[str]:
    """Ask twice for a size, the first time with pictures of the tape."""
    ctx.ask(Form(Size, "Your size", attachments=True))
    first = [f"{file.name}: {(await ctx.read(file)).decode()}" for file in ctx.attachments]
    ctx.ask(Form(Size, "Again"))
    return first + [file.name for file in ctx.attachments]


@tool
async def list_files(ctx: Context) -> list[str]:
    """What was sent."""
    return [f"{file.name}: {(await ctx.read(file)).decode()}" for file in await ctx.files()]


def engine_with(folder: Path, *steps: Any) -> Engine[Any]:
    return engine_of(
        steps, progress_photo, paper, drawing, measure, list_files, store=f"sqlite:///{folder.as_posix()}/chat.db"
    )  # fmt: skip


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    steps: list[Any] = [[("progress_photo", {})], "Thanks."]
    async with serve(engine_with(tmp_path, *steps)) as served:
        yield served


async def asked(user: User) -> tuple[str, str]:
    """A conversation, and the id of its open question."""
    conversation = await user.create()
    await user.say(conversation, "Go")
    await user.settled(conversation)
    return conversation, (await user.open(conversation))[0]["id"]


async def upload(
    user: User, interrupt: str, name: str, data: bytes, declared: str = "image/png", **headers: str
) -> httpx.Response:
    files = {"file": (name, data, declared)}
    return await user.post(f"/interrupts/{interrupt}/files", files=files, headers=headers)


def stored(folder: Path) -> list[Path]:
    """All files that there are, half received ones too."""
    return [path for path in (folder / "chat.db-files").rglob("*") if path.is_file()]


async def result(user: User, conversation: str) -> str:
    messages = (await user.settled(conversation))["messages"]
    found: str = [message["content"] for message in messages if message["role"] == "tool"][-1]
    return found


# --------------------------------------------------------------------------- the way of a file


async def test_a_photo_goes_to_the_tool_and_back_to_its_owner(served: Served, tmp_path: Path) -> None:
    """It is stored under a name of ours, for the process alone, without its metadata; the tool reads these bytes."""
    user = await served.user("ada")
    conversation, interrupt = await asked(user)
    response = await upload(user, interrupt, "me.jpg", hostile.photo(), "image/jpeg")
    assert response.status_code == 200, response.text
    (path,) = stored(tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "me" not in path.name
    data = path.read_bytes()
    assert await result(user, conversation) == (
        f"me.jpg, image/jpeg, {len(data)} bytes: {hashlib.sha256(data).hexdigest()}"
    )
    assert b"anary" in hostile.photo()
    assert b"anary" not in data
    with Image.open(io.BytesIO(data)) as image:
        assert not dict(image.getexif())
        assert image.size == (6, 8)  # upright: it was turned as its metadata said
    closed = (await user.snapshot(conversation))["interrupts"][0]["metadata"]["yourcall"]["ending"]
    assert closed["answer"]["name"] == "me.jpg"
    given = await user.get(f"/conversations/{conversation}/files/{closed['answer']['id']}")
    assert given.content == data
    assert given.headers["content-disposition"] == "attachment; filename*=UTF-8''me.jpg"
    assert given.headers["x-content-type-options"] == "nosniff"
    assert given.headers["cache-control"] == "no-store"
    assert given.headers["content-security-policy"].startswith("sandbox")


async def test_the_same_file_again_is_the_recorded_outcome(served: Served, tmp_path: Path) -> None:
    """By name and content; another content, or another name, is another answer and comes too late."""
    user = await served.user("ada")
    _, interrupt = await asked(user)
    photo = hostile.image()
    first = await upload(user, interrupt, "me.png", photo)
    again = await upload(user, interrupt, "me.png", photo)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    for name, data in (("me.png", hostile.image(size=(9, 9))), ("you.png", photo), ("me.png", bytes(2 << 20))):
        late = await upload(user, interrupt, name, data)
        assert late.status_code in (409, 413)
    assert len(stored(tmp_path)) == 1


async def test_a_question_that_closes_meanwhile_keeps_no_file(served: Served, tmp_path: Path) -> None:
    """A file for a skipped question is refused and nothing of it is left."""
    user = await served.user("ada")
    _, interrupt = await asked(user)
    assert (await user.post(f"/interrupts/{interrupt}/skip")).status_code == 200
    problem(await upload(user, interrupt, "me.png", hostile.image()), 410, "closed", "This question is no longer open.",
            ending={"kind": "skipped"})  # fmt: skip
    assert stored(tmp_path) == []


async def test_two_files_at_once_have_one_winner(served: Served, tmp_path: Path) -> None:
    """Twenty different photos race: one is the answer, and of the others nothing is left after a sweep."""
    user = await served.user("ada")
    _, interrupt = await asked(user)
    statuses = []

    async def send(n: int) -> None:
        statuses.append((await upload(user, interrupt, "me.png", hostile.image(size=(n + 1, 5)))).status_code)

    async with anyio.create_task_group() as tasks:
        for n in range(20):
            tasks.start_soon(send, n)
    assert sorted(statuses) == [200, *[409] * 19]
    await served.engine.sweep()
    assert len(stored(tmp_path)) == 1


async def test_a_deleted_conversation_takes_its_files_along(served: Served, tmp_path: Path) -> None:
    """The bytes, the row, and the way to them."""
    user = await served.user("ada")
    conversation, interrupt = await asked(user)
    await upload(user, interrupt, "me.png", hostile.image())
    await user.settled(conversation)
    assert len(stored(tmp_path)) == 1
    assert (await user.delete(f"/conversations/{conversation}")).status_code == 204
    assert stored(tmp_path) == []


async def test_what_is_somebody_elses_is_not_there(served: Served) -> None:
    """T8: an unknown and a foreign id get the same 404 on every route of files."""
    ada, bob = await served.user("ada"), await served.user("bob")
    conversation, interrupt = await asked(ada)
    for id in (interrupt, "0" * 32):
        problem(await upload(bob, id, "me.png", hostile.image()), 404, "not-found", "No such question.")
    answer = (await upload(ada, interrupt, "me.png", hostile.image())).json()
    assert answer["ending"] == {"kind": "answered"}
    file = (await ada.snapshot(conversation))["interrupts"][0]["metadata"]["yourcall"]["ending"]["answer"]["id"]
    mine = await bob.create()
    for path in (f"{conversation}/files/{file}", f"{mine}/files/{file}", f"{mine}/files/{'0' * 32}"):
        problem(await bob.get(f"/conversations/{path}"), 404, "not-found", "No such file.")
    other = await ada.create()
    problem(await ada.get(f"/conversations/{other}/files/{file}"), 404, "not-found", "No such file.")
    assert (await ada.get(f"/conversations/{conversation}/files/{file}")).status_code == 200


# --------------------------------------------------------------------------- what is not taken

LIES: dict[str, tuple[str, bytes]] = {
    "HTML named .png": ("page.png", hostile.HTML),
    "HTML named .html": ("page.html", hostile.HTML),
    "SVG with a script": ("icon.svg", hostile.SVG),
    "SVG named .png": ("icon.png", hostile.SVG),
    "a zip bomb named .jpg": ("holiday.jpg", hostile.bomb_zip(20)),
    "a zip bomb": ("holiday.zip", hostile.bomb_zip(20)),
    "a JPEG named .png": ("me.png", hostile.image("JPEG")),
    "half an image": ("me.png", hostile.image()[:40]),
    "no suffix": ("me", hostile.image()),
    "a program": ("me.png", b"MZ" + bytes(500)),
    "a text": ("me.png", hostile.TEXT),
    "a PDF": ("me.pdf", hostile.PDF),
    "two suffixes": ("me.png.html", hostile.image()),
    "an image nobody can look into": ("me.heic", b"\0\0\0\x18ftypheic" + bytes(50)),
}


BROKEN = {"a zip bomb named .jpg", "a JPEG named .png", "half an image", "a program", "a text"}
"""No page in disguise: whoever sent it may have a file that is broken, or has the wrong name, and is told so."""


@pytest.mark.parametrize("lie", LIES)
async def test_T13_name_content_and_rules_must_agree(served: Served, tmp_path: Path, lie: str) -> None:
    """What its sender says of its type is no evidence; the question stays open and nothing is kept."""
    user = await served.user("ada")
    conversation, interrupt = await asked(user)
    problem(await upload(user, interrupt, *LIES[lie]), *(ANOTHER if lie in BROKEN else NOT_ALLOWED))
    assert len(await user.open(conversation)) == 1
    assert stored(tmp_path) == []
    assert (await upload(user, interrupt, "me.png", hostile.image(), "text/html")).status_code == 200


async def test_T13_an_image_that_is_too_large_is_not_decoded(served: Served) -> None:
    """3,600 megapixels in a hundred bytes: refused by what the header says."""
    user = await served.user("ada")
    _, interrupt = await asked(user)
    detail = "This image is too large: more than 40 megapixels."
    problem(await upload(user, interrupt, "me.png", hostile.bomb_png()), 422, "invalid-answer", detail)


async def test_an_empty_file_is_refused(served: Served) -> None:
    user = await served.user("ada")
    _, interrupt = await asked(user)
    problem(await upload(user, interrupt, "me.png", b""), 422, "invalid-answer", "This file is empty.")


@pytest.mark.parametrize("announced", [True, False])
async def test_T13_a_file_is_read_up_to_the_limit_of_its_question(
    served: Served, tmp_path: Path, announced: bool
) -> None:
    """What is above it is refused by what is announced, and else by reading; nothing of it stays."""
    user = await served.user("ada")
    _, interrupt = await asked(user)
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="me.png"\r\n\r\n'

    async def body() -> AsyncIterator[bytes]:
        yield head
        for _ in range(100):
            yield bytes(1 << 16)

    length = {"Content-Length": str(len(head) + (100 << 16))} if announced else {}
    headers = {"Content-Type": "multipart/form-data; boundary=x", **length}
    response = await user.post(f"/interrupts/{interrupt}/files", content=body(), headers=headers)
    problem(response, 413, "too-large", "The file is larger than 1 MiB.")
    assert stored(tmp_path) == []
    assert (await upload(user, interrupt, "me.png", hostile.image())).status_code == 200


async def test_T13_json_is_no_file(served: Served) -> None:
    """Neither a path nor content that JSON describes is one, and no answer on the other route."""
    user = await served.user("ada")
    conversation, interrupt = await asked(user)
    body = {"file": "/etc/passwd", "files": {"path": "/etc/passwd"}, "name": "me.png", "content": "AAAA"}
    response = await user.post(f"/interrupts/{interrupt}/files", json=body)
    problem(response, 415, "media-type", "Send the file as multipart/form-data.")
    problem(await user.answer(interrupt, body), 409, "wrong-channel", "Answer this question with a file.")
    frames = await user.run(conversation, resume=[{"interruptId": interrupt, "status": "resolved", "payload": body}])
    assert "wrong-channel" in json.dumps([frame.event for frame in frames])
    assert len(await user.open(conversation)) == 1


async def test_a_file_for_another_kind_of_question(tmp_path: Path) -> None:
    """A form is not answered by a file."""
    async with serve(engine_of([[("pick", {})], "Thanks."])) as served:
        user = await served.user("ada")
        _, interrupt = await asked(user)
        response = await upload(user, interrupt, "me.png", hostile.image())
        problem(response, 409, "wrong-channel", "Answer this question with its form.")


PARTS: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"--x--\r\n", 422, "Send one file."),
    "no end": (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nabc',
        400,
        "The body is not valid multipart/form-data.",
    ),
    "another name": (
        b'--x\r\nContent-Disposition: form-data; name="files.path"; filename="a.png"\r\n\r\nabc\r\n--x--\r\n',
        422,
        "Expected a file under the name `file`.",
    ),
    "a field": (
        b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n/etc/passwd\r\n--x--\r\n',
        422,
        "Expected a file under the name `file`.",
    ),
    "garbage": (b"garbage", 400, "The body is not valid multipart/form-data."),
    "headers without end": (
        b"--x\r\n" + b"A: b\r\n" * 5000,
        400,
        "The body is not valid multipart/form-data.",
    ),
    "much behind it": (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nabc\r\n--x--\r\n' + bytes(99_999),
        400,
        "The body is not valid multipart/form-data.",
    ),
}


@pytest.mark.parametrize("part", PARTS)
async def test_a_body_that_is_not_one_file(served: Served, tmp_path: Path, part: str) -> None:
    """Every way to send something else is named, and nothing stays."""
    user = await served.user("ada")
    _, interrupt = await asked(user)
    body, status, detail = PARTS[part]
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    response = await user.post(f"/interrupts/{interrupt}/files", content=body, headers=headers)
    assert (response.status_code, response.json()["detail"]) == (status, detail)
    assert stored(tmp_path) == []


async def test_several_files_are_not_one(served: Served, tmp_path: Path) -> None:
    user = await served.user("ada")
    _, interrupt = await asked(user)
    files = [("file", ("a.png", hostile.image(), "image/png")), ("file", ("b.png", hostile.image(), "image/png"))]
    response = await user.post(f"/interrupts/{interrupt}/files", files=files)
    assert (response.status_code, response.json()["detail"]) == (422, "Send one file, and nothing else.")
    assert stored(tmp_path) == []


NAMES = {
    "../../x.png": "x.png",
    "..\\..\\windows\\x.png": "x.png",
    "C:\\Users\\ada\\me.png": "me.png",
    "/etc/cron.d/x.png": "x.png",
    "a\u202egnp.exe.png": "a[U+202E]gnp.exe.png",
    "x" * 300 + ".png": "x" * 116 + ".png",
    '"><img src=x onerror=alert(1)>.png': '"><img src=x onerror=alert(1)>.png',
    "größe 写真.png": "größe 写真.png",
    "a\r\nSet-Cookie: b.png": "a Set-Cookie: b.png",
}


@pytest.mark.parametrize("name", NAMES)
async def test_T13_a_name_is_for_people_and_never_a_path(served: Served, tmp_path: Path, name: str) -> None:
    """Whatever it says, the file is stored under a random name, and the name is text: in JSON and in a header."""
    user = await served.user("ada")
    conversation, interrupt = await asked(user)
    assert (await upload(user, interrupt, name, hostile.image())).status_code == 200
    (path,) = stored(tmp_path)
    assert path.parent.parent == tmp_path / "chat.db-files"
    answer = (await user.snapshot(conversation))["interrupts"][0]["metadata"]["yourcall"]["ending"]["answer"]
    assert answer["name"] == NAMES[name]
    given = await user.get(f"/conversations/{conversation}/files/{answer['id']}")
    assert given.headers["content-disposition"].isascii()
    assert "set-cookie" not in given.headers


# --------------------------------------------------------------------------- what else is taken


async def test_papers_are_told_by_their_content_too(tmp_path: Path) -> None:
    """PDF, text and an archive where they are named; a check may read the file while the card is open."""
    async with serve(engine_with(tmp_path, *[[("paper", {})], "Thanks."] * 5)) as served:
        user = await served.user("ada")
        conversation, interrupt = await asked(user)
        for name, data, told in (
            ("a.pdf", hostile.TEXT, ANOTHER),
            ("a.pdf", hostile.HTML + hostile.PDF, NOT_ALLOWED),
            ("a.txt", hostile.HTML, NOT_ALLOWED),
            ("a.txt", b"a\0b", ANOTHER),
            ("a.zip", hostile.PDF, ANOTHER),
            ("a.html", hostile.HTML, NOT_ALLOWED),
            ("a.js", b"alert(1)", NOT_ALLOWED),
            ("a.xml", b"<?xml version='1.0'?><a/>", NOT_ALLOWED),
        ):
            problem(await upload(user, interrupt, name, data), *told)
        problem(await upload(user, interrupt, "a.txt", hostile.TEXT), 422, "rejected", "This is not signed.")
        await served.engine.sweep()
        assert stored(tmp_path) == []
        assert (await upload(user, interrupt, "a.txt", b"signed")).status_code == 200
        assert await result(user, conversation) == "Got 'a.txt'."
        for name, data in (("a.pdf", hostile.PDF), ("b.zip", hostile.bomb_zip(1)), ("notes.md", b"# signed\n")):
            conversation, interrupt = await asked(user)
            assert (await upload(user, interrupt, name, data)).status_code == 200, name


async def test_T13_polyglots_and_drawings_are_given_back_inert(tmp_path: Path) -> None:
    """A GIF that is a script, an SVG where SVG was asked for: attachments, of a type that nothing runs."""
    async with serve(engine_with(tmp_path, *[[("drawing", {})], "Thanks."] * 2)) as served:
        user = await served.user("ada")
        for name, data, shown in (
            ("a.gif", hostile.gif_script(), "image/gif"),
            ("a.svg", hostile.SVG, "application/octet-stream"),
        ):
            conversation, interrupt = await asked(user)
            assert (await upload(user, interrupt, name, data)).status_code == 200
            (one,) = (await user.snapshot(conversation))["interrupts"]
            file = one["metadata"]["yourcall"]["ending"]["answer"]["id"]
            given = await user.get(f"/conversations/{conversation}/files/{file}")
            assert given.headers["content-type"] == shown
            assert given.headers["content-disposition"].startswith("attachment")
            assert given.headers["x-content-type-options"] == "nosniff"


async def test_a_file_that_is_gone_is_told_so(served: Served, tmp_path: Path) -> None:
    """Somebody removed it from the disk: 404, and a tool that reads it gets `FileGone`."""
    user = await served.user("ada")
    conversation, interrupt = await asked(user)
    await upload(user, interrupt, "me.png", hostile.image())
    answer = (await user.snapshot(conversation))["interrupts"][0]["metadata"]["yourcall"]["ending"]["answer"]
    await user.settled(conversation)
    stored(tmp_path)[0].unlink()
    problem(await user.get(f"/conversations/{conversation}/files/{answer['id']}"), 404, "not-found", "No such file.")
    with pytest.raises(FileGone):
        await served.engine.files.read("ada", File(**answer))


# --------------------------------------------------------------------------- with messages


async def send(user: User, name: str, data: bytes) -> dict[str, Any]:
    response = await user.post("/files", files={"file": (name, data, "text/plain")})
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_a_message_brings_files(tmp_path: Path) -> None:
    """Sent ahead and named in the message, they are kept with it, shown with it, and there for tools to read."""
    async with serve(engine_with(tmp_path, [("list_files", {})], "Thanks.")) as served:
        user = await served.user("ada")
        conversation = await user.create()
        one, two = await send(user, "../a.txt", b"first"), await send(user, "b.md", b"second")
        assert one == {"id": one["id"], "name": "a.txt", "type": "text/plain", "size": 5, "sha256": one["sha256"]}
        seq = await user.say(conversation, "See", id="m1", files=[two["id"], one["id"]])
        assert await user.say(conversation, "See", id="m1", files=[two["id"], one["id"]]) == seq
        assert json.loads(await result(user, conversation)) == ["a.txt: first", "b.md: second"]
        snapshot = await user.snapshot(conversation)
        assert snapshot["messages"][0]["metadata"] == {"yourcall": {"files": [two, one]}}
        frames = await user.events(conversation)
        (said,) = [frame.event["value"] for frame in frames if frame.event.get("name") == "yourcall.user"]
        assert said == {"id": "m1", "text": "See", "files": [two, one]}
        given = await user.get(f"/conversations/{conversation}/files/{one['id']}")
        assert (given.content, given.headers["content-type"]) == (b"first", "text/plain")


async def test_a_message_names_only_files_of_its_user(tmp_path: Path) -> None:
    """Unknown, somebody else's, gone, twice, or too many: named in the problem, and no message is written."""
    async with serve(engine_with(tmp_path, "Thanks.")) as served:
        ada, bob = await served.user("ada"), await served.user("bob")
        conversation = await ada.create()
        mine, hers = await send(ada, "a.txt", b"a"), await send(bob, "b.txt", b"b")
        gone = await send(ada, "c.txt", b"c")
        await served.engine.files.rows.drop("ada", gone["id"])
        for files, place in (
            ([mine["id"], "0" * 32], "/files/1"),
            ([hers["id"]], "/files/0"),
            ([gone["id"]], "/files/0"),
            ([mine["id"], mine["id"]], "/files/1"),
            (["x"] * 11, "/files"),
            ("x", "/files"),
            ([{"path": "/etc/passwd"}], "/files"),
        ):
            response = await ada.post(f"/conversations/{conversation}/messages", json={"text": "Hi", "files": files})
            assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, place)
        assert (await ada.snapshot(conversation))["messages"] == []
        await ada.say(conversation, "Hi", files=[mine["id"]])


def test_where_files_have_no_place_the_server_says_so() -> None:
    """A store without a folder beside it, and no `blobs`: a page that asks offers nothing."""
    engine = Engine(engine_of([]).agent, store="postgresql://127.0.0.1/none")
    assert FileRoutes(engine).taken() is None
    assert not engine.takes_files


async def test_a_file_comes_once(tmp_path: Path) -> None:
    """Named by another message, or by an answer, it is refused in words, and nothing is written; the message that
    brought it can still be sent again."""
    async with serve(engine_with(tmp_path, [("measure", {})], "Thanks.")) as served:
        user = await served.user("ada")
        conversation, interrupt = await asked(user)
        one, two = await send(user, "a.txt", b"a"), await send(user, "b.txt", b"b")
        elsewhere = await user.create()
        await user.say(elsewhere, "See", id="m1", files=[one["id"]])
        before = (await user.snapshot(conversation))["head"]
        files = [two["id"], one["id"]]
        for response in (
            await user.post(f"/conversations/{conversation}/messages", json={"text": "Hi", "id": "m2", "files": files}),
            await user.answer(interrupt, {"waist": 80, "files": files}),
        ):
            assert response.status_code == 422, response.text
            (fault,) = response.json()["errors"]
            assert (fault["pointer"], fault["detail"]) == (
                "/files/1",
                "This file came with something else already. Send it again.",
            )
        assert (await user.snapshot(conversation))["head"] == before
        await user.say(elsewhere, "See", id="m1", files=[one["id"]])
        await user.say(conversation, "Hi", id="m2", files=[two["id"]])


async def test_a_file_may_say_it_all(tmp_path: Path) -> None:
    """A message without a word is one if it brings a file."""
    async with serve(engine_with(tmp_path, "Thanks.")) as served:
        user = await served.user("ada")
        conversation = await user.create()
        response = await user.post(f"/conversations/{conversation}/messages", json={"text": "", "files": []})
        problem(response, 422, "invalid-request", "Write something.")
        file = await send(user, "a.txt", b"a")
        await user.say(conversation, "", files=[file["id"]])
        said, reply = (await user.settled(conversation))["messages"]
        assert (said["content"], said["metadata"]["yourcall"]["files"]) == ("", [file])
        assert reply["content"] == "Thanks."


async def test_what_is_sent_ahead_keeps_the_same_rules(tmp_path: Path) -> None:
    """Nobody asked for it, so nothing that a browser runs, no archive, and not more than 10 MiB."""
    async with serve(engine_with(tmp_path)) as served:
        user = await served.user("ada")
        for name, data in (("a.html", hostile.HTML), ("a.svg", hostile.SVG), ("a.zip", hostile.bomb_zip(1))):
            response = await user.post("/files", files={"file": (name, data, "image/png")})
            assert (response.status_code, response.json()["type"]) == (415, "urn:yourcall:problem/file-type")
        response = await user.post("/files", files={"file": ("a.txt", b"a" * ((10 << 20) + 1), "text/plain")})
        problem(response, 413, "too-large", "The file is larger than 10 MiB.")
        assert stored(tmp_path) == []


# --------------------------------------------------------------------------- with answers


async def test_an_answer_brings_files_where_they_were_asked_for(tmp_path: Path) -> None:
    """Named beside the fields, kept with the answer, read by the tool; a form that takes none refuses them."""
    async with serve(engine_with(tmp_path, [("measure", {})], "Thanks.")) as served:
        user, bob = await served.user("ada"), await served.user("bob")
        conversation, interrupt = await asked(user)
        file, his = await send(user, "tape.txt", b"80"), await send(bob, "his.txt", b"90")
        for files, place in (([his["id"]], "/files/0"), ("x", "/files"), ([file["id"], "0" * 32], "/files/1")):
            response = await user.answer(interrupt, {"waist": 80, "files": files})
            assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, place)
        response = await user.answer(interrupt, {"waist": "80", "files": [file["id"]]})
        assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/waist")
        for _ in range(2):  # the identical answer again is the recorded outcome
            response = await user.answer(interrupt, {"waist": 80, "files": [file["id"]]})
            assert response.status_code == 200, response.text
        await user.settled(conversation)
        first, second = (await user.snapshot(conversation))["interrupts"]
        assert first["metadata"]["yourcall"]["ask"]["attachments"] is True
        assert first["metadata"]["yourcall"]["ending"]["files"] == [file]
        problem(await user.answer(second["id"], {"waist": 80, "files": []}), 422, "unknown-field", "Unexpected field.")
        assert (await user.answer(second["id"], {"waist": 80})).status_code == 200
        assert json.loads(await result(user, conversation)) == ["tape.txt: 80"]


@tool
async def ask_bob(ctx: Context) -> list[str]:
    """Bob answers, with pictures of his."""
    said = Question("Does it hold?", [Option("Yes"), Option("No")])
    ctx.ask(Questions([said], to="bob", attachments=True))
    return [f"{file.name}: {(await ctx.read(file)).decode()}" for file in ctx.attachments]


async def test_whoever_is_asked_sends_files_of_their_own(tmp_path: Path) -> None:
    """They become files of the conversation, and are its owner's; of the owner's own files none can be named."""
    engine = engine_of([[("ask_bob", {})], "Thanks."], ask_bob, store=f"sqlite:///{tmp_path.as_posix()}/chat.db")
    async with serve(engine) as served:
        ada, bob = await served.user("ada"), await served.user("bob")
        conversation, interrupt = await asked(ada)
        hers, his = await send(ada, "hers.txt", b"no"), await send(bob, "his.txt", b"it does")
        answer = {"answers": [{"selected": ["Yes"]}]}
        response = await bob.answer(interrupt, answer | {"files": [hers["id"]]})
        assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/files/0")
        for _ in range(2):
            response = await bob.answer(interrupt, answer | {"files": [his["id"]]})
            assert response.status_code == 200, response.text
        assert json.loads(await result(ada, conversation)) == ["his.txt: it does"]
        place = f"/conversations/{conversation}/files/{his['id']}"
        assert (await ada.get(place)).content == b"it does"
        assert (await bob.get(place)).status_code == 404


def test_a_field_cannot_have_the_name_of_what_comes_along() -> None:
    """It fails when the form is made."""

    class Papers(BaseModel):
        files: str

    Form(Papers)
    with pytest.raises(ProgrammingError, match="files"):
        Form(Papers, attachments=True)
