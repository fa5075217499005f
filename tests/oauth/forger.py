"""An authorization server that does what a test says, and counts what comes: forged tokens, a bounce to another one."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.web.serving import serve_app
from yourcall.connect import OAuthProvider

Claims = dict[str, Any]


@dataclass
class Forger:
    """`token` makes an id token of the claims that would be right; `metadata` changes what it says of itself."""

    issuer: str = ""
    requests: list[str] = field(default_factory=list)
    token: Callable[[Claims], Any] = lambda claims: None
    metadata: Claims = field(default_factory=dict)
    answer: Response | None = None
    """In place of tokens."""
    bounce: str | None = None
    """Where its sign-in page sends the browser."""
    nonce: str = ""
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "1", "use": "sig"}))
    other: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "1", "use": "sig"}))

    def provider(self, name: str = "forged", **options: Any) -> OAuthProvider:
        return OAuthProvider(name, issuer=self.issuer, client_id="desk", client_secret="shared", **options)

    def signed(self, claims: Claims, *, alg: str = "ES256", key: Any = None, **header: Any) -> str:
        return jwt.encode({"alg": alg, "kid": "1", **header}, claims, key or self.key, algorithms=[alg])

    def mac(self, claims: Claims) -> str:
        """Signed with the client's secret, which we know, too."""
        return self.signed(claims, alg="HS256", key=OctKey.import_key("shared"))

    async def _about(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/auth",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["ES256", "HS256", "none"],
                "authorization_response_iss_parameter_supported": True,
            }
            | self.metadata
        )

    async def _keys(self, request: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _auth(self, request: Request) -> Response:
        assert self.bounce
        return RedirectResponse(f"{self.bounce}&state={request.query_params['state']}", 302)

    async def _token(self, request: Request) -> Response:
        self.requests.append((await request.body()).decode())
        if self.answer is not None:
            return self.answer
        now = int(time.time())
        right = {"iss": self.issuer, "aud": "desk", "sub": "ada", "nonce": self.nonce, "iat": now, "exp": now + 60}
        given = {"access_token": "a-token", "token_type": "Bearer", "id_token": self.token(right)}
        return JSONResponse({name: value for name, value in given.items() if value is not None})

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._about),
                Route("/keys", self._keys),
                Route("/auth", self._auth),
                Route("/token", self._token, methods=["POST"]),
            ]
        )


@asynccontextmanager
async def forging() -> AsyncIterator[Forger]:
    forger = Forger()
    engine: Any = None
    async with serve_app(forger.app, engine) as served:
        forger.issuer = served.url
        yield forger
