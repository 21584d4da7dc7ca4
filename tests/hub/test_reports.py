"""What administrators and monitoring see: use by day, person and model, and numbers without names."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

from .._helpers.model_server import raw_server, refusal
from ._helpers.running import ADMIN, RunningService, running_service

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC).timestamp()
TEXT = """
    metrics_with_users: {with_users}
    providers:
      far:
        protocol: openai
        url: {url}/v1
        models:
          qwen3: {{input_price: 1000, output_price: 2000}}
    default:
      models: ["*"]
"""
USED = refusal("200 OK", {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 10}})
REFUSED = refusal("400 Bad Request", {"error": {"code": "context_length_exceeded", "message": "Too long: my words."}})


async def use(running: RunningService) -> None:
    for token in ("ada-token", "bob-token", "ada-token"):
        await running.chat(token)
        await running.settled()


async def test_an_administrator_sees_everybodys_use_and_leaves_a_line(tmp_path: Path) -> None:
    clock = [NOON]
    async with (
        raw_server(USED, USED, REFUSED) as server,
        running_service(tmp_path, TEXT.format(url=server.url, with_users="false"), now=lambda: clock[0]) as running,
    ):
        await use(running)
        rows = (await running.json("api/admin/usage", "root-token"))["usage"]
        assert [(row["day"], row["user"], row["requests"], row["errors"], row["last_error"]) for row in rows] == [
            ("2026-03-31", "ada", 2, 1, "context_length_exceeded"),
            ("2026-03-31", "bob", 1, 0, None),
        ]
        assert [(row["tokens_in"], row["tokens_out"], row["money"]) for row in rows] == [(40, 10, 0.06), (40, 10, 0.06)]
        listed = await running.get("api/admin/usage?format=csv", "root-token")
        assert listed.headers["content-type"] == "text/csv; charset=utf-8"
        assert [row["user"] for row in csv.DictReader(io.StringIO(listed.text))] == ["ada", "bob"]
        assert (await running.json("api/admin/usage?until=2026-03-30", "root-token"))["usage"] == []
        for days in ("since=yesterday", "since=2020-01-01", "until=9999-12-31"):
            assert (await running.get(f"api/admin/usage?{days}", "root-token")).status_code == 400
        assert (await running.json("api/usage?since=9999-12-31&until=9999-12-31"))["usage"] == []
        lines = [json.loads(line) for line in (tmp_path / "data/audit.jsonl").read_text().splitlines()]
        assert [(line["user"], line["action"], line["via"]) for line in lines] == [
            ("root", "read", "hub usage json"), ("root", "read", "hub usage csv"), ("root", "read", "hub usage json"),
        ]  # fmt: skip
        clock[0] += 32 * 86_400
        assert (await running.json("api/admin/usage", "root-token"))["usage"] == []


async def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    async with (
        raw_server(USED) as server,
        running_service(tmp_path, TEXT.format(url=server.url, with_users="false")) as running,
    ):
        running.hub.add("evil-token", '=HYPERLINK("x")')
        await running.chat("evil-token")
        await running.settled()
        listed = await running.get("api/admin/usage?format=csv", "root-token")
        assert [row["user"] for row in csv.DictReader(io.StringIO(listed.text))] == ['\'=HYPERLINK("x")']


async def test_metrics_count_without_names(tmp_path: Path) -> None:
    async with (
        raw_server(USED, USED, REFUSED) as server,
        running_service(tmp_path, TEXT.format(url=server.url, with_users="false")) as running,
    ):
        await use(running)
        await running.chat(model="none")
        told = (await running.get("metrics", "")).text
        for line in (
            'hdsp_agent_hub_requests_total{model="qwen3",provider="far",status="200",user=""} 2.0',
            'hdsp_agent_hub_requests_total{model="qwen3",provider="far",status="400",user=""} 1.0',
            'hdsp_agent_hub_tokens_total{direction="in",model="qwen3",provider="far",user=""} 80.0',
            'hdsp_agent_hub_cost_dollars_total{model="qwen3",provider="far",user=""} 0.12',
            'hdsp_agent_hub_refusals_total{reason="model_not_allowed"} 1.0',
            'hdsp_agent_hub_request_seconds_count{model="qwen3",provider="far"} 3.0',
            "hdsp_agent_hub_overhead_seconds_count 3.0",
            "hdsp_agent_hub_active_requests 0.0",
            "hdsp_agent_hub_policies_valid 1.0",
        ):
            assert line in told.splitlines()
        assert float(told.partition("\nhdsp_agent_hub_stored_bytes ")[2].split()[0]) > 0
        assert "ada" not in told and "bob" not in told


async def test_metrics_name_people_where_the_policies_say_so(tmp_path: Path) -> None:
    async with (
        raw_server(USED) as server,
        running_service(tmp_path, TEXT.format(url=server.url, with_users="true")) as running,
    ):
        await use(running)
        assert (await running.get("metrics", "")).status_code == 401
        assert 'provider="far",status="200",user="ada"} 2.0' in (await running.get("metrics", "root-token")).text


async def test_metrics_through_the_hubs_proxy_need_a_token(tmp_path: Path) -> None:
    async with (
        raw_server(USED) as server,
        running_service(tmp_path, TEXT.format(url=server.url, with_users="false")) as running,
    ):
        running.hub.add("prometheus-token", "prometheus", scopes=(ADMIN,), kind="service")
        through = {"X-Forwarded-For": "127.0.0.1"}
        assert (await running.get("metrics", "", **through)).status_code == 401
        assert (await running.get("metrics", "ada-token", **through)).status_code == 403
        assert (await running.get("metrics", "prometheus-token", **through)).status_code == 200
