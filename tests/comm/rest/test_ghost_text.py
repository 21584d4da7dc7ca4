"""Ghost text over REST: off until it is turned on, by the profile that was chosen, and for nobody who went on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.agent.ghost_text import _ghost_text
from hdsp_agent.agent.ghost_text._use import GhostTextUse
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import JsonObject
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.model_server import RawServer, Reply, raw_server, refusal

SAID = refusal("200 OK", {"choices": [{"text": "csv('prices.csv')\nmore", "finish_reason": "stop"}]})
KEY = "sk-ant-api03-" + "Ab3" * 20


async def suggestions(jp_fetch: Fetch, **asked: object) -> list[str]:
    body = {"before": "df = pd.read_", "path": "n.ipynb", **asked}
    answer = await jp_fetch("hdsp-agent", "api", "ghost-text", method="POST", body=json.dumps(body))
    found: list[str] = json.loads(answer.body)["suggestions"]
    return found


async def chosen(services: Services, server: RawServer, **settings: float) -> None:
    """Turned on, with a server of the person's own."""
    profile = await services.config.profiles.create(
        "gaps", {"apiProvider": "openai", "openAiModelId": "coder", "openAiBaseUrl": f"{server.url}/v1", **settings}
    )
    await services.config.update({"ghostTextEnabled": True, "ghostTextApiConfigId": profile.id})


