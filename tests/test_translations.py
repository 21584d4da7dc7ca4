"""The translation catalogues follow the sources, and the check says so when they do not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from babel.messages.pofile import read_po, write_po

SCRIPTS = Path(__file__).parent.parent / "scripts"
FOUND: dict[tuple[bytes, ...], object] = {}
"""What Node found in these sources. It takes its time to begin, and most tests have the same ones."""


class Result(NamedTuple):
    """What one run of the script said."""

    returncode: int
    stderr: str


Run = Callable[[Path, str], Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import translations
    from translations import main

    find = translations._translator_calls

    def found_before(paths: Sequence[Path]) -> object:
        read = tuple(path.read_bytes() for path in paths)
        if read not in FOUND:
            FOUND[read] = find(paths)
        return FOUND[read]

    monkeypatch.setattr(translations, "_translator_calls", found_before)

    def run(root: Path, command: str) -> Result:
        capsys.readouterr()
        code = main([command, "--root", str(root)])
        return Result(code, capsys.readouterr().err)

    return run


def translate(root: Path, locale: str, **by_id: str | tuple[str, ...]) -> None:
    path = root / f"hdsp_agent/locale/{locale}/LC_MESSAGES/hdsp_agent.po"
    with path.open("rb") as file:
        catalog = read_po(file, locale=locale)
    for message in catalog:
        name = message.id[0] if isinstance(message.id, tuple) else message.id
        if name in by_id:
            message.string = by_id[name]
            message.flags.discard("fuzzy")
    with path.open("wb") as file:
        write_po(file, catalog)


def ids(path: Path) -> list[object]:
    with path.open("rb") as file:
        return [message.id for message in read_po(file) if message.id]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src/panel/__tests__").mkdir(parents=True)
    (tmp_path / "src/panel/panel.tsx").write_text(
        "const a = trans.__('Save');\nconst b = this._trans._n('%1 file', '%1 files', n);\n", encoding="utf-8"
    )
    (tmp_path / "src/panel/__tests__/panel.spec.ts").write_text("trans.__('Only a test');", encoding="utf-8")
    return tmp_path


@pytest.fixture
def translated(checkout: Path, run: Run) -> Path:
    for command in ("extract", "update"):
        assert run(checkout, command).returncode == 0
    for locale, save, files in (("ko_KR", "저장", "파일 %1개"), ("ja_JP", "保存", "%1 個のファイル")):
        translate(checkout, locale, Save=save, **{"%1 file": (files,)})
    # Once more, so that the files have the form the script writes.
    for command in ("update", "compile"):
        assert run(checkout, command).returncode == 0
    return checkout


def served(root: Path, locale: str) -> dict[str, object]:
    path = root / f"hdsp_agent/locale/{locale}/LC_MESSAGES/hdsp_agent.json"
    texts: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return texts


def test_extract_takes_texts_from_shipped_sources_only(checkout: Path, run: Run) -> None:
    assert run(checkout, "extract").returncode == 0
    assert ids(checkout / "hdsp_agent/locale/hdsp_agent.pot") == ["Save", ("%1 file", "%1 files")]


def test_extract_takes_the_texts_jupyterlab_translates_in_a_settings_schema(checkout: Path, run: Run) -> None:
    (checkout / "labextension/schema").mkdir(parents=True)
    schema = {
        "title": "HDSP Agent",
        "jupyter.lab.menus": {"main": [{"items": [{"command": "a", "label": "Open"}]}]},
        "jupyter.lab.shortcuts": [{"command": "a", "keys": ["Accel J"], "selector": "body"}],
        "properties": {"side": {"type": "string", "title": "Side", "description": "Where it opens."}},
    }
    (checkout / "labextension/schema/panel.json").write_text(json.dumps(schema), encoding="utf-8")
    assert run(checkout, "extract").returncode == 0
    with (checkout / "hdsp_agent/locale/hdsp_agent.pot").open("rb") as file:
        found = {(message.context, message.id) for message in read_po(file) if message.context}
    assert found == {
        ("schema", "HDSP Agent"),
        ("menu", "Open"),
        ("settings", "Side"),
        ("settings", "Where it opens."),
    }


def test_extract_takes_the_texts_of_pages_that_python_makes(checkout: Path, run: Run) -> None:
    page = checkout / "hdsp_agent/page.py"
    page.parent.mkdir()
    page.write_text('text = language.translated("Signed in.")\n', encoding="utf-8")
    assert run(checkout, "extract").returncode == 0
    assert "Signed in." in ids(checkout / "hdsp_agent/locale/hdsp_agent.pot")
    page.write_text("text = language.translated(message)\n", encoding="utf-8")
    result = run(checkout, "extract")
    assert result.returncode == 1
    assert result.stderr.splitlines() == ["hdsp_agent/page.py:1: the text of translated() is not a literal"]


def test_extract_takes_the_texts_of_templates(checkout: Path, run: Run) -> None:
    page = checkout / "hdsp_agent/page.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text('<p>{{ t("Storage") }} {{ t("%1 free", size) }}</p>', encoding="utf-8")
    assert run(checkout, "extract").returncode == 0
    assert {"Storage", "%1 free"} <= set(ids(checkout / "hdsp_agent/locale/hdsp_agent.pot"))
    page.write_text('<p>{{ t("") }}</p>', encoding="utf-8")
    result = run(checkout, "extract")
    assert result.returncode == 1 and "hdsp_agent/page.html:1: the text of t() is not a literal" in result.stderr


def test_extract_twice_writes_the_same_bytes(checkout: Path, run: Run) -> None:
    pot = checkout / "hdsp_agent/locale/hdsp_agent.pot"
    run(checkout, "extract")
    first = pot.read_bytes()
    FOUND.clear()
    run(checkout, "extract")
    assert pot.read_bytes() == first


def test_extract_refuses_a_text_that_is_not_a_literal(checkout: Path, run: Run) -> None:
    (checkout / "src/bad.ts").write_text("const m = 'x';\ntrans.__(m);\ntrans.__(`a ${m}`);\n", encoding="utf-8")
    result = run(checkout, "extract")
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "src/bad.ts:2: the text of __() is not a literal",
        "src/bad.ts:3: the text of __() is not a literal",
    ]


def test_extract_refuses_one_text_with_and_without_a_plural(checkout: Path, run: Run) -> None:
    (checkout / "src/other.ts").write_text("trans.__('%1 file', 1);", encoding="utf-8")
    result = run(checkout, "extract")
    assert result.returncode == 1
    assert "'%1 file' is used with and without a plural" in result.stderr


@pytest.mark.parametrize("text", ["the agent\u2019s turn", "Loading..."])
def test_extract_refuses_a_sign_that_our_texts_write_otherwise(checkout: Path, run: Run, text: str) -> None:
    (checkout / "src/other.ts").write_text(f'trans.__("{text}");', encoding="utf-8")
    result = run(checkout, "extract")
    assert result.returncode == 1
    assert text in result.stderr


def test_the_json_is_what_jupyterlab_loads(translated: Path, run: Run) -> None:
    korean = served(translated, "ko_KR")
    assert korean.pop("") == {
        "domain": "hdsp_agent",
        "language": "ko-KR",
        "plural_forms": "nplurals=1; plural=0;",
    }
    assert korean["Save"] == ["저장"]
    # JupyterLab shows English for a plural whose list has one form only, so there are two.
    assert korean["%1 file"] == ["파일 %1개", "파일 %1개"]


def test_check_passes_when_everything_is_translated(translated: Path, run: Run) -> None:
    result = run(translated, "check")
    assert result == (0, "")


def test_check_names_what_is_not_translated(checkout: Path, run: Run) -> None:
    for command in ("extract", "update", "compile"):
        run(checkout, command)
    result = run(checkout, "check")
    assert result.returncode == 1
    assert "ja_JP/LC_MESSAGES/hdsp_agent.po: not translated: 'Save'" in result.stderr
    assert "ko_KR/LC_MESSAGES/hdsp_agent.po: not translated: '%1 file'" in result.stderr
    assert "Save" not in served(checkout, "ko_KR")


def test_check_says_when_the_sources_moved_on(translated: Path, run: Run) -> None:
    (translated / "src/new.ts").write_text("trans.__('New text');", encoding="utf-8")
    result = run(translated, "check")
    assert result.returncode == 1
    assert "hdsp_agent.pot: not in step with the sources" in result.stderr


def test_check_finds_differing_placeholders(translated: Path, run: Run) -> None:
    translate(translated, "ko_KR", **{"%1 file": ("파일 하나",)})
    run(translated, "compile")
    result = run(translated, "check")
    assert result.returncode == 1
    assert "placeholders differ: '%1 file' → '파일 하나'" in result.stderr


def test_check_finds_a_json_that_was_not_compiled_again(translated: Path, run: Run) -> None:
    translate(translated, "ja_JP", Save="保存する")
    result = run(translated, "check")
    assert result.returncode == 1
    assert "ja_JP/LC_MESSAGES/hdsp_agent.json: not in step with the .po file" in result.stderr


def test_a_reworded_text_is_fuzzy_until_a_translator_looked_at_it(translated: Path, run: Run) -> None:
    (translated / "src/panel/panel.tsx").write_text(
        "const a = trans.__('Saved');\nconst b = this._trans._n('%1 file', '%1 files', n);\n", encoding="utf-8"
    )
    for command in ("extract", "update", "compile"):
        run(translated, command)
    result = run(translated, "check")
    assert result.returncode == 1
    assert "fuzzy: 'Saved'" in result.stderr
    assert "Saved" not in served(translated, "ko_KR")
    assert "obsolete" not in result.stderr


def test_calls_are_found_where_people_write_them(checkout: Path, run: Run) -> None:
    source = r"""
