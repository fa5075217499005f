"""Accounts at other services: the way there and back, and their tokens. The web and the engine use it."""

from yourcall.oauth.accounts import ProviderAccounts
from yourcall.oauth.metadata import Discovery
from yourcall.oauth.sign_ins import Denied, HandoffAnswer, SignIns

__all__ = ["Denied", "Discovery", "HandoffAnswer", "ProviderAccounts", "SignIns"]
