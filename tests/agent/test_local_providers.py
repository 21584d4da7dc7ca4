"""Which addresses are on this machine, and which conversations were with a model on it."""

from __future__ import annotations

import pytest

from hdsp_agent.agent._local_providers import is_on_this_machine, stayed_on_this_machine
from hdsp_agent.config import ProviderSettings


@pytest.mark.parametrize(
    "address, is_here",
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://[::1]:8080", True),
        ("https://api.openai.com/v1", False),
        ("https://localhost.example.org", False),
        ("http://[broken", False),
        ("", False),
    ],
)
def test_an_address_is_on_this_machine_by_its_host(address: str, is_here: bool) -> None:
    assert is_on_this_machine(address) is is_here


@pytest.mark.parametrize(
    "profile, used_local_model, stayed",
    [
        ("cloud", False, False),
        ("cloud", True, True),
        ("here", False, True),
        ("gone", False, True),
        (None, False, False),
        (None, True, True),
    ],
)
def test_a_conversation_stayed_if_a_model_here_was_asked_or_may_have_been(
    profile: str | None, used_local_model: bool, stayed: bool
) -> None:
    known = {"cloud": ProviderSettings(api_provider="anthropic"), "here": ProviderSettings(api_provider="local")}
    assert stayed_on_this_machine(profile, known.get, used_local_model=used_local_model) is stayed
