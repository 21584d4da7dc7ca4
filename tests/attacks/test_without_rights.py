"""Requests without rights: over every route and method, in every way we know of to have none. All are refused."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from tornado.web import create_signed_value

from hdsp_agent.comm.mcp_login import McpLoginDoneHandler
from hdsp_agent.comm.services import Services
from tests._helpers.long_tests import rounds
from tests.attacks._helpers.planted_data import Planted, plant, snapshot
from tests.attacks._helpers.raw_http import Answer, request
from tests.attacks._helpers.routes import METHODS, Route, routes_of

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

T = TypeVar("T")
FOREIGN = "https://somewhere.else.example"
BODY = (
    b'{"value": "x", "name": "x", "settings": {}, "kind": "file", "parts": {"files": true}, "note": "x", "title": "x"}'
)
REFUSED = (401, 403, 404, 405)
USER = {"username": "eve", "name": "Eve", "display_name": "Eve", "initials": "E", "color": None, "avatar_url": None}
XSRF = "0123456789abcdef" * 2
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
ON_EVERY_ROUTE = (
    "nothing", "wrong token", "cookie without its XSRF token", "a form of another site", "a script of another site",
)  # fmt: skip
"""What a single handler could let in: what all share refuses the others."""


@dataclass(frozen=True)
class Intruder:
    """One way of having no rights."""

    name: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    body: bytes = BODY
    only: tuple[str, ...] = METHODS


@dataclass(frozen=True)
class RunningServer:
    """The running server, seen from outside."""

    port: int
    token: str
    cookie_name: str
    secret: bytes

    def cookie(self, *, age_days: float = 0, secret: bytes | None = None) -> str:
        """A login cookie, as the server itself would sign it."""
        signed = create_signed_value(
            secret or self.secret, self.cookie_name, json.dumps(USER), clock=lambda: time.time() - age_days * 86_400
        )
        return f'{self.cookie_name}="{signed.decode()}"'


@pytest.fixture
def server(services: Services, jp_serverapp: ServerApp, jp_http_port: int, http_server: object) -> RunningServer:
    provider: Any = jp_serverapp.identity_provider
    return RunningServer(
        jp_http_port,
        provider.token,
        f"username-127-0-0-1-{jp_http_port}",
        jp_serverapp.web_app.settings["cookie_secret"],
    )


def intruders(server: RunningServer) -> list[Intruder]:
    """All of them. ``token`` and ``cookie`` are the right ones, where they do not count or do not suffice."""
    token, cookie = server.token, server.cookie()
    json_body = {"Content-Type": "application/json"}
    return [
        Intruder("nothing", json_body),
        Intruder("wrong token", {"Authorization": "token wrong", **json_body}),
        Intruder("empty token", {"Authorization": "token "}),
        Intruder("part of the token", {"Authorization": f"token {token[:-1]}"}),
        Intruder("another scheme", {"Authorization": f"Basic {token}"}),
        Intruder("token without a scheme", {"Authorization": token}),
        Intruder("wrong token in the query", query="?token=wrong"),
        Intruder("token as a cookie", {"Cookie": f"token={token}; _xsrf={token}"}),
        Intruder("token in other headers", {"X-Token": token, "X-Authorization": f"token {token}", "Referer": f"http://127.0.0.1:{server.port}/?token={token}"}),
        Intruder("token in a JSON body", json_body, body=b'{"token": "%s"}' % token.encode()),
        Intruder("token in another field of the query", query=f"?access_token={token}&_token={token}"),
        Intruder("expired cookie", {"Cookie": server.cookie(age_days=60)}),
        Intruder("forged cookie", {"Cookie": server.cookie(secret=b"guessed")}),
        Intruder("unsigned cookie", {"Cookie": f'{server.cookie_name}="eve"'}),
        Intruder("cookie without its XSRF token", {"Cookie": cookie, **json_body}, only=CHANGING),
        Intruder("cookie with a wrong XSRF token", {"Cookie": f"{cookie}; _xsrf={XSRF}", "X-XSRFToken": XSRF[::-1]}, only=CHANGING),
        Intruder("a form of another site", {"Cookie": cookie, "Origin": FOREIGN, "Content-Type": "text/plain"}, only=CHANGING),
        Intruder("a script of another site", {"Cookie": cookie, "Origin": FOREIGN, "Referer": f"{FOREIGN}/x"}),
        Intruder("a sandboxed frame", {"Cookie": cookie, "Origin": "null"}),
        Intruder("a name that leads here", {"Authorization": f"token {token}", "Host": f"rebound.example:{server.port}"}),
        Intruder("an overridden method", {"X-HTTP-Method-Override": "GET", "X-Original-URL": "/api/status"}, query="?_method=GET"),
        Intruder("as if from inside", {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": "root", "X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"}),
        Intruder("a large body", json_body, body=b'{"note": "' + b"a" * 20_000 + b'"}', only=CHANGING),
        Intruder("a deep body", json_body, body=b"[" * 20_000, only=CHANGING),
    ]  # fmt: skip


def leaks(answer: Answer, planted: Planted, server: RunningServer, home: Path) -> list[str]:
    """What of the server's is in an answer."""
    # Jupyter's own error pages give the token to whoever has a valid cookie; other sites cannot read them.
    secrets = () if "<!DOCTYPE HTML>" in answer.text else (server.token, str(home))
    found = [word for word in (*planted.words, *secrets) if word in answer.text]
    return [*found, *(["cors"] if answer.header("Access-Control-Allow-Origin") in ("*", FOREIGN, "null") else [])]


