"""A setting that is shown is read: the check that `make lint` runs finds one that is not."""

from __future__ import annotations

import importlib.util
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
    spec.loader.exec_module(module)
    return module


def test_every_setting_that_is_shown_is_read_somewhere(check: ModuleType) -> None:
    assert list(check.unread_settings(check.words_of_the_server() | check.words_of_the_page())) == []


def test_one_that_nobody_reads_is_found_by_its_name(check: ModuleType) -> None:
    found = set(check.unread_settings(set()))
    assert {"GlobalSettings.mode", "ProviderSettings.todo_list_enabled"} <= found
    # What is hidden is offered to nobody.
    assert "GlobalSettings.dismissed_hints" not in found and "GlobalSettings.memory_enabled" not in found
    shown = len(GlobalSettings.model_fields) + len(ProviderSettings.model_fields)
    assert shown // 2 < len(found) < shown
