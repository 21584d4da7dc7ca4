from __future__ import annotations

import getpass
from types import SimpleNamespace

import pytest
from jupyter_server.auth.authorizer import AllowAllAuthorizer, Authorizer
from jupyter_server.auth.identity import IdentityProvider, PasswordIdentityProvider, User
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from hdsp_agent.comm.identity import owner_of

FOREIGN = "https://somewhere.else.example"


async def status_of(connecting) -> int:  # type: ignore[no-untyped-def]
    with pytest.raises(HTTPClientError) as refused:
        await connecting
    return refused.value.code


class AsyncDeny(Authorizer):
    """Says no, but only when awaited."""

    async def is_authorized(self, handler, user, action, resource) -> bool:  # type: ignore[no-untyped-def]
        handler.settings.setdefault("asked_of_authorizer", []).append((action, resource))
        return False


class KnownUsers(IdentityProvider):
    """Knows people by a header."""

    def get_user(self, handler) -> User | None:  # type: ignore[no-untyped-def]
        name = handler.request.headers.get("X-Test-User")
        return User(name) if name else None


@pytest.fixture
def url(jp_http_port: int, jp_base_url: str) -> str:
    return f"ws://127.0.0.1:{jp_http_port}{jp_base_url}hdsp-agent/comm"


async def test_without_credentials_nobody_gets_in(serve, url) -> None:  # type: ignore[no-untyped-def]
    async with serve():
        assert await status_of(websocket_connect(url)) == 403
        foreign = HTTPRequest(url, headers={"Origin": FOREIGN})
        assert await status_of(websocket_connect(foreign)) == 403
        wrong = HTTPRequest(url, headers={"Authorization": "token wrong"})
        assert await status_of(websocket_connect(wrong)) == 403


async def test_a_login_cookie_works_from_our_own_pages_only(serve, url, jp_fetch, jp_http_port) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        response = await jp_fetch("api", "status", headers={"Host": f"127.0.0.1:{jp_http_port}"})
        cookie = response.headers["Set-Cookie"].split(";")[0]
        foreign = HTTPRequest(url, headers={"Cookie": cookie, "Origin": FOREIGN})
        assert await status_of(websocket_connect(foreign)) == 403
        own = HTTPRequest(url, headers={"Cookie": cookie, "Origin": f"http://127.0.0.1:{jp_http_port}"})
        socket = await websocket_connect(own)
        socket.close()
        assert server.channel.clients == []


@pytest.mark.parametrize(
    "jp_server_config",
    [
        {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_server_terminals": False},
                "allow_unauthenticated_access": False,
                "authorizer_class": AsyncDeny,
            }
        }
    ],
)
async def test_an_authorizer_that_says_no_later_is_heard(serve, jp_ws_fetch, jp_serverapp) -> None:  # type: ignore[no-untyped-def]
    async with serve():
        assert await status_of(jp_ws_fetch("hdsp-agent", "comm")) == 403
        assert jp_serverapp.web_app.settings["asked_of_authorizer"] == [("execute", "hdsp_agent")]


@pytest.mark.parametrize(
    "jp_server_config",
    [
        {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_server_terminals": False},
                "identity_provider_class": KnownUsers,
                "authorizer_class": AllowAllAuthorizer,
            }
        }
    ],
)
async def test_known_people_do_not_hear_each_other(serve) -> None:  # type: ignore[no-untyped-def]
    async with (
        serve() as server,
        server.connect("same-id", headers={"X-Test-User": "ada"}) as ada,
        server.connect("same-id", headers={"X-Test-User": "bob"}) as bob,
    ):
        to_ada = await ada.ask("updateSettings", request_id="r", updatedSettings={})
        to_bob = await bob.ask("updateSettings", request_id="r", updatedSettings={})
        assert (to_ada["result"], to_bob["result"]) == ("ada:same-id", "bob:same-id")
        assert ada.frames[0]["data"]["epoch"] != bob.frames[0]["data"]["epoch"]


async def test_with_a_shared_token_every_browser_is_the_same_owner(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect("a") as one, server.connect("b") as two:
        assert (await one.ask("updateSettings", updatedSettings={}))["result"] == f"{getpass.getuser()}:a"
        assert (await two.ask("updateSettings", updatedSettings={}))["result"] == f"{getpass.getuser()}:b"
        assert len(server.channel.clients) == 2


class NamedTokens(PasswordIdentityProvider):
    """A subclass may know who it is."""


@pytest.mark.parametrize(
    ("provider", "owner"),
    [(IdentityProvider(), None), (PasswordIdentityProvider(), None), (NamedTokens(), "ada"), (KnownUsers(), "ada")],
)
def test_the_owner_is_the_user_where_jupyter_knows_users(provider, owner) -> None:  # type: ignore[no-untyped-def]
    handler = SimpleNamespace(identity_provider=provider, current_user=User("ada"))
    assert owner_of(handler) == (owner or getpass.getuser())  # type: ignore[arg-type]


async def test_nobody_connects_to_a_server_that_stops(serve, jp_ws_fetch) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        await server.hub.stop()
        assert await status_of(jp_ws_fetch("hdsp-agent", "comm")) == 503
