"""What only the clouds have: signed requests and framed answers on Bedrock, tokens on Vertex."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import JsonValue

from .._helpers.model_gateway import GOOGLE_TOKEN, TOKEN_ANSWER, frame, gateway
from .._helpers.model_server import ModelServer, Reply, Script, raw_server, refusal
from ._helpers.provider_agent import agent_behind, call, completion, profile_of, sent_by, speaking_agent, turn
from ._helpers.scripted_agent import until

ENVIRONMENT_KEY = "AKIAFROMENVIRONMENT0"


def without(profile: dict[str, JsonValue], *names: str) -> dict[str, JsonValue]:
    """The profile without these settings."""
    return {key: value for key, value in profile.items() if key not in names}


def in_frames(*frames: bytes) -> Script:
    """A stream of these frames."""

    async def answer(reply: Reply) -> None:
        await reply.begin(headers=["X-Amzn-Bedrock-Content-Type: application/json"])
        for each in frames:
            await reply.send(each)

    return answer


async def test_credentials_of_the_environment_sign_and_the_models_id_is_in_the_path(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ENVIRONMENT_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-from-the-environment")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session-from-the-environment")
    model_server.answer(completion(None))
    async with raw_server(gateway(model_server)) as server:
        profile = without(profile_of("bedrock", server.url), "awsAccessKey", "awsSecretKey")
        async with speaking_agent(tmp_path, {**profile, "awsUseCrossRegionInference": True}) as agent:
            await agent.finished()
    (request,) = server.requests
    assert request.path == ("/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream")
    assert f"Credential={ENVIRONMENT_KEY}/" in request.headers["authorization"]
    assert "/us-east-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.headers["x-amz-security-token"] == "session-from-the-environment"
    assert "model" not in request.body and "stream" not in request.body


@pytest.mark.parametrize("with_key", [True, False])
async def test_a_bedrock_key_in_the_environment_and_access_keys_do_not_exclude_each_other(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_key: bool
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key-of-the-environment")
    model_server.answer(completion(None))
    async with agent_behind(
        gateway(model_server), home=tmp_path, protocol="bedrock", profile={"awsUseApiKey": with_key}
    ) as (server, agent):
        # A key from the environment goes to no address but those that the environment names.
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        await agent.finished()
    (request,) = server.requests
    start = "Bearer bedrock-key-of-the-environment" if with_key else "AWS4-HMAC-SHA256 "
    assert request.headers["authorization"].startswith(start)


async def test_an_aws_profile_signs_with_its_own_keys_and_region(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text("[profile mine]\nregion = eu-west-1\n")
    (tmp_path / "keys").write_text("[mine]\naws_access_key_id = AKIAOFTHEPROFILE0000\naws_secret_access_key = s\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key-of-the-environment")
    model_server.answer(completion(None))
    async with raw_server(gateway(model_server)) as server:
        profile = without(profile_of("bedrock", server.url), "awsAccessKey", "awsSecretKey", "awsRegion")
        async with speaking_agent(tmp_path, {**profile, "awsUseProfile": True, "awsProfile": "mine"}) as agent:
            await agent.finished()
    (request,) = server.requests
    assert "Credential=AKIAOFTHEPROFILE0000/" in request.headers["authorization"]
    assert "/eu-west-1/bedrock/" in request.headers["authorization"]


@pytest.mark.parametrize(
    "name",
    [
        "throttlingException",
        "serviceUnavailableException",
        "modelStreamErrorException",
        "internalServerException",
        "modelTimeoutException",
    ],
)
async def test_an_exception_within_bedrocks_stream_is_tried_again(
    model_server: ModelServer, tmp_path: Path, name: str
) -> None:
    model_server.answer(completion(None))
    failing = frame(b'{"message": "Try it later."}', (":exception-type", name), (":message-type", "exception"))
    scripts = (in_frames(failing), gateway(model_server))
    async with agent_behind(*scripts, home=tmp_path, protocol="bedrock") as (server, agent):
        task_id = await agent.finished()
        (said,) = await agent.says(task_id, "api_req_retry_delayed")
        assert "Bedrock" in (said.text or "") or "provider" in (said.text or "")
    assert len(server.requests) == 2


async def test_an_overflow_within_bedrocks_stream_is_one(tmp_path: Path) -> None:
    failing = frame(
        b'{"message": "Input is too long for requested model."}',
        (":exception-type", "validationException"),
        (":message-type", "exception"),
    )
    async with agent_behind(in_frames(failing), home=tmp_path, protocol="bedrock") as (server, agent):
        ask = await agent.asked(await agent.start(), "api_req_failed")
        assert "too long for the model" in (ask.text or "")
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ({}, "no usable key for Amazon Bedrock"),
        ({"awsUseProfile": True, "awsProfile": "nobody-of-this-name"}, "nobody-of-this-name"),
        ({"awsUseProfile": True, "awsProfile": "nobody-of-this-name", "awsRegion": None}, "nobody-of-this-name"),
    ],
    ids=["none", "profile", "profile without region"],
)
async def test_missing_credentials_are_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: dict[str, JsonValue], said: str
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    async with raw_server(b"") as server:
        own = without(profile_of("bedrock", server.url), "awsAccessKey", "awsSecretKey")
        async with speaking_agent(tmp_path, {**own, **profile}) as agent:
            ask = await agent.asked(await agent.start(), "api_req_failed")
            assert said in (ask.text or "")
            assert agent.slept == []
    assert server.requests == []


async def test_one_token_serves_a_whole_task_on_vertex(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.answer(turn(None, call("list_files", "call_list", path=".")), completion("call_list"))
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="vertex") as (server, agent):
        await agent.finished()
    model = "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
    asked = f"/v1/projects/project-of-tests/locations/us-east5/{model}"
    assert [request.path for request in server.requests] == ["/token", asked, asked]
    assert b"assertion=" in server.requests[0].content
    assert all(request.headers["authorization"] == f"Bearer {GOOGLE_TOKEN}" for request in server.requests[1:])
    assert all("model" not in body for body in sent_by(server.requests))


async def test_a_refused_service_account_is_said_so_and_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = refusal("400 Bad Request", {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})
    async with raw_server(refused) as server, speaking_agent(tmp_path, profile_of("vertex", server.url)) as agent:
        ask = await agent.asked(await agent.start(), "api_req_failed")
        assert "no usable key for Google Vertex AI" in (ask.text or "")
        assert "Invalid JWT Signature" in (ask.text or "")
        assert "PRIVATE KEY" not in (ask.text or "")
        assert agent.slept == []
    assert len(server.requests) == 1


async def test_a_cancel_does_not_wait_for_a_token(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.answer(completion(None))

    async def silent(_: Reply) -> None:
        await asyncio.Event().wait()

    async with raw_server(silent, TOKEN_ANSWER, gateway(model_server)) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_VERTEX_BASE_URL", f"{server.url}/v1")
            async with speaking_agent(tmp_path, profile_of("vertex", server.url)) as agent:
                task_id = await agent.start()
                await until(lambda: len(server.requests) == 1)
                await agent.manager.cancel(task_id)
                ask = await agent.asked(task_id, "resume_task")
                await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
                await agent.ended(task_id)
