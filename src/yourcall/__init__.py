"""Yourcall: tools that pause an agent's loop to get something from its user, and carry on."""

from yourcall.agent import Agent
from yourcall.asks import Ask, Check
from yourcall.context import Context
from yourcall.engine import Conversation, Engine
from yourcall.errors import (
    Declined,
    Expired,
    Fault,
    ModelFailed,
    NotAnswered,
    OnceFailed,
    OutcomeUnknown,
    ProgrammingError,
    Refused,
    Rejected,
    ReplayMismatch,
    Skipped,
    ToolError,
    Unavailable,
    YourcallError,
)
from yourcall.tools import Tool, tool

__all__ = [
    "Agent",
    "Ask",
    "Check",
    "Context",
    "Conversation",
    "Declined",
    "Engine",
    "Expired",
    "Fault",
    "ModelFailed",
    "NotAnswered",
    "OnceFailed",
    "OutcomeUnknown",
    "ProgrammingError",
    "Refused",
    "Rejected",
    "ReplayMismatch",
    "Skipped",
    "Tool",
    "ToolError",
    "Unavailable",
    "YourcallError",
    "tool",
]
