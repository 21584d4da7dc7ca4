"""What is pasted into other programs is what they read, and starts our proxy."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib

import pytest

from hdsp_agent.mcp.connect import ConnectSnippet, connect_programs, proxy_command

URL = "https://hub.example.org/user/ada/hdsp-agent/mcp"
COMMAND = ("/opt/my tools/hdsp-agent", "mcp")


def _snippets(program: str, kind: str) -> tuple[ConnectSnippet, ...]:
    (found,) = (each for each in connect_programs(URL, COMMAND) if each.id == program)
    (way,) = (each for each in found.ways if each.kind == kind)
    return way.snippets


def _entry(snippet: ConnectSnippet) -> dict[str, object]:
    """What a program reads of it under our name."""
    document = tomllib.loads(snippet.text) if snippet.language == "toml" else json.loads(snippet.text)
    ((_, servers),) = document.items()
    entry: dict[str, object] = servers["hdsp-agent"]
    return entry


@pytest.mark.parametrize("program", [each.id for each in connect_programs(URL, COMMAND)])
def test_every_text_is_of_the_language_it_says_and_starts_the_proxy_or_names_the_address(program: str) -> None:
    for snippet in _snippets(program, "local"):
        if snippet.kind == "command":
            assert shlex.split(snippet.text)[-2:] == [*COMMAND]
            continue
        entry = _entry(snippet)
        arguments = entry.get("args", [])
        assert isinstance(arguments, list)
        started = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *arguments]
        assert started[:2] == [*COMMAND]
        assert "HDSP_AGENT_TOKEN" not in snippet.text and URL not in snippet.text
    for snippet in _snippets(program, "http"):
        entry = _entry(snippet)
        assert URL in (entry.get("url"), entry.get("httpUrl"))
        assert "HDSP_AGENT_TOKEN" in snippet.text


def test_a_hub_shows_the_way_with_a_token_first() -> None:
    assert {program.ways[0].kind for program in connect_programs(URL, COMMAND)} == {"local"}
    assert {program.ways[0].kind for program in connect_programs(URL, COMMAND, http_first=True)} == {"http"}


def test_programs_wait_for_a_person_longer_than_they_would_by_themselves() -> None:
    assert _entry(_snippets("codex", "local")[0])["tool_timeout_sec"] == 86_400
    for program in ("gemini-cli", "opencode"):
        assert _entry(_snippets(program, "local")[0])["timeout"] == 86_400_000


def test_editors_say_which_folder_is_open() -> None:
    for program in ("cursor", "vscode"):
        assert "${workspaceFolder}" in _snippets(program, "local")[0].text


def test_the_proxy_is_that_of_this_environment_and_is_told_where_the_server_left_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert proxy_command()[0].startswith(sys.prefix) and proxy_command()[-1] == "mcp"
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/elsewhere")
    assert proxy_command()[-2:] == ("--runtime-dir", "/elsewhere")
