"""The service on a real socket, in front of servers of models that say what they are told.

JupyterHub itself runs in long tests alone. Here a small server says whose a token is, and lets browsers in, as JupyterHub 6 does.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx2
from pydantic import SecretStr
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from hdsp_agent.hub import HubAddresses, HubServer, HubService
from hdsp_agent.hub.oauth_login import OAuthClient

from .policy_files import write

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

USE, ADMIN = "custom:hdsp-agent:use", "custom:hdsp-agent:admin"
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients on loopback: each would read all certificates of the machine for its own."""


@dataclass
class HubOfTests:
    """Whose tokens there are; ``asked`` has the tokens it was asked about."""

    people: dict[str, dict[str, object]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""
    delay: asyncio.Event | None = None
    """It answers once this is set."""
    browser: str = "root-token"
    """The token of whoever sits at the browser."""
    service: str = ""
    """Where browsers find the service."""
    codes: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, token: str, name: str, *groups: str, scopes: tuple[str, ...] = (USE,), kind: str = "user") -> None:
        self.people[token] = {"kind": kind, "name": name, "admin": False, "groups": groups, "scopes": scopes}


class _UserHandler(RequestHandler):
    def initialize(self, hub: HubOfTests) -> None:
        self.hub = hub

    async def get(self) -> None:
        token = self.request.headers["Authorization"].removeprefix("token ")
        self.hub.asked.append(token)
        if self.hub.delay is not None:
            await self.hub.delay.wait()
        if token in self.hub.people:
            self.finish(self.hub.people[token])
        else:
            self.set_status(403)
            self.finish({"status": 403, "message": "Missing or invalid credentials."})


class _VersionHandler(RequestHandler):
    def get(self) -> None:
        self.finish({"version": "6.1.1"})


class _AuthorizeHandler(RequestHandler):
    def initialize(self, hub: HubOfTests) -> None:
        self.hub = hub

    def get(self) -> None:
        code = secrets.token_urlsafe(8)
        self.hub.codes[code] = (self.hub.browser, self.get_query_argument("code_challenge"))
        answer = urlencode({"code": code, "state": self.get_query_argument("state")})
        self.redirect(f"{self.hub.service}{self.get_query_argument('redirect_uri')}?{answer}")


class _TokenHandler(RequestHandler):
    def initialize(self, hub: HubOfTests) -> None:
        self.hub = hub

    def post(self) -> None:
        token, challenge = self.hub.codes.pop(self.get_body_argument("code"), ("", ""))
        verifier = hashlib.sha256(self.get_body_argument("code_verifier").encode()).digest()
        is_right = base64.urlsafe_b64encode(verifier).decode().rstrip("=") == challenge
        if not is_right or self.get_body_argument("client_secret") != "service-token":
            self.set_status(400)
            self.finish({"error": "invalid_grant"})
        else:
            self.finish({"access_token": token, "token_type": "Bearer"})


@dataclass
class RunningService:
    """What tests ask, and look into."""

    url: str
    hub: HubOfTests
    service: HubService
    policies: Path
    http: httpx2.AsyncClient

    async def get(self, path: str, token: str = "ada-token", **headers: str) -> httpx2.Response:
        return await self.http.get(self.url + path, headers={**_login("token", token), **headers})

    async def json(self, path: str, token: str = "ada-token") -> Any:
        answer = await self.get(path, token)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def chat(self, token: str = "ada-token", **body: object) -> httpx2.Response:
        content = {"model": "qwen3", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 100, **body}
        return await self.http.post(
            f"{self.url}openai/v1/chat/completions",
            headers=_login("Bearer", token),
            content=json.dumps(content),
        )

    def openai(self, token: str = "ada-token") -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(api_key=token, base_url=f"{self.url}openai/v1", http_client=self.http, max_retries=0)

    def anthropic(self, token: str = "ada-token") -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(api_key=token, base_url=f"{self.url}anthropic", http_client=self.http, max_retries=0)

    async def settled(self) -> None:
        """When all that was asked has ended and is counted."""
        while under_way := tuple(self.service.requests):
            await asyncio.wait(under_way)
        await self.service.held.drain()


def _login(scheme: str, token: str) -> dict[str, str]:
    return {"Authorization": f"{scheme} {token}"} if token else {}


@asynccontextmanager
async def running_service(
    folder: Path, text: str, *, now: Callable[[], float] = time.time
) -> AsyncIterator[RunningService]:
    """The service with these policies. Ada is a student, Bob too, Tess teaches, and Root may look at everything."""
    async with hub_of_tests() as hub:
        hub.add("ada-token", "ada", "students")
        hub.add("bob-token", "bob", "students")
        hub.add("tess-token", "tess", "teachers")
        hub.add("root-token", "root", scopes=(USE, ADMIN))
        prefix = "/services/hdsp-agent/"
        client = OAuthClient(
            "service-hdsp-agent", SecretStr("service-token"), hub.url.removesuffix("api"), f"{prefix}oauth_callback"
        )
        addresses = HubAddresses("http://127.0.0.1:0", prefix, hub.url, client)
        policies = write(folder, text)
        service = HubService(addresses, policies, folder / "data", now=now)
        own = HubServer(service)
        try:
            await own.start()
            hub.service = f"http://127.0.0.1:{own.port}"
            async with httpx2.AsyncClient(trust_env=False, timeout=60, verify=NO_TLS) as http:
                yield RunningService(f"http://127.0.0.1:{own.port}{addresses.prefix}", hub, service, policies, http)
        finally:
            await own.stop()


@asynccontextmanager
async def hub_of_tests() -> AsyncIterator[HubOfTests]:
    """What stands for JupyterHub, on a socket of its own."""
    hub = HubOfTests()
    sockets = bind_sockets(0, "127.0.0.1")
    routes: list[tuple[str, type[RequestHandler]] | tuple[str, type[RequestHandler], dict[str, Any]]] = [
        ("/hub/api/", _VersionHandler),
        ("/hub/api/user", _UserHandler, {"hub": hub}),
        ("/hub/api/oauth2/authorize", _AuthorizeHandler, {"hub": hub}),
        ("/hub/api/oauth2/token", _TokenHandler, {"hub": hub}),
    ]
    server = HTTPServer(Application(list(routes), log_function=lambda handler: None))
    server.add_sockets(sockets)
    hub.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/hub/api"
    try:
        yield hub
    finally:
        server.stop()
        await server.close_all_connections()
