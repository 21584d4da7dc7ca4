"""Settings over REST."""

from __future__ import annotations

import json

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch

API = ("hdsp-agent", "api")


async def fetch(jp_fetch: Fetch, *path: str, method: str = "GET", body: object = None) -> dict[str, object]:
    text = None if body is None and method in ("GET", "DELETE") else json.dumps(body or {})
    answer = await jp_fetch(*API, *path, method=method, body=text)
    parsed: dict[str, object] = json.loads(answer.body)
    return parsed


async def refusal(jp_fetch: Fetch, *path: str, method: str, body: str | bytes | None) -> tuple[int, dict[str, object]]:
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch(*API, *path, method=method, body=body)
    assert refused.value.response is not None
    return refused.value.code, json.loads(refused.value.response.body)


async def test_a_changed_setting_is_kept_and_answered(services: Services, jp_fetch: Fetch) -> None:
    view = await fetch(jp_fetch, "settings", method="PATCH", body={"mode": "ask", "requestDelaySeconds": 5})
    assert view["settings"]["mode"] == "ask"  # type: ignore[index]
    assert services.config.settings.request_delay_seconds == 5


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({"requestDelaySeconds": "soon"}, "requestDelaySeconds"),
        ({"noSuchThing": 1}, "noSuchThing"),
        ({"mode": ["x"]}, "mode"),
    ],
)
async def test_an_invalid_setting_names_the_field_and_changes_nothing(
    patch: dict[str, object], field: str, services: Services, jp_fetch: Fetch
) -> None:
    before = services.config.settings
    code, error = await refusal(jp_fetch, "settings", method="PATCH", body=json.dumps({"language": "ko", **patch}))
    assert (code, error["code"], error["field"]) == (400, "invalid_setting", field)
    assert error["message"]
    assert services.config.settings == before


@pytest.mark.parametrize(
    "body", ["{", "[]", '"x"', "NaN", '{"a": NaN}', "\ud800".encode("utf-8", "surrogatepass"), "[" * 9999]
)
async def test_a_body_that_is_no_json_object_gets_a_typed_error(
    body: str | bytes, services: Services, jp_fetch: Fetch
) -> None:
    code, error = await refusal(jp_fetch, "settings", method="PATCH", body=body)
    assert (code, error["code"]) == (400, "invalid_input")


async def test_reset_puts_settings_back(services: Services, jp_fetch: Fetch) -> None:
    await fetch(jp_fetch, "settings", method="PATCH", body={"mode": "ask"})
    view = await fetch(jp_fetch, "settings", method="DELETE")
    assert view["settings"] == view["defaults"]


async def test_an_exported_file_can_be_imported_again(services: Services, jp_fetch: Fetch) -> None:
    await fetch(jp_fetch, "settings", method="PATCH", body={"mode": "ask"})
    await fetch(jp_fetch, "profiles", method="POST", body={"name": "한국어", "settings": {"apiProvider": "ollama"}})
    exported = await fetch(jp_fetch, "settings", "export")
    await fetch(jp_fetch, "settings", method="DELETE")
    report = await fetch(jp_fetch, "settings", "import", method="POST", body=exported)
    assert "한국어" in report["profiles"]  # type: ignore[operator]
    assert services.config.settings.mode == "ask"
    assert services.config.profiles.get("한국어").api_provider == "ollama"


async def test_the_schema_has_a_title_and_a_group_for_every_setting(services: Services, jp_fetch: Fetch) -> None:
    schema = await fetch(jp_fetch, "settings", "schema")
    properties = schema["globalSettings"]["properties"]  # type: ignore[index]
    assert properties
    for name, described in properties.items():
        assert described.get("title") and described.get("x-group"), name


class TestWhatTheOperatorFixed:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["HdspAgentApp"].update(
            fixed_settings={"mode": "ask"}, allowed_providers=["ollama"], allow_auto_approval=False
        )
        return jp_server_config

    async def test_is_said_and_cannot_be_changed(self, services: Services, jp_fetch: Fetch) -> None:
        view = await fetch(jp_fetch, "settings")
        assert view["fixed"] == ["autoApprovalEnabled", "mode"]
        code, error = await refusal(jp_fetch, "settings", method="PATCH", body='{"mode": "code"}')
        assert (code, error["code"], error["field"]) == (403, "forbidden_by_operator", "mode")

    async def test_other_providers_are_refused(self, services: Services, jp_fetch: Fetch) -> None:
        body = json.dumps({"name": "x", "settings": {"apiProvider": "anthropic"}})
        code, error = await refusal(jp_fetch, "profiles", method="POST", body=body)
        assert (code, error["code"]) == (403, "forbidden_by_operator")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'"' + b"a" * 3_000_000 + b'"', "larger than 2097152 bytes"),
        (b"[" + b"[]," * 20_001 + b"1]", "more than 20,000 parts"),
        (b"{" + b'"a":1,' * 20_001 + b'"b":1}', "more than 20,000 parts"),
    ],
)
async def test_a_body_that_is_too_much_is_refused(body: bytes, why: str, services: Services, jp_fetch: Fetch) -> None:
    status, error = await refusal(jp_fetch, "settings", "import", method="POST", body=body)
    assert (status, error["code"]) == (413, "frame_too_large")
    assert why in str(error["message"])
