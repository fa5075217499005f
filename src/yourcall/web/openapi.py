"""What the endpoints take and give, for OpenAPI: words beside the code, since bodies are read by hand."""

from __future__ import annotations

from typing import Any, Final

from yourcall.entries import Json
from yourcall.faults import MAX_WORDS


def _object(required: str = "", **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def _body(schema: Json, *, required: bool = True) -> Json:
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def _json(description: str, schema: Json) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_TEXT: Final = {"type": "string"}
_NULL_TEXT: Final = {"type": ["string", "null"]}
_ID: Final = {"type": "string", "minLength": 1, "maxLength": 200}
_ANY: Final[Json] = {}
_OBJECT: Final = {"type": "object"}
_PHASE: Final = {"enum": ["run", "waiting", "done"]}
_ENDING: Final = {
    "type": "object",
    "properties": {
        "kind": {
            "enum": "answered skipped declined expired superseded cancelled unavailable changed".split(),
        },
        "note": _TEXT,
        "answer": _ANY,
    },
    "required": ["kind"],
}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_AGENT: Final = _object("name standIn suggestions", name=_TEXT, standIn=_NULL_TEXT, suggestions=_TEXTS)
_INTERRUPT: Final = {
    "type": "object",
    "description": "An AG-UI interrupt; ours is under metadata.yourcall: kind, ask, digest, tool, to, ending, and "
    "where questions are listed askedAt and conversation, which is null if somebody else asks.",
}
_STREAM: Final = {
    "description": "AG-UI events; the last is RUN_FINISHED or RUN_ERROR, else the stream was cut.",
    "content": {"text/event-stream": {"schema": _TEXT}},
}
_PROBLEM: Final = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "description": "Ends in the slug, after the last slash."},
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "A sentence for people."},
        "ending": _ENDING,
        "errors": {
            "type": "array",
            "items": _object("pointer detail type", pointer=_TEXT, detail=_TEXT, type=_TEXT),
        },
    },
    "required": ["type", "title", "status", "detail"],
}

PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "description": "Refused (RFC 9457); nothing was changed.",
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    },
    "5XX": {
        "description": "Not possible just now (RFC 9457); nothing was changed. A 503 says when to come back.",
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    },
}

