"""Profiles over REST."""

from __future__ import annotations

import json
import logging

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch

API = ("hdsp-agent", "api")


async def test_a_change_that_is_refused_in_part_changes_nothing(services: Services, jp_fetch: Fetch) -> None:
    body = json.dumps({"name": "renamed", "pinned": True, "settings": {"anthropicBaseUrl": 5}})
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch(*API, "profiles", "default", method="PATCH", body=body)
    assert refused.value.code == 400
    [profile] = services.config.profiles.entries
    assert (profile.name, profile.pinned) == ("default", False)


async def test_what_a_path_quotes_cannot_forge_a_line_of_the_log(
    services: Services, jp_fetch: Fetch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(HTTPClientError):
        await jp_fetch(*API, "profiles", "a\n[E] forged")
    [line] = [record.getMessage() for record in caplog.records if "unknown_profile" in record.getMessage()]
    assert "\n" not in line


async def test_providers_asked_for_and_unknown_are_not_remembered(services: Services, jp_fetch: Fetch) -> None:
    from hdsp_agent.config._providers import _by_name
    from hdsp_agent.providers._model_catalogue import _catalogued

    before = _catalogued.cache_info().currsize
    for number in range(20):
        answer = await jp_fetch(*API, "models", params={"provider": f"nobody-{number}"})
        assert json.loads(answer.body) == {"models": []}
    assert _catalogued.cache_info().currsize == before
    assert _by_name.cache_info().currsize <= 1