async def test_every_route_and_method_refuses_whoever_has_no_rights(
    services: Services,
    server: RunningServer,
    jp_serverapp: ServerApp,
    jp_base_url: str,
    jp_root_dir: Path,
    storage_dir: Path,
) -> None:
    planted = await plant(services, jp_root_dir)
    before = snapshot(storage_dir, jp_root_dir)
    settings = services.config.settings
    statuses: Counter[int] = Counter()
    wrong: list[str] = []
    for number, route in enumerate(routes_of(jp_serverapp)):
        # A new variable part of a path wants a value in planted_data.py.
        path = route.path(planted.values)
        known = intruders(server)
        others = [intruder for intruder in known if intruder.name not in ON_EVERY_ROUTE]
        for intruder in [*(each for each in known if each not in others), *_part_of(others, number)]:
            for method in intruder.only:
                answer = await request(
                    server.port, method, path + intruder.query, intruder.headers, _body(method, intruder)
                )
                statuses[answer.status] += 1
                # The log-in is told where the browser wanted to go.
                told = [word for word in leaks(answer, planted, server, storage_dir) if word not in intruder.query]
                if not is_refused(answer, route, method) or told:
                    wrong.append(f"{intruder.name}: {method} {path}: {answer.status} {told}")
    assert wrong == []
    assert sum(statuses.values()) >= 2_000, statuses
    assert set(statuses) <= {*REFUSED, 302}
    assert snapshot(storage_dir, jp_root_dir) == before
    assert services.config.settings == settings


def is_refused(answer: Answer, route: Route, method: str) -> bool:
    """Whether a request without rights is refused, and with nothing that says that it was understood."""
    if answer.status == 302:
        # People come here with their browser, and log in first.
        return route.handler is McpLoginDoneHandler and "/login?next=" in (answer.header("Location") or "")
    return answer.status in ((401, 403, 404) if route.takes(method) else REFUSED)


def _part_of(ways: Sequence[T], number: int) -> Sequence[T]:
    """What is tried on the route of this number: a third of the ways in turn, and all of them in the long tests."""
    step = rounds(3, 1)
    return ways[number % step :: step]


def _body(method: str, intruder: Intruder) -> bytes:
    return intruder.body if method in CHANGING else b""


async def test_with_rights_the_same_requests_are_let_in(
    services: Services, server: RunningServer, jp_root_dir: Path, jp_base_url: str
) -> None:
    """Else the refusals above would show nothing."""
    planted = await plant(services, jp_root_dir)
    path = f"{jp_base_url}hdsp-agent/api/history/{planted.task}"
    own = {"Authorization": f"token {server.token}"}
    assert planted.words[0] in (await request(server.port, "GET", path, own)).text
    assert planted.words[0] in (await request(server.port, "GET", f"{path}?token={server.token}")).text
    # Cookies of our own page, with their XSRF token.
    cookies = {
        "Cookie": f"{server.cookie()}; _xsrf={XSRF}",
        "X-XSRFToken": XSRF,
        "Origin": f"http://127.0.0.1:{server.port}",
    }
    assert planted.words[0] in (await request(server.port, "GET", path, cookies)).text
    renamed = await request(server.port, "PATCH", path, cookies, b'{"title": "Better"}')
    assert (renamed.status, "Better" in renamed.text) == (200, True)


TRICKS: list[Callable[[str], str]] = [
    lambda path: path.replace("/hdsp-agent", "//hdsp-agent"),
    lambda path: path.replace("/api/", "//api//"),
    lambda path: path.replace("hdsp-agent", "%68dsp-agent"),
    lambda path: path.replace("hdsp-agent", "HDSP-Agent"),
    lambda path: path.replace("/hdsp-agent/", "/static/../hdsp-agent/"),
    lambda path: path.replace("/hdsp-agent/", "/static/%2e%2e/hdsp-agent/"),
    lambda path: path.replace("/hdsp-agent/", "/static/..%2fhdsp-agent%2f"),
    lambda path: path.replace("/hdsp-agent/", "/login/..;/hdsp-agent/"),
    lambda path: path.replace("/hdsp-agent/", "/hdsp-agent;x=y/"),
    lambda path: path.replace("/api/", "/./api/"),
    lambda path: path.replace("/api/", "\\api\\"),
    lambda path: f"{path}/",
    lambda path: f"{path}//",
    lambda path: f"{path}.",
    lambda path: f"{path}.json",
    lambda path: f"{path};x",
    lambda path: f"{path}%20",
    lambda path: f"{path}%00",
    lambda path: f"{path}%00.png",
    lambda path: f"{path}%0d%0aX-Injected:%20yes",
    lambda path: f"{path}%23",
    lambda path: f"{path}/..",
    lambda path: f"{path}/%2e%2e/",
    lambda path: f"{path}?a#b",
    lambda path: f"http://127.0.0.1{path}",
    lambda path: f"{path}%c0%af",
    lambda path: f"{path}%ff%fe",
    lambda path: path.replace("/api", "/%61%70%69"),
]


