"""What a log says, in AG-UI's words: messages, and questions as interrupts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Final

from ag_ui import core

from yourcall import choose, confirm, entries
from yourcall.entries import Answered, Asked, Assistant, Closed, Entry, Json, Result, User
from yourcall.errors import Fault, Refused, Rejected
from yourcall.log import Log, as_read
from yourcall.questions import answer_schema
from yourcall.values import plain

REASON: Final = "input_required"
"""Why a run was interrupted. With `tool_call`, some clients would make up a tool's result from the raw answer."""


def messages(log: Log) -> list[Json]:
    """The conversation as AG-UI messages, in the order in which the model reads it. Needs a complete log.

    A call that still waits has no tool message; what the user wrote during a step follows that step's results.
    """
    return [_message(entry).model_dump(by_alias=True) for entry in as_read(log)]


def _message(entry: Entry) -> core.Message:
    match entry.body:
        case User(text) as said:
            files = {"yourcall": {"files": [file(one) for one in said.files]}} if said.files else None
            return core.UserMessage(id=user_id(said, entry.seq), content=text, metadata=files)
        case Assistant() as step:
            return _assistant(step)
        case Result() as result:
            return _tool(result)
    raise AssertionError(entry.kind)


def file(one: entries.File) -> Json:
    """What there is to know of a file; its bytes are had from their own route."""
    return asdict(one)


def interrupts(log: Log) -> list[Json]:
    """Every question of the conversation, open or closed, in the order in which they were asked."""
    known, endings = Known(log), _endings(log)
    return [known.interrupt(ask, endings.get(ask.id)).model_dump(by_alias=True) for ask in known.asks.values()]


def question(ask: entries.Interrupt, ended: Answered | Closed | None = None, *, owned: bool = False) -> Json:
    """A question by itself, for whoever was asked it; `to` is only for an owner, who sees that another was asked."""
    shown = ask if owned else replace(ask, to=None)
    return Known().interrupt(shown, ended).model_dump(by_alias=True)


def ending(body: Answered | Closed, interrupt: entries.Interrupt | None = None) -> Json:
    """How a question closed; with the question, also what was answered, as far as possible as it was sent."""
    if isinstance(body, Closed):
        return {"kind": body.ending} | ({"note": body.note} if body.note else {})
    if interrupt is None:
        return {"kind": "answered"}
    files = {"files": [file(one) for one in body.files]} if body.files else {}
    return {"kind": "answered", "answer": _shown(interrupt.kind, body.value)} | files


def faults(refusal: Refused) -> list[Json]:
    """What is wrong with an answer, field by field."""
    found = refusal.faults if isinstance(refusal, Rejected) else [Fault("", str(refusal), refusal.slug)]
    return [{"pointer": fault.pointer, "detail": fault.message, "type": fault.slug} for fault in found]


TOKENS: Final = (
    *("input_tokens", "output_tokens"),
    *("cached_input_tokens", "cache_write_input_tokens", "reasoning_tokens"),
)
"""AG-UI's counts of tokens, in which a step's usage is recorded."""