CREATE: Final[dict[str, Any]] = {
    "status_code": 201,
    "openapi_extra": _body(_object(id=_ID), required=False),
    "responses": {201: _json("Created.", _object("id", id=_ID))},
}
LIST: Final[dict[str, Any]] = {
    "openapi_extra": {"parameters": [{"name": "before", "in": "query", "schema": _TEXT}]},
    "responses": {
        200: _json(
            "The latest first; `next` is the `before` of those that follow.",
            _object(
                "conversations next",
                conversations={
                    "type": "array",
                    "items": _object(
                        "id phase updatedAt opening", id=_ID, phase=_PHASE, updatedAt=_TEXT, opening=_TEXT
                    ),
                },
                next=_NULL_TEXT,
            ),
        )
    },
}
SNAPSHOT: Final[dict[str, Any]] = {
    "responses": {
        200: _json(
            "The conversation.",
            _object(
                "id head phase done agent messages interrupts",
                id=_ID,
                head={"type": "integer"},
                phase=_PHASE,
                done={
                    "anyOf": [
                        _object("reason retryable message", reason=_TEXT, retryable={"type": "boolean"}, message=_TEXT),
                        {"type": "null"},
                    ]
                },
                agent=_AGENT,
                messages={"type": "array", "items": {"type": "object", "description": "An AG-UI message."}},
                interrupts={"type": "array", "items": _INTERRUPT},
            ),
        )
    }
}
INBOX: Final[dict[str, Any]] = {
    "openapi_extra": {"parameters": [{"name": "before", "in": "query", "schema": _TEXT}]},
    "responses": {
        200: _json(
            "The latest first; `next` is the `before` of those that follow.",
            _object("interrupts next", interrupts={"type": "array", "items": _INTERRUPT}, next=_NULL_TEXT),
        )
    },
}
INTERRUPT: Final[dict[str, Any]] = {"responses": {200: _json("The question.", _INTERRUPT)}}
DELETE: Final[dict[str, Any]] = {"status_code": 204}
MESSAGE: Final[dict[str, Any]] = {
    "status_code": 202,
    "openapi_extra": _body(_object("text", text=_TEXT, id=_ID, files={"type": "array", "items": _ID, "maxItems": 10})),
    "responses": {202: _json("Recorded.", _object("seq", seq={"type": "integer"}))},
}
NOTHING: Final[dict[str, Any]] = {
    "status_code": 202,
    "openapi_extra": _body(_object(), required=False),
    "responses": {202: _json("Recorded.", _object())},
}
EVENTS: Final[dict[str, Any]] = {
    "openapi_extra": {
        "parameters": [
            {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}},
            {"name": "after", "in": "query", "schema": {"type": "integer"}},
        ]
    },
    "responses": {200: _STREAM},
}
_ENDED: Final = {200: _json("How the question closed.", _object("id ending", id=_TEXT, ending=_ENDING))}
ANSWER: Final[dict[str, Any]] = {
    "openapi_extra": _body(_ANY) | {"parameters": [{"name": "If-Match", "in": "header", "schema": _TEXT}]},
    "responses": _ENDED,
}
SKIP: Final[dict[str, Any]] = {
    "openapi_extra": _body(_object(note=_NULL_TEXT | {"maxLength": MAX_WORDS}), required=False),
    "responses": _ENDED,
}
_MULTIPART: Final[Json] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": _object("file", file={"type": "string", "format": "binary"})},
        },
    }
}
_FILE: Final = _object(
    "id name type size sha256", id=_TEXT, name=_TEXT, type=_TEXT, size={"type": "integer"}, sha256=_TEXT
)
FILE_ANSWER: Final[dict[str, Any]] = {
    "openapi_extra": _MULTIPART | {"parameters": [{"name": "If-Match", "in": "header", "schema": _TEXT}]},
    "responses": _ENDED,
}
FILE: Final[dict[str, Any]] = {
    "status_code": 201,
    "openapi_extra": _MULTIPART,
    "responses": {201: _json("Received; name it in a message within an hour.", _FILE)},
}
FILE_CONTENT: Final[dict[str, Any]] = {
    "responses": {
        200: {
            "description": "The file, as an attachment.",
            "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
}
SECRET: Final[dict[str, Any]] = {
    "openapi_extra": _body(_object("value", value=_TEXT | {"format": "password", "writeOnly": True}))
    | {"parameters": [{"name": "If-Match", "in": "header", "schema": _TEXT}]},
    "responses": _ENDED,
}
CREDENTIALS: Final[dict[str, Any]] = {
    "responses": {
        200: _json(
            "What the user has given to be kept; never a value.",
            _object(
                "credentials",
                credentials={
                    "type": "array",
                    "items": _object("name conversation", name=_ID, conversation=_NULL_TEXT),
                },
            ),
        )
    }
}
_RESUME: Final = {
    "type": "object",
    "properties": {"interruptId": _ID, "status": {"enum": ["resolved", "cancelled"]}, "payload": _ANY},
    "required": ["interruptId", "status"],
}
AGUI: Final[dict[str, Any]] = {
    "openapi_extra": _body(
        {
            "type": "object",
            "description": "AG-UI's RunAgentInput; these of its members are read.",
            "properties": {
                "threadId": _ID,
                "runId": _ID,
                "messages": {"type": "array", "items": _OBJECT},
                "resume": {"type": ["array", "null"], "items": _RESUME},
            },
            "required": ["threadId", "runId", "messages"],
        }
    ),
    "responses": {200: _STREAM},
}
CALL: Final[dict[str, Any]] = {
    "openapi_extra": _body(_ANY)
    | {"parameters": [{"name": "Yourcall-Signature", "in": "header", "required": True, "schema": _TEXT}]},
    "responses": _ENDED,
}
_COUNT: Final = {"type": "integer"}
_TAKEN: Final = _object("accept maxBytes most", accept=_TEXTS, maxBytes=_COUNT, most=_COUNT) | {
    "type": ["object", "null"],
    "description": "What may be sent to /files, if anything.",
}
ABOUT: Final[dict[str, Any]] = {
    "responses": {200: _json("The agent.", _object("agent files", agent=_AGENT, files=_TAKEN))}
}
