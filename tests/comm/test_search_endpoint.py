"""A person names an embeddings endpoint in the running server: other words are found, and nothing is sent before or after."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from tests._helpers.embeddings_server import embeddings_server
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.kept_files import kept_in
from tests._helpers.parsed_json import ParsedJson

ME = server_owner()
KEY = "planted-key-0123456789"
TWINS = {"automobile": "car"}


async def rest(jp_fetch: Fetch, *path: str, method: str = "GET", body: object = None, **query: str) -> ParsedJson:
    text = None if body is None else json.dumps(body)
    answer = await jp_fetch(
        "hdsp-agent", "api", *path, method=method, body=text, params=query, allow_nonstandard_methods=True
    )
    parsed: ParsedJson = json.loads(answer.body)
    return parsed


async def found(jp_fetch: Fetch, text: str) -> list[str]:
    return [str(one["text"]) for one in (await rest(jp_fetch, "recall", query=text))["found"]]


async def test_other_words_are_found_with_the_endpoint_that_a_person_named_and_never_sent_unasked(
    services: Services, jp_fetch: Fetch, storage_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with embeddings_server(TWINS) as server:
        await rest(jp_fetch, "memory", "notes", method="POST", body={"text": "the automobile"})
        await rest(jp_fetch, "secrets", "storage", method="PUT", body={"kind": "file"})
        # Naming an endpoint does not choose it.
        named = {"searchByMeaning": "off", "searchEndpointUrl": server.url, "searchEndpointModel": "small"}
        view = await rest(jp_fetch, "settings", method="PATCH", body=named)
        assert view["settings"]["searchEndpointUrl"] == server.url
        secrets = await rest(jp_fetch, "secrets", "settings", "searchEndpointApiKey", method="PUT", body={"value": KEY})
        assert [one["last4"] for one in secrets["secrets"] if one["key"] == "searchEndpointApiKey"] == [KEY[-4:]]
        await services.recall_job.look()
        assert await found(jp_fetch, "car") == []
        assert (await rest(jp_fetch, "recall", "meaning"))["by"] == "off"
        await rest(jp_fetch, "recall", "meaning", method="POST")
        assert server.texts == []

        await rest(jp_fetch, "settings", method="PATCH", body={"searchByMeaning": "endpoint"})
        assert int((await rest(jp_fetch, "recall", "meaning"))["unread"]) > 0
        await services.recall_job.look()
        assert await rest(jp_fetch, "recall", "meaning") == {
            "by": "endpoint",
            "installed": (await services.past.embedder.status()).installed,
            "unread": 0,
        }
        assert any("the automobile" in text for text in await found(jp_fetch, "car"))
        assert set(server.keys) == {f"Bearer {KEY}"}

        server.status = 500
        assert (await rest(jp_fetch, "recall", "meaning", method="POST"))["failure"]["code"] == "embeddings_unavailable"
        assert any("the automobile" in text for text in await found(jp_fetch, "automobile"))
        server.status = 200

        await rest(jp_fetch, "settings", method="PATCH", body={"searchByMeaning": "off"})
        server.texts.clear()
        assert await found(jp_fetch, "car") == []
        await services.recall_job.look()
        assert server.texts == []

        exported = json.dumps(await rest(jp_fetch, "settings", "export"))
        assert KEY not in exported and server.url not in exported
    assert KEY not in caplog.text + "".join(repr(record.args) for record in caplog.records)
    kept = [path for path, content in kept_in(storage_dir).items() if KEY.encode() in content]
    assert [path.name for path in kept] == ["secrets.json"]


async def test_choosing_another_embedder_begins_a_round(services: Services, jp_fetch: Fetch) -> None:
    embedder = services.past.embedder
    begin = embedder.on_changed
    begun: list[None] = []

    def counted() -> None:
        begun.append(None)
        begin()

    embedder.on_changed = counted
    await rest(jp_fetch, "settings", method="PATCH", body={"searchByMeaning": "off"})
    assert len(begun) == 1
    await rest(jp_fetch, "settings", method="PATCH", body={"soundVolume": 0.25})
    assert len(begun) == 1
    assert begin == services.recall_job._rounds.hurry


async def test_without_numpy_the_pages_hear_why_and_words_are_searched(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    await rest(jp_fetch, "memory", "notes", method="POST", body={"text": "the automobile"})
    named = {
        "searchByMeaning": "endpoint",
        "searchEndpointUrl": "http://127.0.0.1:9/v1",
        "searchEndpointModel": "small",
    }
    await rest(jp_fetch, "settings", method="PATCH", body=named)
    assert any("the automobile" in text for text in await found(jp_fetch, "automobile"))
    for method in ("GET", "POST"):
        failure = (await rest(jp_fetch, "recall", "meaning", method=method))["failure"]
        assert failure["params"] == {"missing": "numpy"}


async def test_what_is_remembered_is_not_found_where_memory_is_off(services: Services, jp_fetch: Fetch) -> None:
    await rest(jp_fetch, "memory", "notes", method="POST", body={"text": "the zebra palette"})
    assert await found(jp_fetch, "zebra") != []
    await rest(jp_fetch, "settings", method="PATCH", body={"memoryEnabled": False})
    assert await found(jp_fetch, "zebra") == []
    assert await rest(jp_fetch, "recall", query="zebra", kinds="memory") == {"found": []}