class Known:
    """What a frame needs of earlier entries: which tool a call is of, and what an answer answers."""

    def __init__(self, log: Log = Log()) -> None:  # noqa: B008  # a log is immutable
        self.tools: dict[str, str] = {}
        self.asks: dict[str, entries.Interrupt] = {}
        self._run: str | None = None
        self._used: dict[tuple[str | None, str | None], dict[str, int]] = {}
        for entry in log.entries:
            self.take(entry)

    def take(self, entry: Entry) -> None:
        match entry.body:
            case entries.Run(runner):
                self._runs(runner)
            case Assistant(calls=calls) as step:
                self.tools.update((call.id, call.tool) for call in calls)
                self._runs(step.run)
                self._use(step.usage)
            case Asked(interrupt):
                self.asks[interrupt.id] = interrupt

    def _runs(self, runner: str) -> None:
        if runner != self._run:
            self._run, self._used = runner, {}

    def _use(self, usage: Json) -> None:
        """Add the tokens of a step; a model that is not ours may count in other words, which are left out."""
        if not isinstance(usage, dict):
            return
        counts = self._used.setdefault((usage.get("provider"), usage.get("model")), {})
        for name in TOKENS:
            if isinstance(used := usage.get(name), int):
                counts[name] = counts.get(name, 0) + used

    @property
    def usage(self) -> list[core.TokenUsage] | None:
        """The tokens of the run that is known last, a line for each model."""
        return [
            core.TokenUsage(
                provider=provider,
                model=model,
                total_tokens=counts.get("input_tokens", 0) + counts.get("output_tokens", 0),
                **counts,
            )
            for (provider, model), counts in self._used.items()
        ] or None

    def interrupt(
        self, ask: entries.Interrupt, ended: Answered | Closed | None = None, errors: Sequence[Json] = ()
    ) -> core.Interrupt:
        """A question as AG-UI carries it; all that is ours is under `metadata.yourcall`."""
        ours = {
            "kind": ask.kind,
            "ask": ask.ask,
            "digest": ask.digest,
            "tool": self.tools.get(ask.call_id),
            "to": ask.to,
            "errors": list(errors) or None,
        }
        return core.Interrupt(
            id=ask.id,
            reason=REASON,
            tool_call_id=ask.call_id,
            message=ask.message or None,
            response_schema=_schema(ask),
            expires_at=None if ask.expires_at is None else iso(ask.expires_at),
            metadata={
                "yourcall": {name: value for name, value in ours.items() if value is not None}
                | {"ending": ending(ended, ask) if ended else None}
            },
        )


def _endings(log: Log) -> dict[str, Answered | Closed]:
    return {e.body.interrupt: e.body for e in log.entries if isinstance(e.body, Answered | Closed)}


def user_id(body: User, seq: int) -> str:
    return body.id or f"user-{seq}"


def result_id(call_id: str) -> str:
    return f"{call_id}-result"


def status_of(result: Result) -> Json:
    """AG-UI has no word for why a call has no proper result; ours keeps a skip from looking like a success."""
    return {"yourcall": {"status": result.status}} if result.status != "ok" else None


def _assistant(step: Assistant) -> core.AssistantMessage:
    calls = [
        core.ToolCall(id=call.id, function=core.FunctionCall(name=call.tool, arguments=call.args))
        for call in step.calls
    ]
    return core.AssistantMessage(id=step.message_id, content=step.text or None, tool_calls=calls or None)


def _tool(result: Result) -> core.ToolMessage:
    return core.ToolMessage(
        id=result_id(result.call), tool_call_id=result.call, content=result.text, metadata=status_of(result)
    )


def iso(seconds: float) -> str:
    """A moment in Unix seconds, as the wire has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _shown(kind: str, stored: Json) -> Json:
    """A recorded answer, without the classes that the log remembers it by."""
    match kind:
        case "questions":
            return {"answers": stored}
        case "interrupt":
            return stored  # the client's own JSON, in which nothing stands for a class
        case _:
            return plain(stored)


def _schema(ask: entries.Interrupt) -> Json:
    """JSON Schema of the answer, for whoever draws a form of their own; None where anything is an answer."""
    match ask:
        case entries.Interrupt(channel="secret" | "upload" | "handoff"):
            return None  # a schema would invite a client to send it in the open
        case entries.Interrupt(schema=dict(schema)):
            return schema
        case entries.Interrupt(kind="questions"):
            return answer_schema(ask.ask)
        case entries.Interrupt(kind="choose"):
            return choose.answer_schema(ask.ask)
        case entries.Interrupt(kind="confirm"):
            return confirm.answer_schema(ask.ask)
        case entries.Interrupt(kind="form"):
            return ask.ask["schema"]
        case _:
            return None
