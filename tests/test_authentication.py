"""Nothing of ours is reachable without credentials."""

from __future__ import annotations

import json

import pytest
from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError
from tornado.web import RequestHandler

from hdsp_agent.comm.rest._routes import API_PATH, routes
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")


def _every_verb() -> list[tuple[str, str, bool]]:
    found = [
        (path, verb, getattr(handler, verb.lower()) is not RequestHandler._unimplemented_method)
        for path, handler in routes().items()
        for verb in VERBS
    ]
    return [*found, ("/../comm", "GET", True)]


def _url(path: str) -> list[str]:
    filled = path.replace("{name}", "default").replace("{mode}", "code").replace("{profile}", "default")
    whole = "/hdsp-agent/comm" if "comm" in path else API_PATH + filled.replace("{key}", "apiKey")
    return whole.strip("/").split("/")


async def test_every_verb_of_every_handler_refuses_a_stranger(services: Services, jp_fetch: Fetch) -> None:
    for path, verb, implemented in _every_verb():
        body = None if verb in ("GET", "HEAD", "DELETE") else "{}"
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch(*_url(path), method=verb, body=body, headers={"Authorization": "token wrong"})
        assert refused.value.code in ((403,) if implemented else (403, 405)), (path, verb)


async def test_our_handlers_are_all_in_the_table_that_the_tests_walk(
    services: Services, jp_serverapp: ServerApp
) -> None:
    ours = {
        rule.target
        for group in jp_serverapp.web_app.default_router.rules
        for rule in getattr(group.target, "rules", [])
        if rule.target.__module__.startswith("hdsp_agent")
    }
    from hdsp_agent.comm.mcp.handler import McpHandler
    from hdsp_agent.comm.mcp_login import McpLoginDoneHandler
    from hdsp_agent.comm.websocket import ChannelHandler

    # What other agents reach, and where a log-in ends, has tests of its own.
    assert ours == {*routes().values(), ChannelHandler, McpHandler, McpLoginDoneHandler}


class DenyAgent(Authorizer):
    """Everything of Jupyter's is allowed, nothing of ours."""

    async def is_authorized(self, handler, user, action, resource) -> bool:  # type: ignore[no-untyped-def]
        return bool(resource != "hdsp_agent")


class TestAnAuthorizerThatDenies:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["ServerApp"]["authorizer_class"] = DenyAgent
        return jp_server_config

    async def test_is_obeyed(self, services: Services, jp_fetch: Fetch) -> None:
        for path in ("health", "settings", "secrets"):
            with pytest.raises(HTTPClientError) as refused:
                await jp_fetch("hdsp-agent", "api", path)
            assert refused.value.code == 403
            assert refused.value.response is not None
            assert json.loads(refused.value.response.body)["code"] == "not_allowed"
