"""What is offered is used: the check that `make lint` runs finds settings, messages and fields that are not."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hdsp_agent.config import GlobalSettings, ProviderSettings


@pytest.fixture(scope="module")
def check() -> ModuleType:
    path = Path(__file__).parent.parent / "scripts" / "check_unused.py"
    spec = importlib.util.spec_from_file_location("check_unused", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its data classes look for the module they are in.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_one_that_nobody_reads_is_found_by_its_name(check: ModuleType) -> None:
    found = set(check.unread_settings(set()))
    assert {"GlobalSettings.mode", "ProviderSettings.todo_list_enabled"} <= found
    # What is hidden is offered to nobody.
    assert "GlobalSettings.dismissed_hints" not in found
    shown = len(GlobalSettings.model_fields) + len(ProviderSettings.model_fields)
    assert shown // 2 < len(found) < shown


def test_every_message_comes_from_somewhere_and_goes_somewhere(check: ModuleType) -> None:
    assert list(check.unused_messages(check.server_code(), check.page_code())) == []


def test_every_field_is_filled_and_read(check: ModuleType) -> None:
    assert list(check.unused_fields(check.server_code(), check.page_code())) == []
    assert check.needless_exceptions(check.server_code(), check.page_code()) == set()


def test_every_message_named_as_not_of_the_page_is_one_and_is_needed(check: ModuleType) -> None:
    page = check.page_code()
    assert not page.sent & check.NOT_SENT_BY_THE_PAGE and not page.heard & check.NOT_HEARD_BY_THE_PAGE
    known = {name for name in check.server_code().handled}
    assert known >= check.NOT_SENT_BY_THE_PAGE


@pytest.mark.parametrize(
    ("code", "part", "name", "problem"),
    [
        ("server", "handled", "forkTask", "The server does not handle the message forkTask"),
        ("page", "sent", "forkTask", "The page does not send the message forkTask"),
        ("server", "made", "RuleSuggestionsMessage", "The server does not send the message ruleSuggestions"),
        ("page", "heard", "ruleSuggestions", "The page does not handle the message ruleSuggestions"),
    ],
)
def test_a_message_that_nobody_uses_is_found_by_its_name(
    check: ModuleType, code: str, part: str, name: str, problem: str
) -> None:
    codes = {"server": check.server_code(), "page": check.page_code()}
    whole = getattr(codes[code], part)
    assert name in whole
    codes[code] = dataclasses.replace(codes[code], **{part: whole - {name}})
    assert list(check.unused_messages(codes["server"], codes["page"])) == [problem]


@pytest.mark.parametrize(
    ("code", "part", "names", "problem"),
    [
        ("server", "read", {"prompt_mode", "promptMode"}, "The server does not read UpdatePromptRequest.prompt_mode"),
        ("page", "words", {"promptMode"}, "The page does not fill UpdatePromptRequest.prompt_mode"),
        (
            "server",
            "filled",
            {"runningCommands", "running_commands"},
            "The server does not fill ExtensionState.running_commands",
        ),
        ("page", "words", {"hasOlderMessages"}, "The page does not read ExtensionState.has_older_messages"),
        ("server", "filled", {"api_hides", "apiHides"}, "Nobody fills RewindMark.api_hides"),
        ("server", "read", {"against"}, "The server does not read CheckpointDiffQuery.against"),
        ("server", "filled", {"llm_calls", "llmCalls"}, "The server does not fill TotalsView.llm_calls"),
    ],
)
def test_a_field_that_nobody_uses_is_found_by_its_name(
    check: ModuleType, code: str, part: str, names: set[str], problem: str
) -> None:
    codes = {"server": check.server_code(), "page": check.page_code()}
    codes[code] = dataclasses.replace(codes[code], **{part: getattr(codes[code], part) - names})
    assert problem in set(check.unused_fields(codes["server"], codes["page"]))
