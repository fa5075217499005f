"""What went wrong at a provider, in words for the user, and whether trying again can help.

The provider's own words may hold what the user wrote, or a key: they go to the log only.
"""

from __future__ import annotations

import logging
import re
from typing import Final

import httpx2
from pydantic_ai import exceptions as theirs

from yourcall.errors import ModelFailed

log = logging.getLogger("yourcall")

BUSY: Final = "The model is busy just now. Try again in a moment."
BROKEN: Final = "The connection to the model broke before it had finished. Try again."
EARLY: Final = "The model's answer ended early. Try again."
STALLED: Final = "The model stopped answering. Try again."
TOO_LONG: Final = "This conversation has become too long for the model. Start a new one."
CUT: Final = "The model's step was longer than it may be, so it was cut off and not used."
REFUSED: Final = "The model declined to go on with this."
QUOTA: Final = "The model's provider has no quota left for this app. Please tell whoever runs it."
REJECTED: Final = "The model's provider refused the request. Please tell whoever runs this app."

OVERFLOW: Final = re.compile(
    r"context_length_exceeded|(maximum|max) context|context (window|length|size)", re.IGNORECASE
)
"""How servers that are only compatible say that a request is too long."""


def failure(error: Exception) -> ModelFailed | None:
    """What to tell of an error that a request ended with; None of one that is no provider's doing."""
    if isinstance(error, ModelFailed):
        return error
    if not isinstance(error, theirs.AgentRunError | theirs.UserError | httpx2.HTTPError | OSError | ValueError):
        return None
    log.warning("The model's provider failed: %s: %s", type(error).__name__, error)
    words = _refused(error)
    return ModelFailed(words, retryable=False) if words else _passing(error)


def _refused(error: Exception) -> str | None:
    """What the same request would meet again."""
    match error:
        case theirs.ModelContextWindowExceededError():
            return TOO_LONG
        case theirs.ModelHTTPError(status_code=400 | 413) if OVERFLOW.search(str(error)):
            return TOO_LONG
        case theirs.ModelQuotaExceededError():
            return QUOTA
        case theirs.ContentFilterError():
            return REFUSED
        case theirs.ModelRequestRejectedError() | theirs.UserError():
            return REJECTED
        case theirs.ModelHTTPError(status_code=status) if status < 500 and status not in (408, 409, 425, 429):
            return REJECTED
        case _:
            return None


def _passing(error: Exception) -> ModelFailed:
    """What may have gone by the time of the next request."""
    if _named(error, "Timeout"):
        return ModelFailed(STALLED)
    if isinstance(error, theirs.ModelConnectionError) or _named(error, "JSONDecodeError"):
        return ModelFailed(BROKEN)
    if isinstance(error, theirs.ModelAPIError):
        return ModelFailed(BUSY, after=error.retry_after)
    return ModelFailed(BROKEN)


def _named(error: BaseException | None, name: str) -> bool:
    """Whether an error, or what caused it, has this in its type's name: SDKs wrap those of their transports."""
    while error is not None:
        if name in type(error).__name__:
            return True
        error = error.__cause__ or error.__context__
    return False
