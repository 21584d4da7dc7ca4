"""Budgets: reserved before, counted after, refused when they are used up, and started again with the next period."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hdsp_agent.hub.budget_book import BudgetBook
from hdsp_agent.hub.periods import period_around
from hdsp_agent.hub.policies import HubPolicies
from hdsp_agent.hub.usage_store import Amounts, RequestEnd, RequestStart, UsageStore
from hdsp_agent.providers import ModelError, classify

from .._helpers.model_server import RawServer, Reply, Script, raw_server, refusal, sse_events
from ._helpers.running import RunningService, running_service

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC).timestamp()


def policies(server: RawServer, budgets: str, *, top: str = "", language: str = "en") -> str:
    return f"""
        language: {language}
        time_zone: Asia/Seoul
        ask: "Ask the course team."
        providers:
          far:
            protocol: openai
            url: {server.url}/v1
            models:
              qwen3: {{input_price: 1000, output_price: 1000}}
              small: {{input_price: 0, output_price: 0}}
          claude:
            protocol: anthropic
            url: {server.url}
            models:
              claude-x: {{input_price: 1, output_price: 1}}
        budgets: [{top}]
        default:
          models: ["*"]
        groups:
          students:
            models: ["*"]
            budgets: [{budgets}]
    """


def answer(tokens: int) -> bytes:
    usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10}
    return refusal("200 OK", {"choices": [{"message": {"role": "assistant", "content": "Hi"}}], "usage": usage})


@pytest.fixture
def clock() -> list[float]:
    return [NOON]


def reads(clock: list[float]) -> Callable[[], float]:
    return lambda: clock[0]


async def statuses(running: RunningService, times: int, token: str = "ada-token", **body: object) -> list[int]:
    found = []
    for _ in range(times):
        found.append((await running.chat(token, **body)).status_code)
        await running.settled()
    return found


async def test_a_used_up_budget_is_refused_with_all_one_needs_to_know(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(60)) as server:
        text = policies(server, "{tokens: 100, period: month, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 2) == [200, 200]
            refused = await running.chat()
            assert refused.status_code == 429 and refused.headers["x-should-retry"] == "false"
            assert refused.json()["error"] == {
                "message": "Your budget of 100 tokens a month is used up. It starts again on 2026-04-01 00:00 (Asia/Seoul). "
                "Ask the course team.",
                "type": "budget_reached",
                "param": None,
                "code": "budget_reached",
            }
            messages = await running.http.post(
                f"{running.url}anthropic/v1/messages",
                headers={"x-api-key": "ada-token"},
                content=json.dumps({"model": "claude-x", "messages": [], "max_tokens": 5}),
            )
            assert messages.status_code == 429
            assert messages.json() == {
                "type": "error", "error": {"type": "budget_reached", "message": refused.json()["error"]["message"]},
            }  # fmt: skip
            assert len(server.requests) == 2
            # Everybody has their own.
            assert await statuses(running, 1, "bob-token") == [200]


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("ko", "예산(한 달 토큰 100개)을 모두 사용했습니다. 예산 사용량은 2026-04-01 00:00 (Asia/Seoul)에 초기화됩니다. Ask the course team."),
        ("ja", "予算（1か月あたり100トークン）を使い切りました。使用量は 2026-04-01 00:00 (Asia/Seoul) にリセットされます。 Ask the course team."),
    ],
)  # fmt: skip
async def test_the_sentence_is_in_the_language_of_the_hub(
    tmp_path: Path, clock: list[float], language: str, told: str
) -> None:
    async with raw_server(answer(100)) as server:
        text = policies(server, "{tokens: 100, period: month, per: user}", language=language)
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 1) == [200]
            assert (await running.chat()).json()["error"]["message"] == told


async def test_at_80_percent_a_header_tells(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(40)) as server:
        text = policies(server, "{tokens: 100, period: day, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            headers = []
            for _ in range(3):
                headers.append((await running.chat()).headers.get("HDSP-Agent-Budget"))
                await running.settled()
            assert headers == [None, None, "80% of 100 tokens a day; starts again 2026-04-01T00:00:00+09:00"]
            [budget] = (await running.json("api/usage"))["budgets"]
            assert (budget["used"], budget["percent"], budget["reserved"]) == (120, 120, 0)


async def test_the_next_period_starts_with_nothing(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(100)) as server:
        text = policies(server, "{tokens: 100, period: day, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 2) == [200, 429]
            # The day of Seoul ends at 15:00 UTC.
            clock[0] += 3 * 3600 - 1
            assert await statuses(running, 1) == [429]
            clock[0] += 1
            assert await statuses(running, 1) == [200]


async def test_a_group_shares_its_budget_and_everybody_the_one_at_the_top(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(100)) as server:
        text = policies(
            server,
            "{tokens: 200, period: day, per: group}",
            top="{tokens: 400, period: day, per: all, models: [qwen3]}",
        )
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 1) == [200]
            assert await statuses(running, 2, "bob-token") == [200, 429]
            told = (await running.chat()).json()["error"]["message"]
            assert told.startswith("The budget of 200 tokens a day that the group students shares is used up.")
            assert await statuses(running, 3, "tess-token") == [200, 200, 429]
            told = (await running.chat("tess-token")).json()["error"]["message"]
            assert told.startswith("The budget of 400 tokens a day that everybody shares is used up.")
            # It counts one model alone.
            assert await statuses(running, 1, "tess-token", model="small") == [200]


async def test_money_counts_by_the_prices_of_the_model(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(1000)) as server:
        text = policies(server, "{money: 1.5, period: week, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 3) == [200, 200, 429]
            told = (await running.chat()).json()["error"]["message"]
            assert "Your budget of US$1.50 a week is used up. It starts again on 2026-04-06 00:00" in told
            # Nor do models that cost nothing help: the budget is for all of them.
            assert await statuses(running, 1, model="small") == [429]


async def test_many_at_once_pass_the_limit_by_no_more_than_one_each(tmp_path: Path, clock: list[float]) -> None:
    go_on = asyncio.Event()

    async def slowly(reply: Reply) -> None:
        await go_on.wait()
        await reply.send(answer(100))

    async with raw_server(slowly) as server:
        text = policies(server, "{tokens: 1000, period: day, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            asked = [asyncio.create_task(running.chat(max_tokens=90)) for _ in range(100)]
            # All that are not refused wait for the provider.
            while len(refused := [task for task in asked if task.done()]) + len(server.requests) < len(asked):
                await asyncio.wait(asked, timeout=0.05)
            told = {task.result().json()["error"]["code"] for task in refused}
            assert told == {"rate_limit_error"}
            assert {task.result().headers["retry-after"] for task in refused} == {"5"}
            go_on.set()
            await asyncio.gather(*asked)
            await running.settled()
            [budget] = (await running.json("api/usage"))["budgets"]
            assert 1000 <= budget["used"] <= 1100 and budget["reserved"] == 0
            assert len(server.requests) == 100 - len(refused)


async def test_what_a_killed_service_had_begun_counts_as_it_was_reserved(tmp_path: Path, clock: list[float]) -> None:
    content = {
        "providers": {"far": {"protocol": "openai", "url": "http://far", "models": {"qwen3": None}}},
        "default": {"models": ["*"], "budgets": [{"tokens": 100, "period": "day", "per": "user"}]},
    }
    loaded = HubPolicies.model_validate(content)
    found = loaded.policy_of([])
    assert found is not None
    start = RequestStart(NOON, "ada", "default", "far", "qwen3", "chat", Amounts(70, 0.0))
    first = UsageStore(tmp_path / "usage.db")
    await first.open()
    await BudgetBook(first).admit(start, loaded, found[1])
    # Nothing more is written: as after a kill.
    second = UsageStore(tmp_path / "usage.db")
    await second.open()
    [use] = await BudgetBook(second).standing("ada", "default", NOON, loaded, found[1])
    assert (use.used, use.reserved) == (70, 0)
    [row] = await second.rows(NOON, NOON + 1)
    assert (row.requests, row.estimated) == (1, 1)
    await first.close()
    await second.close()


async def test_a_request_that_is_being_recorded_counts_once_in_a_budget_that_is_loaded_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {
        "providers": {"far": {"protocol": "openai", "url": "http://far", "models": {"qwen3": None}}},
        "default": {"models": ["*"], "budgets": [{"tokens": 100, "period": "day", "per": "user"}]},
    }
    loaded = HubPolicies.model_validate(content)
    found = loaded.policy_of([])
    assert found is not None
    store = UsageStore(tmp_path / "usage.db")
    await store.open()
    book = BudgetBook(store)
    request = await book.admit(
        RequestStart(NOON, "ada", "default", "far", "qwen3", "chat", Amounts(70, 0.0)), loaded, found[1]
    )
    go_on, end = asyncio.Event(), store.end

    async def slowly(number: int, ended: RequestEnd) -> None:
        await go_on.wait()
        await end(number, ended)

    monkeypatch.setattr(store, "end", slowly)
    settling = asyncio.create_task(book.settle(request, RequestEnd(NOON, 10, 0, 20, 0.0, 1, 1, 200, None, False)))
    await asyncio.sleep(0)
    monthly = HubPolicies.model_validate({**content, "budgets": [{"tokens": 100, "period": "month", "per": "all"}]})
    uses = await book.standing("ada", "default", NOON, monthly, found[1])
    assert [(use.used, use.reserved) for use in uses] == [(30, 0), (30, 0)]
    go_on.set()
    await settling
    await store.close()


async def test_one_row_that_cannot_be_written_does_not_stand_in_the_way_of_others(tmp_path: Path) -> None:
    store = UsageStore(tmp_path / "usage.db")
    await store.open()
    good = RequestStart(NOON, "ada", "default", "far", "qwen3", "chat", Amounts(70, 0.0))
    bad = RequestStart(NOON, "ada", "default", "far", "qwen3", "chat", Amounts(10**30, 0.0))
    done = await asyncio.gather(*map(store.start, (good, bad, good)), return_exceptions=True)
    assert [type(one) for one in done] == [int, OverflowError, int]
    assert (await store.total(0, ["*"])).tokens == 140
    await store.close()


async def test_new_policies_count_what_was_used_and_is_under_way(tmp_path: Path, clock: list[float]) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(reply: Reply) -> None:
        asked.set()
        await reply.begin()
        await reply.send(sse_events({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}))
        await go_on.wait()
        await reply.send(sse_events({"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 10}}, "[DONE]"))
        reply.writer.close()

    scripts: list[Script] = [answer(60), slowly, answer(60)]
    async with raw_server(*scripts) as server:
        text = policies(server, "{tokens: 1000, period: day, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 1) == [200]
            under_way = asyncio.create_task(running.chat(stream=True, max_tokens=30))
            await asked.wait()
            running.policies.write_text(
                running.policies.read_text()
                .replace("tokens: 1000", "tokens: 100")
                .replace("period: day", "period: month")
            )
            await running.service.policies.read_again()
            [budget] = (await running.json("api/usage"))["budgets"]
            assert (budget["used"], budget["limit"]) == (60, 100) and budget["reserved"] > 30
            go_on.set()
            await under_way
            await running.settled()
            [budget] = (await running.json("api/usage"))["budgets"]
            assert (budget["used"], budget["reserved"]) == (110, 0)
            assert await statuses(running, 1) == [429]


async def test_policies_with_mistakes_change_nothing(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(100)) as server:
        text = policies(server, "{tokens: 100, period: day, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            running.policies.write_text(running.policies.read_text().replace("period: day", "period: year"))
            await running.service.policies.read_again()
            assert await statuses(running, 2) == [200, 429]
            assert b"hdsp_agent_hub_policies_valid 0.0" in running.service.metrics.text()


async def test_nothing_is_passed_on_that_could_not_be_counted(tmp_path: Path, clock: list[float]) -> None:
    async with raw_server(answer(10)) as server:
        text = policies(server, "{tokens: 100, period: day, per: user}")
        async with running_service(tmp_path, text, now=reads(clock)) as running:
            assert await statuses(running, 1) == [200]
            await running.service.store._in(
                running.service.store._writer,
                lambda: running.service.store._connection.execute("DROP TABLE started"),  # type: ignore[union-attr]
            )
            refused = await running.chat()
            assert refused.status_code == 503 and "could not be recorded" in refused.json()["error"]["message"]
            assert len(server.requests) == 1
            [budget] = (await running.json("api/config/ada"))["budgets"]
            assert (budget["used"], budget["reserved"]) == (10, 0)


@pytest.mark.parametrize(
    ("period", "start", "end"),
    [
        ("day", "2026-03-29T00:00+01:00", "2026-03-30T00:00+02:00"),
        ("week", "2026-03-23T00:00+01:00", "2026-03-30T00:00+02:00"),
        ("month", "2026-03-01T00:00+01:00", "2026-04-01T00:00+02:00"),
    ],
)
def test_periods_are_those_of_the_clock_on_the_wall(period: str, start: str, end: str) -> None:
    # The night in which clocks are put forward.
    moment = datetime.fromisoformat("2026-03-29T05:00+02:00").timestamp()
    found = period_around(moment, period, ZoneInfo("Europe/Berlin"))  # type: ignore[arg-type]
    assert found == tuple(datetime.fromisoformat(text).timestamp() for text in (start, end))


def test_our_panel_shows_the_sentence_and_does_not_try_again() -> None:
    told = "Your budget of 100 tokens a month is used up. Ask the course team."
    for body in (
        {"error": {"message": told, "type": "budget_reached", "param": None, "code": "budget_reached"}},
        {"type": "error", "error": {"type": "budget_reached", "message": told}},
    ):
        error = classify(status=429, body=json.dumps(body))
        assert isinstance(error, ModelError)
        assert (error.kind, error.retryable, error.particular) == ("budget", False, told)
