"""What the documents say of the embedded model is what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hdsp_agent.local import catalogue

ROOT = Path(__file__).parents[2]
SAID = {
    "errands.held_out": "did it right",
    "errands.wrong_claims": "said _Checked_ and was wrong",
    "errands.wrong_unchecked": "said _Not checked_ and was wrong",
    "errands.damage": "damaged a cell or a file",
}


def test_guide_and_readme_quote_the_rates_of_what_is_held_out() -> None:
    measured = {entry["id"]: entry for entry in json.loads((ROOT / "benchmarks/results.json").read_text("utf-8"))}
    guide = (ROOT / "docs/guides/local-model.md").read_text("utf-8")
    for id_, row in SAID.items():
        found = re.search(rf"^\| {re.escape(row)} +\| (\d+) % +\| (\d+) % +\|$", guide, re.MULTILINE)
        assert found is not None, row
        rates = [round(measured[f"{id_}@{size}"]["value"]) for size in ("1.5b", "0.5b")]
        assert [int(rate) for rate in found.groups()] == rates, id_
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    found = re.search(
        r"of (\d+) everyday tasks that neither was tuned to, the larger did (\d+) % right and the smaller (\d+) %\.",
        readme,
    )
    assert found is not None
    larger, smaller = (measured[f"errands.held_out@{size}"] for size in ("1.5b", "0.5b"))
    assert (int(found[2]), int(found[3])) == (round(larger["value"]), round(smaller["value"]))
    tasks = re.search(r"with (\d+) tasks that neither was tuned to", guide)
    assert tasks is not None and {int(found[1]), int(tasks[1])} == {larger["runs"]} == {smaller["runs"]}


def test_the_list_of_models_quotes_them_too() -> None:
    measured = {entry["id"]: entry for entry in json.loads((ROOT / "benchmarks/results.json").read_text("utf-8"))}
    told = {model.id: model.held_out for model in catalogue().models if model.held_out is not None}
    assert "qwen2.5-coder-0.5b-instruct" in told
    for id_, rate in told.items():
        size = id_.removeprefix("qwen2.5-coder-").removesuffix("-instruct")
        entry = measured[f"errands.held_out@{size}"]
        assert (round(rate.done, 2), rate.of) == (round(entry["value"], 2), entry["runs"])
