"""What differs between two checkpoints."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from rapidfuzz.distance import Indel

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileDiff, Hunk
from hdsp_agent.checkpoints.files.notebook_diff import notebook_diff
from hdsp_agent.checkpoints.files.text_diff import text_hunks

from ._helpers.workspace_fixtures import write


def patched(old: str, hunks: tuple[Hunk, ...]) -> str:
    """The old text with the hunks applied, strictly."""
    lines = old.split("\n")
    if lines[-1] == "":
        lines.pop()
        ends = ["\n"] * len(lines)
    else:
        ends = ["\n"] * (len(lines) - 1) + [""]
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - bool(hunk.old_lines)
        result += [line + end for line, end in zip(lines[at:start], ends[at:start], strict=True)]
        at = start
        assert len(result) == hunk.new_start - bool(hunk.new_lines)
        for number, line in enumerate(hunk.lines):
            ended = not (number + 1 < len(hunk.lines) and hunk.lines[number + 1].startswith("\\"))
            if line[0] in " -":
                assert (lines[at], ends[at]) == (line[1:], "\n" if ended else "")
                at += 1
            if line[0] in " +":
                result.append(line[1:] + ("\n" if ended else ""))
    result += [line + end for line, end in zip(lines[at:], ends[at:], strict=True)]
    return "".join(result)


def test_hunks_lead_from_any_text_to_any_other() -> None:
    chance = random.Random(4)
    for _ in range(500):
        old = [chance.choice("abc\r") for _ in range(chance.randrange(40))]
        new = list(old)
        for _ in range(chance.randrange(4)):
            place = chance.randrange(len(new) + 1)
            new[place : place + chance.randrange(3)] = [chance.choice("abcd")] * chance.randrange(3)
        texts = ["\n".join(lines) + chance.choice(["", "\n"]) for lines in (old, new)]
        hunks = text_hunks(*texts)
        assert patched(texts[0], hunks) == texts[1]
        assert (hunks == ()) == (texts[0] == texts[1])


def test_what_is_inserted_between_things_alike_is_shown_whole() -> None:
    def case(name: str) -> str:
        return f"def {name}():\n    return '{name}'\n"

    old, new = case("one") + "\n" + case("two"), case("one") + "\n" + case("between") + "\n" + case("two")
    (hunk,) = text_hunks(old, new)
    assert [line for line in hunk.lines if line[0] != " "] == ["+def between():", "+    return 'between'", "+"]


def test_ten_thousand_lines_that_differ_are_compared_line_by_line() -> None:
    chance = random.Random(5)
    old = [f"line {chance.randrange(2_000)}\n" for _ in range(10_000)]
    new = [line for line in old if chance.random() < 0.9]
    hunks = text_hunks("".join(["first\n", *old, "last\n"]), "".join(["another\n", *new, "end\n"]))
    assert patched("".join(["first\n", *old, "last\n"]), hunks) == "".join(["another\n", *new, "end\n"])
    assert sum(line[0] == "+" for hunk in hunks for line in hunk.lines) == 2


def test_only_what_is_near_a_change_is_shown() -> None:
    old = "".join(f"line {number}\n" for number in range(100))
    new = old.replace("line 20\n", "twenty\n").replace("line 80\n", "")
    first, second = text_hunks(old, new)
    assert (first.old_start, first.old_lines, first.new_start, first.new_lines) == (18, 7, 18, 7)
    assert first.lines[3:5] == ("-line 20", "+twenty")
    assert (second.old_start, second.old_lines, second.new_start, second.new_lines) == (78, 7, 78, 6)


def by_path(files: tuple[FileDiff, ...]) -> dict[str, FileDiff]:
    return {file.path: file for file in files}


async def test_every_kind_of_file_is_told_as_what_it_is(checkpoints: AsyncFileCheckpoints, workspace: Path) -> None:
    write(
        workspace,
        {
            "a.txt": "one\ntwo\n", "분석 결과.txt": "x\n", 'quo"te\n.txt': "q\n", "fig.png": b"\x89PNG\0a", "blob": b"\0" * 10,
            "moved/from.bin": b"\1\0" * 50, "gone.py": "g\n", "tool.sh": "s\n", "same": "s", "big.csv": "1\n" * 1_500_000,
        },
    )  # fmt: skip
    (workspace / "link").symlink_to("a.txt")
    first = await checkpoints.save("first")
    write(
        workspace,
        {
            "a.txt": "one\nzwei\n", "분석 결과.txt": "y\n", 'quo"te\n.txt': "r\n", "fig.png": b"\x89PNG\0bb", "blob": b"\0" * 20,
            "new.py": "n = 1", "big.csv": "2\n" * 1_500_000,
        },
    )  # fmt: skip
    (workspace / "gone.py").unlink()
    (workspace / "link").unlink()
    (workspace / "link").symlink_to("gone.py")
    (workspace / "tool.sh").chmod(0o755)
    (workspace / "same").touch()
    (workspace / "to.bin").write_bytes((workspace / "moved" / "from.bin").read_bytes())
    (workspace / "moved" / "from.bin").unlink()
    second = await checkpoints.save("second", changes_by="agent")

    files = by_path((await checkpoints.changes(second.id)).files)
    assert {path: (file.change, file.kind) for path, file in files.items()} == {
        "a.txt": ("modified", "text"), "분석 결과.txt": ("modified", "text"), 'quo"te\n.txt': ("modified", "text"),
        "fig.png": ("modified", "image"), "blob": ("modified", "binary"), "gone.py": ("removed", "text"),
        "new.py": ("added", "text"), "link": ("modified", "link"), "tool.sh": ("attributes", "text"),
        "to.bin": ("renamed", "text"), "big.csv": ("modified", "text"),
    }  # fmt: skip
    assert files["a.txt"].hunks[0].lines == (" one", "-two", "+zwei")
    assert files["new.py"].hunks[0].lines == ("+n = 1", "\\ No newline at end of file")
    assert (files["blob"].old_size, files["blob"].new_size, files["blob"].hunks) == (10, 20, ())
    assert files["big.csv"].too_large and not files["big.csv"].hunks
    assert files["fig.png"].mime_type == "image/png"
    assert files["link"].hunks[0].lines[0] == "-a.txt"
    moved = files["to.bin"].renamed_from
    assert moved is not None and moved.path == "moved/from.bin"
    assert await checkpoints.content(first.id, "fig.png") == b"\x89PNG\0a"


async def test_diffs_are_of_any_two_states_and_of_now(checkpoints: AsyncFileCheckpoints, workspace: Path) -> None:
    states = []
    for number in range(3):
        write(workspace, {"a": f"{number}\n", f"{number}.txt": "x\n"})
        states.append((await checkpoints.save("next", changes_by="agent")).id)
    write(workspace, {"a": "now\n"})
    assert set(by_path((await checkpoints.diff(states[0], states[2])).files)) == {"a", "1.txt", "2.txt"}
    backwards = by_path((await checkpoints.diff(states[2], states[0])).files)
    assert backwards["2.txt"].change == "removed"
    since = await checkpoints.diff("beginning", "now")
    assert since.old == states[0]
    assert by_path(since.files)["a"].hunks[0].lines == ("-0", "+now")
    assert (await checkpoints.diff(states[2], "now", only=["1.txt"])).files == ()
    light = (await checkpoints.diff(states[2], "now", with_content=False)).files
    assert [(file.path, file.hunks) for file in light] == [("a", ())]
    whole = await checkpoints.changes(states[0])
    assert (whole.old, set(by_path(whole.files))) == (None, {"a", "0.txt"})


def notebook(*cells: tuple[str | None, str], **more: object) -> bytes:
    """A notebook of code cells with these ids and sources."""
    made: list[dict[str, object]] = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        | ({} if name is None else {"id": name})
        for name, source in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | more).encode()


def told(old: bytes, new: bytes) -> list[tuple[str, int | None, int | None]]:
    found = notebook_diff(old, new)
    assert found is not None
    return [(cell.change, cell.old_index, cell.new_index) for cell in found.cells]


def test_cells_are_followed_by_their_ids() -> None:
    old = notebook(("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"))
    new = notebook(("c", "3"), ("a", "1"), ("n", "new"), ("b", "two"))
    assert told(old, new) == [("moved", 2, 0), ("added", None, 2), ("removed", 3, None), ("modified", 1, 3)]
    assert told(old, old) == []


def test_cells_without_ids_are_followed_by_what_they_say() -> None:
    old = notebook((None, "import os"), (None, "x = 1\ny = 2\nz = 3"), (None, "print(x)"))
    new = notebook((None, "import os"), (None, "# new"), (None, "x = 1\ny = 2\nz = 4"), (None, "print(x)"))
    assert told(old, new) == [("added", None, 1), ("modified", 1, 2)]


def test_a_notebook_that_is_another_one_is_not_compared_cell_by_cell_with_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    compare = Indel.normalized_similarity

    def counted(one: Sequence[str], other: Sequence[str]) -> float:
        tried.append("compared")
        return compare(one, other)

    chance = random.Random(3)

    def other() -> bytes:
        return notebook(*((None, "".join(chance.choices("abcdefgh \n", k=400))) for _ in range(40)))

    monkeypatch.setattr(Indel, "normalized_similarity", counted)
    assert len(told(other(), other())) >= 40
    # By lines and by letters, with the next five.
    assert 40 <= len(tried) <= 40 * 5 * 2


def test_outputs_and_metadata_are_told_apart_from_the_source() -> None:
    old = json.loads(notebook(("a", "1"), ("b", "2")))
    new = json.loads(notebook(("a", "1"), ("b", "2")))
    new["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x"}]
    new["cells"][1]["metadata"] = {"tags": ["t"]}
    found = notebook_diff(json.dumps(old).encode(), json.dumps(new).encode())
    assert found is not None
    first, second = found.cells
    assert (first.outputs_changed, first.metadata_changed, first.source) == (True, False, ())
    assert (second.outputs_changed, second.metadata_changed) == (False, True)
    assert not found.metadata_changed


def test_when_a_cell_ran_and_how_a_tab_shows_it_is_no_change() -> None:
    old = json.loads(notebook(("a", "1"), ("b", "2")))
    new = json.loads(notebook(("a", "1"), ("b", "2")))
    new["metadata"] = {"language_info": {"version": "3.12"}, "hdsp_agent": {"schema": 1}}
    new["cells"][0]["metadata"] = {
        "execution": {"iopub.status.busy": "2026-01-01T00:00:00Z"},
        "trusted": True,
        "collapsed": True,
        "scrolled": "auto",
        "jupyter": {"source_hidden": True},
    }
    del old["cells"][1]["metadata"]
    found = notebook_diff(json.dumps(old).encode(), json.dumps(new).encode())
    assert found is not None and found.cells == () and not found.metadata_changed
    new["cells"][0]["metadata"]["tags"] = ["parameters"]
    new["metadata"]["kernelspec"] = {"name": "r"}
    found = notebook_diff(json.dumps(old).encode(), json.dumps(new).encode())
    assert found is not None and found.metadata_changed
    assert [(cell.cell_id, cell.metadata_changed) for cell in found.cells] == [("a", True)]


async def test_a_notebook_is_compared_by_cells_and_a_broken_one_as_text(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"a.ipynb": notebook(("a", "x\ny")), "broken.ipynb": "not\njson\n"})
    await checkpoints.save("first")
    write(workspace, {"a.ipynb": notebook(("a", "x\nz")), "broken.ipynb": "no\njson\n"})
    second = await checkpoints.save("second")
    files = by_path((await checkpoints.changes(second.id)).files)
    assert files["a.ipynb"].notebook is not None and files["a.ipynb"].hunks == ()
    assert files["a.ipynb"].notebook.cells[0].source[0].lines[:2] == (" x", "-y")
    assert files["broken.ipynb"].hunks[0].lines[0] == "-not"
