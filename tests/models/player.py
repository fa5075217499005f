"""A provider's server that plays what a test has written down, event by event, and keeps each request as it came."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECE = 7
"""Characters of a delta: so few that every text and every argument comes in several."""


@dataclass(frozen=True)
class Reply:
    """One response: an HTTP error, or a stream of events, after which the connection is closed."""

    events: Sequence[Any] = ()
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Player:
    """The running server; `requests` are the bodies of what it was sent."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self._replies = iter(replies)

    def base(self, name: str) -> str:
        """What the provider's SDK takes as its base URL."""
        return self.url + ("/v1" if name.startswith("openai") else "")

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers["content-length"])
        self.requests.append(json.loads(handler.rfile.read(length)))
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        reply = next(self._replies)
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        if reply.status != 200:
            body = json.dumps(reply.body).encode()
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for event in reply.events:
            handler.wfile.write(_frame(event))
            handler.wfile.flush()


def _frame(event: Any) -> bytes:
    """An event; or data as it is, alone or with the event's name."""
    match event:
        case {"type": str(name)}:
            return f"event: {name}\ndata: {json.dumps(event)}\n\n".encode()
        case (name, data):
            return f"event: {name}\ndata: {data}\n\n".encode()
        case str():
            return f"data: {event}\n\n".encode()
        case _:
            return f"data: {json.dumps(event)}\n\n".encode()


@contextmanager
def player(replies: Iterable[Reply]) -> Iterator[Player]:
    """Play these on a free port, one a request, until the block ends."""
    played = Player(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            played.answer(self)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        played.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield played
        finally:
            server.shutdown()
            thread.join()


def pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


# --------------------------------------------------------------------------- Anthropic Messages


def messages(blocks: Sequence[dict[str, Any]], stop: str | None = "tool_use", **end: Any) -> Reply:
    """A stream of these content blocks; one without `stop` is cut before its end, cleanly."""
    usage = {"input_tokens": 11, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-5"}
    events: list[Any] = [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
    ]
    for index, block in enumerate(blocks):
        start, deltas = _cut(block)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    if stop:
        delta = {"stop_reason": stop, "stop_sequence": None} | end
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
        events.append({"type": "message_stop"})
    return Reply(events)


def _cut(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block's start, and the deltas that complete it, as Anthropic streams them."""
    match block:
        case {"type": "text", "text": text}:
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
            start = block | {"text": ""} | ({"citations": []} if cited else {})
            return start, [{"type": "text_delta", "text": piece} for piece in pieces(text)] + cited
        case {"type": "thinking", "thinking": thinking, "signature": signature}:
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(thinking)]
            return block | {"thinking": "", "signature": ""}, [
                *deltas,
                {"type": "signature_delta", "signature": signature},
            ]
        case {"type": "tool_use" | "server_tool_use", "input": arguments}:
            text = json.dumps(arguments)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(text)]]
            return block | {"input": {}}, deltas
        case _:
            return block, []


# --------------------------------------------------------------------------- Gemini


def gemini(parts: Sequence[dict[str, Any]], finish: str | None = "STOP") -> Reply:
    """A stream of these parts, one a chunk; one without `finish` is cut before its end, cleanly."""
    contents = [{"content": {"role": "model", "parts": [part]}, "index": 0} for part in parts]
    events: list[Any] = [{"candidates": [content]} for content in contents]
    if finish:
        end = {"content": {"role": "model", "parts": []}, "finishReason": finish, "index": 0}
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        events.append({"candidates": [end], "usageMetadata": usage})
    return Reply(events)


# --------------------------------------------------------------------------- OpenAI


def chat(text: str = "", calls: Sequence[dict[str, Any]] = (), finish: str | None = "stop") -> Reply:
    """A stream of Chat Completions; one without `finish` is cut before its end, cleanly."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces(text)]
    for index, call in enumerate(calls):
        name = {"name": call["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": name}]})
        for piece in pieces(call["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    events: list[Any] = [chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        events.append(chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        events.append(chunk | {"choices": [], "usage": usage})
        events.append("[DONE]")
    return Reply(events)


def responses(items: Sequence[dict[str, Any]], status: str | None = "completed", **end: Any) -> Reply:
    """A stream of output items; one without `status` is cut before its end, cleanly."""
    response = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": [], "status": "in_progress",
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
    }  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "response.created", "response": response}]
    for index, item in enumerate(items):
        at = {"output_index": index, "item_id": item.get("id", "")}
        events.append({"type": "response.output_item.added", "output_index": index, "item": _opened(item)})
        match item:
            case {"type": "message", "content": [{"text": text} as part]}:
                part = part | {"text": ""}
                events.append({"type": "response.content_part.added", "content_index": 0, "part": part, **at})
                for piece in pieces(text):
                    event = {"type": "response.output_text.delta", "content_index": 0, "delta": piece, "logprobs": []}
                    events.append(event | at)
            case {"type": "function_call", "arguments": arguments}:
                for piece in pieces(arguments):
                    events.append({"type": "response.function_call_arguments.delta", "delta": piece, **at})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    if status:
        usage = {
            "input_tokens": 11, "output_tokens": 7, "total_tokens": 18,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 3},
        }  # fmt: skip
        whole = response | {"status": status, "output": list(items), "usage": usage} | end
        events.append({"type": f"response.{status}", "response": whole})
    return Reply([event | {"sequence_number": n} for n, event in enumerate(events)])


def _opened(item: dict[str, Any]) -> dict[str, Any]:
    match item:
        case {"type": "message"}:
            return item | {"content": [], "status": "in_progress"}
        case {"type": "function_call"}:
            return item | {"arguments": "", "status": "in_progress"}
        case _:
            return item
