"""The dashboard for Grafana and the list in the documents name what the code tells Prometheus, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from hdsp_agent.events import ModelRequestEnded, ToolCallEnded, TurnEnded, TurnStarted
from hdsp_agent.hub.service_metrics import ServiceMetrics
from hdsp_agent.hub.usage_store import Amounts, RequestEnd, RequestStart
from hdsp_agent.telemetry import ServerMetrics

DOCS = Path(__file__).parents[2] / "docs"
OF_PROMETHEUS = {"le", "instance", "job"}
"""Labels that every metric has there, or each histogram."""


def exposed() -> Mapping[str, set[str]]:
    """The names that can be asked for, each with its labels."""
    hub = ServiceMetrics()
    hub.passed_on(0.1)
    hub.refused("budget_reached")
    start = RequestStart(0, "ada", "default", "far", "m", "chat", Amounts(1, 1))
    hub.ended(start, RequestEnd(0, 1, 1, 1, 1, 1, 1, 200, None, False), with_user=True)
    hub.servers_now({"ada": 1}, {("running", "ada"): 1}, with_users=True)
    server = ServerMetrics("ada", lambda: 1)
    server.count(TurnStarted("t"))
    server.count(ModelRequestEnded("t", "far", "m", "ok", 1, 1, 1, 1, 1, 1))
    server.count(ToolCallEnded("t", "read_file", "done", 1))
    server.count(TurnEnded("t", "done"))
    found: dict[str, set[str]] = {}
    for text in (hub.text().decode(), generate_latest(server._registry).decode()):
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
    return {name: labels for name, labels in found.items() if not name.endswith("_created")}


@pytest.fixture(scope="module")
def dashboard() -> Any:
    return json.loads((DOCS / "assets/grafana-dashboard.json").read_text("utf-8"))


def queries(dashboard: Any) -> Iterator[tuple[str, str]]:
    """What each panel asks for, and how it names the answers."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"], target["legendFormat"]


def labels_of(query: str, legend: str) -> set[str]:
    """The labels that a query reads."""
    chosen = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", query)
    grouped = [name.strip() for names in re.findall(r"\bby \(([^)]*)\)", query) for name in names.split(",")]
    return {*chosen, *grouped, *re.findall(r"{{(\w+)}}", legend)}


def test_every_metric_and_label_of_the_dashboard_is_exposed(dashboard: Any) -> None:
    known, asked = exposed(), set[str]()
    for query, legend in queries(dashboard):
        names = set(re.findall(r"\bhdsp_agent\w*", query))
        assert names and names <= known.keys(), query
        for name in names:
            assert labels_of(query, legend) <= known[name] | OF_PROMETHEUS, query
        asked |= names
    # What is told is shown, too; a histogram by its buckets alone.
    shown = {name for name in known if not re.search(r"_seconds_(count|sum)$", name)}
    assert asked == shown
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            assert variable["name"] in known["hdsp_agent_requests_total"] & known["hdsp_agent_hub_requests_total"]
            assert "hdsp_agent(_hub)?_requests_total" in variable["query"]["query"]


def test_the_dashboard_is_one_that_grafana_can_import(dashboard: Any) -> None:
    assert dashboard["id"] is None and dashboard["uid"] and dashboard["schemaVersion"] >= 36
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] in ("row", "stat", "timeseries")
        for target in panel.get("targets", []):
            assert target["datasource"] == panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps([*queries(dashboard), dashboard["panels"]])))
    assert used - {"__rate_interval"} == variables


def test_what_was_not_measured_yet_has_no_number() -> None:
    assert "\nhdsp_agent_stored_bytes NaN\n" in generate_latest(ServerMetrics("", lambda: None)._registry).decode()


def test_the_list_in_the_documents_is_what_is_exposed() -> None:
    text = (DOCS / "guides/monitoring.md").read_text("utf-8")
    listed = {
        name: set(re.findall(r"`(\w+)`", labels))
        for name, labels in re.findall(r"^\| `(hdsp_agent\w*)` *\| ([^|]*)\|", text, re.MULTILINE)
    }
    families: dict[str, set[str]] = {}
    for name, labels in exposed().items():
        family = re.sub(r"(_seconds)_(bucket|count|sum)$", r"\1", name)
        families.setdefault(family, set()).update(labels - {"le"})
    assert listed == families
