"""Which model learns, and that it leaves a model on this machine to whoever talks with it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hdsp_agent.agent.memory import ProfileMemoryModels
from hdsp_agent.config import GlobalSettings, ProviderSettings
from hdsp_agent.errors import Unavailable
from hdsp_agent.memory.model_port import ModelNeededElsewhere
from hdsp_agent.memory.no_model import no_model_text
from hdsp_agent.messages import ModelRecord
from hdsp_agent.providers import ModelClient, ScriptedModel

OLLAMA = ProviderSettings(api_provider="ollama", ollama_model_id="qwen3")
ELSEWHERE = ProviderSettings(
    api_provider="ollama", ollama_model_id="qwen3", ollama_base_url="http://gpu.example.org:11434"
)
CLOUD = ProviderSettings(api_provider="anthropic", api_model_id="claude-sonnet-4-5")
EMBEDDED = ProviderSettings(api_provider="local")


class Profiles:
    """Profiles by their names."""

    def __init__(self, profiles: Mapping[str, ProviderSettings]) -> None:
        self._profiles = profiles
        self.asked: list[str] = []

    def profile_for(self, mode: str, now: str | None = None) -> str:
        return "current"

    def settings_of(self, profile: str) -> ProviderSettings | None:
        return self._profiles.get(profile)

    def mistake_limit(self, profile: str) -> int:
        return 3

    def rate_limit_seconds(self, profile: str) -> float:
        return 0

    async def client(self, profile: str) -> ModelClient:
        self.asked.append(profile)
        return ScriptedModel([])

    async def known(self) -> ModelRecord:
        return {}

    async def close(self) -> None:
        pass


def models(
    current: ProviderSettings | None, *in_use: ProviderSettings, chosen: ProviderSettings | None = None
) -> ProfileMemoryModels:
    profiles = {name: one for name, one in (("current", current), ("cheap", chosen)) if one is not None}
    settings = GlobalSettings(memory_api_config_id="cheap" if chosen is not None else None)
    return ProfileMemoryModels(Profiles(profiles), lambda: settings, lambda: in_use)


@pytest.mark.parametrize(
    ("current", "in_use", "is_free"),
    [
        (OLLAMA, [OLLAMA], False),
        (OLLAMA, [CLOUD], True),
        (OLLAMA, [], True),
        (CLOUD, [CLOUD], True),
        (ELSEWHERE, [ELSEWHERE], True),
        (OLLAMA, [ELSEWHERE], True),
        (EMBEDDED, [EMBEDDED], False),
    ],
)
def test_a_model_on_this_machine_belongs_to_who_talks_with_it(
    current: ProviderSettings, in_use: list[ProviderSettings], *, is_free: bool
) -> None:
    memory = models(current, *in_use)
    if is_free:
        memory.check_free()
    else:
        with pytest.raises(ModelNeededElsewhere):
            memory.check_free()


async def test_the_profile_that_the_person_chose_learns_else_the_current_one() -> None:
    assert models(CLOUD).profile == "current"
    memory = models(EMBEDDED, chosen=CLOUD)
    assert memory.profile == "cheap" and memory.unusable is None
    await memory.client()


@pytest.mark.parametrize(
    ("talked_with", "learns", "may"),
    [
        (CLOUD, CLOUD, True),
        (OLLAMA, CLOUD, False),
        (EMBEDDED, CLOUD, False),
        (OLLAMA, OLLAMA, True),
        (None, CLOUD, False),
    ],
)
def test_what_was_said_to_a_model_on_this_machine_stays_there(
    talked_with: ProviderSettings | None, learns: ProviderSettings, *, may: bool
) -> None:
    profiles = {"current": learns, **({"then": talked_with} if talked_with is not None else {})}
    memory = ProfileMemoryModels(Profiles(profiles), GlobalSettings, lambda: ())
    assert memory.may_read("then") is may
    assert memory.may_read(None)
    chosen = ProfileMemoryModels(Profiles(profiles), lambda: GlobalSettings(memory_api_config_id="current"), lambda: ())
    assert chosen.may_read("then")
    assert chosen.may_read("then", used_local_model=True)


def test_who_went_on_with_another_model_did_not_mean_it_to_hear_what_was_said_before() -> None:
    cloud = ProfileMemoryModels(Profiles({"current": CLOUD}), GlobalSettings, lambda: ())
    assert not cloud.may_read("current", used_local_model=True)
    assert not cloud.may_read(None, used_local_model=True)
    here = ProfileMemoryModels(Profiles({"current": OLLAMA}), GlobalSettings, lambda: ())
    assert here.may_read("current", used_local_model=True)


@pytest.mark.parametrize(
    ("current", "why"), [(None, "No model is set up"), (ProviderSettings(), "No model"), (EMBEDDED, "too small")]
)
async def test_without_a_model_that_could_learn_it_says_why(current: ProviderSettings | None, why: str) -> None:
    memory = models(current)
    assert memory.unusable is not None and why in no_model_text(memory.unusable)
    with pytest.raises(Unavailable, match=why):
        await memory.client()
