"""The documents name what there is, and are written in short sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent.app import HdspAgentApp
from hdsp_agent.cli import _main as program
from hdsp_agent.config import GlobalSettings, ProviderSettings, secret_environment

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs" / "reference"
WRITTEN = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if GENERATED not in page.parents),
]
FOLDERS = (
    "hdsp_agent",
    "src",
    "tests",
    "ui-tests",
    "benchmarks",
    "scripts",
    "labextension",
    "docs",
    "examples",
    "deploy",
)
MOST_WORDS = 25


def text(name: str) -> str:
    """A document."""
    return (ROOT / name).read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def names_in_code(page: Path) -> set[str]:
    """What stands in backticks, outside of blocks of code."""
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", prose))


def paragraphs(markdown: str) -> Iterator[str]:
    """The prose of a page: no code, no tables, no markup."""
    markdown = re.sub(r"```.*?```|<!--.*?-->", "", markdown, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*>#]|\d+\.) )", markdown):
        if not block.lstrip().startswith("|"):
            linked = re.sub(r"!?\[([^\]]*)\]\([^)]*\)(\{[^}]*\})?", r"\1", block)
            plain = re.sub(r"<[^>]+>|^\s*(?:[-*>]|#+|\d+\.) ", "", linked)
            # What stands in code is one word, however long.
            yield " ".join(re.sub(r"`[^`]+`", "Code", plain).split())


def sentences(markdown: str) -> Iterator[str]:
    for paragraph in paragraphs(markdown):
        yield from re.split(r"(?<=[.!?])[_*)\"]*\s+(?=[A-Z_*(\"])|(?<=[:;])\s", paragraph)


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_sentences_are_short(page: Path) -> None:
    found = [one for one in sentences(page.read_text(encoding="utf-8")) if len(one.split()) > MOST_WORDS]
    assert found == []


def test_a_long_sentence_is_found() -> None:
    long = "# Title\n\nShort. " + "Word " + "word " * 29 + "end. Short again.\n\n| a table | may |\n"
    assert [len(one.split()) for one in sentences(long) if len(one.split()) > MOST_WORDS] == [31]


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_paths_that_a_page_names_exist(page: Path) -> None:
    named = {name.removesuffix("/") for name in names_in_code(page) if re.fullmatch(r"[\w./-]+", name)}
    paths = {name for name in named if name.split("/")[0] in FOLDERS and "/" in name}
    assert [name for name in sorted(paths) if not (ROOT / name).exists()] == []


def test_the_pages_name_many_paths() -> None:
    named = names_in_code(ROOT / "docs" / "extending.md") | names_in_code(ROOT / "docs" / "architecture.md")
    assert len({name for name in named if name.split("/")[0] in FOLDERS}) > 40
    assert len({name for name in names_in_code(ROOT / "docs" / "threat-model.md") if name.startswith("tests/")}) > 10


def test_classes_that_the_architecture_names_exist() -> None:
    sources = [*(ROOT / "hdsp_agent").rglob("*.py"), *(ROOT / "src").rglob("*.ts"), *(ROOT / "src").rglob("*.tsx")]
    words = {word for file in sources for word in re.findall(r"\w+", file.read_text("utf-8"))}
    pages = [ROOT / "docs" / "architecture.md", *(ROOT / "docs" / "architecture").glob("*.md")]
    named = {
        name
        for page in pages
        for code in names_in_code(page)
        for name in re.findall(r"\b[A-Z]\w*[a-z]\w*[A-Z]\w+", code)
    }
    assert len(named) > 40
    assert sorted(named - words) == []


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_links_into_the_repository_lead_somewhere() -> None:
    for page in WRITTEN:
        for target in re.findall(
            r"https://github\.com/hdsp-agent/hdsp-agent/(?:blob|tree)/main/([^)#\s]+)", page.read_text("utf-8")
        ):
            assert (ROOT / target).exists(), f"{page.name}: {target}"


def test_every_trait_says_what_it_is_for() -> None:
    for name, trait in HdspAgentApp.class_own_traits(config=True).items():
        assert len(trait.help) > 20, name


def test_options_settings_and_variables_that_pages_show_exist() -> None:
    settings = {
        field.alias
        for model in (GlobalSettings, ProviderSettings)
        for field in model.model_fields.values()
        if field.alias
    }
    for page in WRITTEN:
        told = page.read_text("utf-8")
        assert set(re.findall(r"c\.HdspAgentApp\.(\w+)", told)) <= set(HdspAgentApp.class_own_traits(config=True))
        assert set(re.findall(r'fixed_settings = \{"(\w+)"', told)) <= settings
        assert set(re.findall(r"`([A-Z][A-Z_]+_KEY)`", told)) <= secret_environment() | {"FIREWORKS_API_KEY"}


def test_commands_that_pages_show_exist() -> None:
    commands = {name for name, _ in program._command_modules()}
    shown = {
        name
        for page in WRITTEN
        for name in re.findall(r"(?m)(?:^|`|&& )hdsp-agent ([a-z][a-z-]+)", page.read_text("utf-8"))
    }
    assert len(shown) > 12
    assert shown <= commands
