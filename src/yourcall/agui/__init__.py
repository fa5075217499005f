"""AG-UI 1.0 on the wire; the one module that knows it.

Out go frames of server-sent events. A stream opens with RUN_STARTED and closes with one RUN_FINISHED or
RUN_ERROR, after which nothing comes; without it the stream was cut. Between them each entry of the log is shown
once, so no call is announced twice and no result comes twice, and the `id` of an entry stands on its last frame:
a listener that comes back with it misses nothing and gets no half of an entry.

In comes a `RunAgentInput`, of which next to nothing is believed: the log is ours, so the client's history, its
tool results and its run id decide nothing. New messages of the user and answers to open questions are taken.
"""

from yourcall.agui.frames import Encoder, Frames
from yourcall.agui.requests import RunRequest, Taken, read, take
from yourcall.agui.wire import ending, faults, file, interrupts, iso, messages, question

__all__ = [
    "Encoder",
    "Frames",
    "RunRequest",
    "Taken",
    "ending",
    "faults",
    "file",
    "interrupts",
    "iso",
    "messages",
    "question",
    "read",
    "take",
]