async def test_nothing_is_sent_before_it_is_turned_on(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(SAID) as server:
        await chosen(services, server)
        await services.config.update({"ghostTextEnabled": False})
        assert await suggestions(jp_fetch) == []
        assert server.requests == []


async def test_the_profile_that_was_chosen_is_asked(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(SAID) as server:
        await chosen(services, server)
        cells = [{"kind": "code", "source": "import pandas as pd"}]
        assert await suggestions(jp_fetch, cells=cells, after="\n") == ["csv('prices.csv')"]
        sent = server.requests[0].body
        assert sent["prompt"] == "import pandas as pd\n\ndf = pd.read_"
        assert sent["model"] == "coder"


async def test_several_are_different_ones(services: Services, jp_fetch: Fetch) -> None:
    other = refusal("200 OK", {"choices": [{"text": "excel('prices.xlsx')"}]})
    async with raw_server(SAID, SAID, other) as server:
        await chosen(services, server)
        assert await suggestions(jp_fetch, count=3) == ["csv('prices.csv')", "excel('prices.xlsx')"]
        assert [request.body["temperature"] > 0 for request in server.requests] == [False, True, True]


async def test_what_came_is_not_lost_with_what_does_not(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(SAID, refusal("429 Too Many Requests", {"error": "slow down"})) as server:
        await chosen(services, server)
        assert await suggestions(jp_fetch, count=3) == ["csv('prices.csv')"]


async def used(jp_fetch: Fetch, **asked: str) -> list[JsonObject]:
    answer = await jp_fetch("hdsp-agent", "api", "statistics", params=asked)
    found: list[JsonObject] = json.loads(answer.body)["ghostText"]
    return [{key: value for key, value in use.items() if key != "day"} for use in found]


async def refused(jp_fetch: Fetch) -> JsonObject:
    with pytest.raises(HTTPClientError) as error:
        await suggestions(jp_fetch)
    assert error.value.response is not None
    told: JsonObject = json.loads(error.value.response.body)
    return told


async def test_what_it_took_is_among_the_statistics(services: Services, jp_fetch: Fetch) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 400}}
    counted = refusal("200 OK", {"choices": [{"text": "csv()"}], "usage": usage})
    async with raw_server(counted, SAID) as server:
        await chosen(services, server, modelInputPrice=2.0, modelOutputPrice=100.0)
        assert await used(jp_fetch) == []
        await suggestions(jp_fetch)
        # Of the second nobody says what it took.
        await suggestions(jp_fetch)
    expected = {"model": "coder", "requests": 2, "tokensIn": 1000, "tokensOut": 10, "cost": pytest.approx(0.003)}
    assert await used(jp_fetch) == [expected]
    assert await used(jp_fetch, since="0", until=str(2**42)) == [expected]
    assert await used(jp_fetch, until="1000") == []
    assert await used(jp_fetch, status="failed") == []
    await services.ghost_text.stop()
    kept = json.loads((services.config.home / "ghost-text.json").read_text(encoding="utf-8"))
    assert [use["requests"] for uses in kept.values() for use in uses] == [2]
    # A server that starts anew counts on.
    assert [use.requests for use in await GhostTextUse(services.config.home).of(*kept)] == [2]


async def test_it_ends_for_the_day_at_the_persons_limit(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server of this test is on this machine, where nothing is limited.
    monkeypatch.setattr(_ghost_text, "place_on_this_machine", lambda _: None)
    counted = refusal("200 OK", {"choices": [{"text": "csv()"}], "usage": {"prompt_tokens": 1000}})
    async with raw_server(counted) as server:
        await chosen(services, server, modelInputPrice=50.0, modelOutputPrice=0.0)
        await services.config.update({"ghostTextDailyCost": 0.09})
        assert await suggestions(jp_fetch) == ["csv()"]
        assert await suggestions(jp_fetch) == ["csv()"]
        told = await refused(jp_fetch)
        assert (told["code"], told["params"]) == ("ghost_text_limit", {"limit": "0.09"})
        assert len(server.requests) == 2
        await services.config.update({"ghostTextDailyCost": 0.5})
        assert await suggestions(jp_fetch) == ["csv()"]


async def test_requests_of_a_profile_are_as_far_apart_as_it_wants(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(SAID) as server:
        await chosen(services, server, rateLimitSeconds=3600)
        assert await suggestions(jp_fetch, count=3) == ["csv('prices.csv')"]
        assert await suggestions(jp_fetch) == []
        assert len(server.requests) == 1
        # A conversation with it would wait, too.
        assert services.agent.spacing.take_turn("gaps", 3600) > 3000


async def test_keys_are_masked_for_a_model_elsewhere(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server of this test is on this machine, where nothing is masked.
    monkeypatch.setattr(_ghost_text, "place_on_this_machine", lambda _: None)
    async with raw_server(SAID) as server:
        await chosen(services, server)
        await suggestions(
            jp_fetch, before=f"key = '{KEY}'\nclient = ", cells=[{"kind": "code", "source": f"k = '{KEY}'"}]
        )
        assert await suggestions(jp_fetch, before=f"key = '{KEY[:30]}", after=f"{KEY[30:]}'") == []
        assert len(server.requests) == 1
        assert KEY not in server.requests[0].content.decode()
        assert "client = " in server.requests[0].body["prompt"]


async def test_a_file_that_is_kept_from_the_agent_is_not_sent(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / ".hdspignore").write_text("secret/\n", encoding="utf-8")
    (jp_root_dir / "secret").mkdir()
    async with raw_server(SAID) as server:
        await chosen(services, server)
        assert await suggestions(jp_fetch, path="secret/n.ipynb") == []
        # What holds keys is no text to go on in.
        assert await suggestions(jp_fetch, path=".env") == []
        assert await suggestions(jp_fetch, path="sub/id_rsa") == []
        assert server.requests == []


async def test_who_types_on_is_waited_for_no_more(
    services: Services, jp_fetch: Fetch, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> None:
    async def silence(_reply: Reply) -> None:
        await asyncio.Event().wait()

    async with raw_server(silence) as server:
        await chosen(services, server)
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        body = json.dumps({"before": "x = "}).encode()
        head = [
            f"POST {jp_base_url}hdsp-agent/api/ghost-text HTTP/1.1",
            f"Host: 127.0.0.1:{jp_http_port}",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in jp_auth_header.items()),
        ]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await server.asked.wait()
        writer.close()
        await asyncio.wait_for(server.closed.wait(), 60)
    # It may be charged for.
    assert [use["requests"] for use in await used(jp_fetch)] == [1]


async def test_without_a_model_on_this_machine_it_says_what_to_do(services: Services, jp_fetch: Fetch) -> None:
    await services.config.update({"ghostTextEnabled": True})
    told = await refused(jp_fetch)
    assert told["code"] == "ghost_text_no_model"
    assert "Download the embedded model" in str(told["message"])
