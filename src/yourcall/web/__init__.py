"""The web layer: a router for any FastAPI app, and an app that stands alone."""

from yourcall.web.app import create_app
from yourcall.web.router import create_router

__all__ = ["create_app", "create_router"]
