"""What the documents say of the embedded model is what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hdsp_agent.local import catalogue

ROOT = Path(__file__).parents[2]
SAID = {
    "errands.held_out@0.5b": r"It did (\d+) % of them right",
    "errands.wrong_claims@0.5b": r"In (\d+) % it said _Checked_ and was wrong",
    "errands.wrong_unchecked@0.5b": r"In (\d+) % it said _Not checked_ and was wrong",
    "errands.damage@0.5b": r"In (\d+) % it damaged a cell or a file",
}


def test_guide_and_readme_quote_the_rates_of_what_is_held_out() -> None:
    measured = {entry["id"]: entry for entry in json.loads((ROOT / "benchmarks/results.json").read_text("utf-8"))}
    guide = " ".join((ROOT / "docs/guides/local-model.md").read_text("utf-8").split())
    for id_, sentence in SAID.items():
        found = re.search(sentence, guide)
        assert found is not None, sentence
        assert int(found[1]) == round(measured[id_]["value"]), id_
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    found = re.search(r"The smaller of two did (\d+) % of (\d+) everyday tasks right", readme)
    assert found is not None
    held_out = measured["errands.held_out@0.5b"]
    assert (int(found[1]), int(found[2])) == (round(held_out["value"]), held_out["runs"])
    said = re.search(r"with (\d+) tasks that it was never tuned to", guide)
    assert said is not None and int(said[1]) == measured["errands.held_out@0.5b"]["runs"]


def test_the_list_of_models_quotes_them_too() -> None:
    measured = {entry["id"]: entry for entry in json.loads((ROOT / "benchmarks/results.json").read_text("utf-8"))}
    told = {model.id: model.held_out for model in catalogue().models if model.held_out is not None}
    assert "qwen2.5-coder-0.5b-instruct" in told
    for id_, rate in told.items():
        size = id_.removeprefix("qwen2.5-coder-").removesuffix("-instruct")
        entry = measured[f"errands.held_out@{size}"]
        assert (round(rate.done, 1), rate.of) == (round(entry["value"], 1), entry["runs"])
