"""What must be true of a conversation as it is stored: its log by itself, and what stands beside it.

Everything here is known from one read of the conversation. Nothing is mended: what is wrong is said, for people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from yourcall.entries import Answered, Asked, Assistant, Closed, Entry, Result
from yourcall.errors import Busy
from yourcall.log import Log, phase
from yourcall.ports import Key, Snapshot, Store
from yourcall.record import row_phase
from yourcall.upkeep import Indexed, Upkeep


async def check(store: Store, upkeep: Upkeep, key: Key) -> list[str]:
    """What is wrong with this conversation, which others may be writing to. Nothing is, with one that is gone."""
    try:
        snapshot, index = await _at_one_moment(store, upkeep, key)
    except Busy:
        raise
    except Exception as error:  # whatever reading it stumbles over
        return [f"it cannot be read: {type(error).__name__}"]
    return list(faults(key.owner, snapshot, index)) if snapshot.exists else []


async def _at_one_moment(store: Store, upkeep: Upkeep, key: Key) -> tuple[Snapshot, Sequence[Indexed]]:
    """The conversation and its index, which two statements read: again, if it was written to between them."""
    while True:
        snapshot = await store.load(key, after=0)
        index = await upkeep.indexed(key)
        after = await store.load(key, after=snapshot.head)
        if (after.place, after.head) == (snapshot.place, snapshot.head):
            return snapshot, index


def faults(owner: str, snapshot: Snapshot, index: Sequence[Indexed]) -> Iterator[str]:
    """What is wrong with a conversation that was read from its first entry on, and with what the index says of it."""
    entries = snapshot.entries
    seqs = [entry.seq for entry in entries]
    if seqs != list(range(1, snapshot.head + 1)):
        yield f"its log ends at {snapshot.head}, and has gaps or strangers among its {len(seqs)} entries"
        return  # what follows would be guessed
    yield from _calls(entries)
    yield from _questions(entries)
    log = Log(entries)
    expires_at = min((one.expires_at for one in log.interrupts if one.expires_at is not None), default=None)
    wanted = (log.seen + 1, row_phase(phase(log)), expires_at)
    row = snapshot.row
    if wanted != (row.tail, row.phase, row.expires_at):
        yield f"its row says {(row.tail, row.phase, row.expires_at)}, and its log {wanted}"
    if set(index) != set(_index(owner, entries)):
        yield "the index of questions does not agree with its log"


def _calls(entries: Sequence[Entry]) -> Iterator[str]:
    """Each call has one result at most, and has it before the next step of the model."""
    open_calls, over = set[str](), set[str]()
    for entry in entries:
        match entry.body:
            case Assistant(calls=calls):
                yield from (f"the step {entry.seq} came before the result of {id}" for id in sorted(open_calls))
                yield from (f"the call {call.id} was made twice" for call in calls if call.id in over)
                open_calls = {call.id for call in calls}
            case Result(call=id) if id in open_calls:
                open_calls.remove(id)
                over.add(id)
            case Result(call=id):
                yield f"the result {entry.seq} is of {id}, which {'has one' if id in over else 'nobody called'}"


def _questions(entries: Sequence[Entry]) -> Iterator[str]:
    """Each question is asked once, and ends at most once after that."""
    open_ids, over = set[str](), set[str]()
    for entry in entries:
        match entry.body:
            case Asked(interrupt):
                if interrupt.id in open_ids | over:
                    yield f"the question {interrupt.id} was asked twice"
                open_ids.add(interrupt.id)
            case Answered(interrupt=id) | Closed(interrupt=id) if id in open_ids:
                open_ids.remove(id)
                over.add(id)
            case Answered(interrupt=id) | Closed(interrupt=id):
                yield f"the question {id} was ended at {entry.seq}, and {'was over' if id in over else 'never asked'}"


def _index(owner: str, entries: Sequence[Entry]) -> Iterator[Indexed]:
    """What the index has to say."""
    bodies = [(entry.seq, entry.body) for entry in entries]
    ended = {body.interrupt: seq for seq, body in bodies if isinstance(body, Answered | Closed)}
    for entry in entries:
        match entry.body:
            case Asked(one):
                yield Indexed(one.id, entry.seq, ended.get(one.id), entry.at, owner, one.to)
