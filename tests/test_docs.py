"""What the documents list is what there is."""

from __future__ import annotations

import re
from pathlib import Path

from hdsp_agent.app import HdspAgentApp
from hdsp_agent.comm.rest._routes import routes
from hdsp_agent.config import secret_environment

ROOT = Path(__file__).resolve().parent.parent


def text(name: str) -> str:
    """A document."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_operators_find_every_trait_and_no_other() -> None:
    traits = set(HdspAgentApp.class_own_traits(config=True))
    table = text("docs/operators.md").split("### Keys on shared machines")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert documented == traits


def test_every_trait_says_what_it_is_for() -> None:
    for name, trait in HdspAgentApp.class_own_traits(config=True).items():
        assert len(trait.help) > 20, name


def test_the_architecture_page_lists_every_rest_path() -> None:
    page = text("docs/architecture.md").split("## REST")[1].split("## Settings and keys")[0]
    documented = {"/" + path for path in re.findall(r"`([a-z][a-z/{}-]*)`", page)}
    assert {path for path in routes() if path != "/openapi.json"} <= documented


def test_environment_variables_that_users_are_told_of_exist() -> None:
    told = set(re.findall(r"`([A-Z][A-Z_]+_KEY)`", text("docs/users.md")))
    assert told
    assert told <= secret_environment()


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_threat_model_names_tests_that_exist() -> None:
    named = set(re.findall(r"`(tests/[\w/.]+)`", text("docs/threat-model.md")))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
