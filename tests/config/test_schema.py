"""The schema is the one source: it must say everything the panel, the file and the secret storage need."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pydantic import BaseModel

from hdsp_agent.config import (
    GlobalSettings,
    ProviderSettings,
    providers,
    secret_environment,
    secret_keys,
    secret_keys_of,
)
from tests._helpers.parsed_json import ParsedJson

MODELS = [GlobalSettings, ProviderSettings]
LOOKS_SECRET = re.compile(r"key|token|secret|credentials|password|passphrase", re.IGNORECASE)
REVIEWED_NOT_SECRET = {
    "anthropicUseAuthToken": "a switch",
    "awsUseApiKey": "a switch",
    "includeMaxTokens": "a switch",
    "modelMaxTokens": "a number",
    "modelMaxThinkingTokens": "a number",
    "secretStorage": "a choice of place",
    "vertexKeyFile": "the path of a file",
}


def properties(model: type[BaseModel]) -> dict[str, ParsedJson]:
    fields: dict[str, ParsedJson] = model.model_json_schema()["properties"]
    return fields


@pytest.mark.parametrize("model", MODELS)
def test_every_field_says_where_and_how_it_is_shown(model: type[BaseModel]) -> None:
    schema = model.model_json_schema()
    groups = {group["id"] for group in schema["x-groups"]}
    for key, definition in schema["properties"].items():
        assert definition.get("title"), key
        assert len(str(definition.get("description", ""))) > 5, key
        assert definition.get("x-group") in groups, key
    orders = [definition["x-order"] for definition in schema["properties"].values()]
    assert orders == sorted(set(orders))


@pytest.mark.parametrize("model", MODELS)
def test_every_group_has_fields(model: type[BaseModel]) -> None:
    schema = model.model_json_schema()
    assert {group["id"] for group in schema["x-groups"]} == {
        definition["x-group"] for definition in schema["properties"].values()
    }


@pytest.mark.parametrize("model", MODELS)
def test_choices_have_labels(model: type[BaseModel]) -> None:
    def check(node: object, key: str) -> None:
        if isinstance(node, dict):
            assert "enum" not in node, f"{key} shows bare values"
            for option in node.get("oneOf", []):
                assert option["title"]
            for child in node.values():
                check(child, key)
        elif isinstance(node, list):
            for child in node:
                check(child, key)

    for key, definition in properties(model).items():
        check(definition, key)


@pytest.mark.parametrize("model", MODELS)
def test_labels_cover_exactly_the_choices(model: type[BaseModel]) -> None:
    """A label for a value that is refused, or none for one that is accepted, would only be found by a person."""
    for key, definition in properties(model).items():
        options = [definition, *definition.get("anyOf", []), definition.get("items", {})]
        for labelled in (option["oneOf"] for option in options if "oneOf" in option):
            for choice in labelled:
                value = [choice["const"]] if definition.get("type") == "array" else choice["const"]
                model.model_validate({key: value})


@pytest.mark.parametrize("model", MODELS)
def test_texts_lists_and_numbers_are_bounded(model: type[BaseModel]) -> None:
    def check(node: ParsedJson, key: str) -> None:
        kind = node.get("type")
        if kind == "string" and "oneOf" not in node and "const" not in node:
            assert "maxLength" in node, key
        if kind == "array":
            assert "maxItems" in node, key
        if kind in ("integer", "number"):
            assert {"maximum", "exclusiveMaximum"} & set(node), key
            assert {"minimum", "exclusiveMinimum"} & set(node), key
        if kind == "object" and "$ref" not in node:
            assert "maxProperties" in node, key
        for option in node.get("anyOf", []):
            check(option, key)

    for key, definition in properties(model).items():
        check(definition, key)


@pytest.mark.parametrize("model", MODELS)
def test_nullable_exactly_where_the_default_is_null(model: type[BaseModel]) -> None:
    for key, definition in properties(model).items():
        nullable = {"type": "null"} in definition.get("anyOf", [])
        assert nullable == ("default" in definition and definition["default"] is None), key


@pytest.mark.parametrize("model", MODELS)
def test_whatever_looks_like_a_secret_is_one_or_was_reviewed(model: type[BaseModel]) -> None:
    for key, definition in properties(model).items():
        if LOOKS_SECRET.search(key):
            secret: object = definition.get("x-secret")
            assert secret is True or key in REVIEWED_NOT_SECRET, key
    assert not secret_keys() & REVIEWED_NOT_SECRET.keys()


def test_secrets_are_write_only_belong_to_a_provider_and_never_appear_in_text() -> None:
    for key in secret_keys():
        definition = properties(ProviderSettings)[key]
        assert definition["x-providers"], key
        write_only: object = definition["anyOf"][0]["writeOnly"]
        assert write_only is True
        settings = ProviderSettings.model_validate({key: "sk-planted-0123456789"})
        assert "planted" not in settings.to_json() + repr(settings) + str(settings.to_wire())


def test_keys_that_roo_code_forgot_are_secrets_here() -> None:
    assert "vertexJsonCredentials" in secret_keys()
    assert {"openAiSecretHeaders", "awsSessionToken", "groqApiKey"} <= secret_keys()


def test_environment_variables_follow_from_the_schema() -> None:
    assert {
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "HDSP_AGENT_PASSPHRASE",
    } <= secret_environment()


def test_an_openai_key_from_the_environment_never_goes_to_an_arbitrary_address() -> None:
    assert "OPENAI_API_KEY" not in properties(ProviderSettings)["openAiApiKey"].get("x-env", [])


def test_providers_name_existing_fields_of_their_own() -> None:
    fields = properties(ProviderSettings)
    for provider in providers():
        for field in (provider.model_field, provider.key_field, provider.base_url_field):
            if field is not None:
                assert provider.id in fields[field]["x-providers"], (provider.id, field)
        if provider.key_field is not None:
            assert provider.key_field in secret_keys_of(provider.id)
        if provider.key_required:
            assert provider.key_field is not None


def test_fields_apply_to_known_providers_only() -> None:
    known = {provider.id for provider in providers()}
    assert [provider["id"] for provider in ProviderSettings.model_json_schema()["x-provider-list"]] == [
        provider.id for provider in providers()
    ]
    for key, definition in properties(ProviderSettings).items():
        assert set(definition.get("x-providers", [])) <= known, key


def test_importing_loads_no_storage_library() -> None:
    script = (
        "import sys, pydantic; from hdsp_agent import wire; before = set(sys.modules); import hdsp_agent.config;"
        "print(len(sys.modules.keys() - before), sorted({'keyring', 'cryptography', 'filelock'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded, heavy = run.stdout.split(maxsplit=1)
    assert heavy == "[]\n"
    # Generous: this catches a library slipping in.
    assert int(loaded) < 200