// trans.__('in a comment')
/* trans.__('in another') */
const text = "trans.__('in a string')";
const pattern = /['"`]trans\.__\('x'\)/.test(a) ? b / c : d;
const nested = `${trans.__('in a template')}: ${cond ? `${t.__('deeper')}` : ''}`;
trans.__('It\'s %1', trans._p('verb', "Stop"));
trans.__(
  'one ' +
    'sentence'
);
app?.trans?._np('ctx', '%1 cell', '%1 cells', n, other);
trans.__(`plain \u00e9`);
const line = <p title={trans.__('In JSX')}>Don't {trans.__('worry')}</p>;
"""
    (checkout / "src/panel/panel.tsx").write_text(source, encoding="utf-8")
    assert run(checkout, "extract").returncode == 0
    with (checkout / "hdsp_agent/locale/hdsp_agent.pot").open("rb") as file:
        found = [(message.context, message.id) for message in read_po(file) if message.id]
    assert found == [
        (None, "in a template"),
        (None, "deeper"),
        (None, "It's %1"),
        ("verb", "Stop"),
        (None, "one sentence"),
        ("ctx", ("%1 cell", "%1 cells")),
        (None, "plain é"),
        (None, "In JSX"),
        (None, "worry"),
    ]


def test_extract_names_the_line_of_a_call_without_all_its_texts(checkout: Path, run: Run) -> None:
    source = "trans\n  .__('fine')\n  .trim();\ntrans._n('%1 file', n);\ntrans._p();\ntrans.__('');\n"
    (checkout / "src/bad.ts").write_text(source, encoding="utf-8")
    result = run(checkout, "extract")
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "src/bad.ts:4: the text of _n() is not a literal",
        "src/bad.ts:5: the text of _p() is not a literal",
        "src/bad.ts:6: an empty text means the header of a catalogue",
    ]
