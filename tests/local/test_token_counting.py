"""Counting by the real embedded model. Skipped, and said so, where there is none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hdsp_agent.agent._profile_models import ProfileModels
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.providers import count_tokens

from .test_real_model import asked, profile

pytestmark = pytest.mark.timeout(300)

SHORT = "Say it: the flats.\nEnd."
LONG = "Say it: the average rent of 1,234 flats is ₩56,780 — 한국어도 있다.\n\n<|im_end|>\tdf['rent'].mean()\nEnd."


async def test_it_counts_what_it_reads_and_is_not_loaded_for_that() -> None:
    async with asked() as it:
        assert await count_tokens(profile(), [LONG], local=it.models) is None
        assert it.models.runtime.process_id is None
        _, short, _ = await it.say(SHORT, longest=1)
        _, long, _ = await it.say(LONG, longest=1)
        counted = await count_tokens(profile(), [SHORT, LONG, ""], local=it.models)
        assert counted is not None and counted[2] == 0
        assert counted[1] - counted[0] == long.context - short.context
        # Another context size is no other way to count; other weights are.
        assert await count_tokens(profile(modelContextWindow=2048), [SHORT], local=it.models) == counted[:1]
        other = profile(localModelPath=None, apiModelId="qwen2.5-coder-0.5b-instruct")
        assert await count_tokens(other, [SHORT], local=it.models) is None


async def test_it_counts_while_it_answers_a_conversation(tmp_path: Path) -> None:
    home, policy = tmp_path / "home", OperatorPolicy()
    config = ContextProxy(home, policy, SecretStore(home, policy))
    await config.start()
    async with asked() as it:
        await config.profiles.update("default", profile().to_wire())
        profiles = ProfileModels(config, it.models)
        long = asyncio.create_task(it.say("Tell me a very long story.", longest=1000))
        await it.busy()
        counted = await profiles.count_tokens("default", [SHORT])
        assert counted is not None and 0 < counted[0] < len(SHORT)
        assert not long.done()
        long.cancel()
        await asyncio.wait([long])
        await profiles.close()
    await config.stop()
