"""Whether a call is awaited where it is made. `ctx.ask` is not: it pauses, and its line returns the answer.

Nobody would learn of that `await` before the answer is there, and then it is lost.
"""

from __future__ import annotations

import dis
import sys
from functools import cache
from types import CodeType


def is_awaited() -> bool:
    """Whether whoever called this function's caller awaits what it will return."""
    frame = sys._getframe(2)
    return _awaits(frame.f_code, frame.f_lasti)


@cache
def _awaits(code: CodeType, at: int) -> bool:
    """Whether the instruction after this one makes an awaitable of its result."""
    after = (one.opname for one in dis.get_instructions(code) if one.offset > at)
    return next(after, None) == "GET_AWAITABLE"