async def test_no_trick_with_a_path_finds_a_way_round(
    services: Services, server: RunningServer, jp_serverapp: ServerApp, jp_root_dir: Path, storage_dir: Path
) -> None:
    planted = await plant(services, jp_root_dir)
    before = snapshot(storage_dir, jp_root_dir)
    wrong: list[str] = []
    sent = 0
    for target, method in _tricks(jp_serverapp, planted):
        answer = await request(server.port, method, target, {"Content-Type": "application/json"}, _trick_body(method))
        sent += 1
        redirected = answer.status in (301, 302) and not answer.body and answer.header("X-Injected") is None
        if not (redirected or answer.status in (*REFUSED, 400)) or leaks(answer, planted, server, storage_dir):
            wrong.append(f"{method} {target}: {answer.text[:300]}")
    assert wrong == []
    assert sent >= rounds(1_000, 2_000)
    assert snapshot(storage_dir, jp_root_dir) == before


def _tricks(app: ServerApp, planted: Planted) -> Iterator[tuple[str, str]]:
    for number, route in enumerate(routes_of(app)):
        path = route.path(planted.values)
        for trick in _part_of(TRICKS, number):
            yield trick(path), "GET"
            yield trick(path), "DELETE" if route.takes("DELETE") else "POST"


def _trick_body(method: str) -> bytes:
    return BODY if method == "POST" else b""


ODD_METHODS = ("OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "PoSt", "X" * 200, "GET\t", "*")


async def test_odd_methods_do_nothing_and_say_nothing(
    services: Services, server: RunningServer, jp_serverapp: ServerApp, jp_root_dir: Path, storage_dir: Path
) -> None:
    planted = await plant(services, jp_root_dir)
    before = snapshot(storage_dir, jp_root_dir)
    for route in routes_of(jp_serverapp):
        for method in ODD_METHODS:
            answer = await request(
                server.port, method, route.path(planted.values), {"Origin": FOREIGN, "Cookie": server.cookie()}
            )
            # OPTIONS is how a browser asks what it may; it is answered without a body, and without what would let it.
            more = (200, 204) if method == "OPTIONS" else (0, 400)
            assert answer.status in (*REFUSED, *more), (method, answer.status)
            assert not (answer.status in (200, 204) and answer.body), answer.text
            assert leaks(answer, planted, server, storage_dir) == [], (method, answer.text)
    assert snapshot(storage_dir, jp_root_dir) == before


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


async def test_no_socket_is_opened_without_rights(
    services: Services, server: RunningServer, jp_base_url: str, jp_root_dir: Path
) -> None:
    """Nor is anything begun for the person whose browser was tricked into asking."""
    await plant(services, jp_root_dir)
    arrived: list[str] = []

    async def arrival(owner: str) -> None:
        arrived.append(owner)

    services.channels.on_arrival(arrival)
    path = f"{jp_base_url}hdsp-agent/comm"
    protocols = ("token", "v1.token.websocket.jupyter.org", f"v1.token.websocket.jupyter.org.{server.token[:-1]}")
    subprotocols = [Intruder(name, {"Sec-WebSocket-Protocol": name}) for name in protocols]
    for intruder in (*intruders(server), *subprotocols):
        if "GET" not in intruder.only:
            continue
        for headers in (UPGRADE, {**UPGRADE, "Origin": FOREIGN}, {**UPGRADE, "Sec-WebSocket-Version": "99"}):
            answer = await request(server.port, "GET", path + intruder.query, {**headers, **intruder.headers})
            assert answer.status in (401, 403, 404), (intruder.name, answer.text[:300])
    # With a login cookie another site's page gets no socket either, nor does a page of ours that asks for none.
    for headers in (
        {**UPGRADE, "Origin": FOREIGN},
        {**UPGRADE, "Sec-WebSocket-Origin": FOREIGN},
        {"Origin": FOREIGN},
        {},
    ):
        answer = await request(server.port, "GET", path, {**headers, "Cookie": server.cookie()})
        assert answer.status in (400, 403), answer.text[:300]
    assert arrived == []
    own = {**UPGRADE, "Origin": f"http://127.0.0.1:{server.port}", "Cookie": server.cookie()}
    assert (await request(server.port, "GET", path, own)).status == 101
    assert len(arrived) == 1
