"""Listing and searching: bounded, loop-free, with the same outcome whether ripgrep is there or not."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.tools._grep import find_ripgrep, grep_files

from ._helpers.recording_context import RecordingContext


def plant(workspace: Path) -> None:
    """A small project with things to leave out."""
    for name, content in {
        "main.py": "import os\nneedle = 1\n",
        "src/deep/a.py": "x = 2  # Needle\nneedle()\n",
        "src/b.txt": "needle\n",
        "build/out.py": "needle\n",
        "node_modules/m.js": "needle\n",
        ".git/config": "needle\n",
        ".env": "needle=1\n",
        "secret/s.txt": "needle\n",
        "n.ipynb": "needle\n",
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(content, "utf-8")
    (workspace / ".gitignore").write_text("build/\n", "utf-8")
    (workspace / ".hdspignore").write_text("secret/\n", "utf-8")
    (workspace / "bin.dat").write_bytes(b"needle\0\n")


async def test_ripgrep_of_the_wheel_is_found_where_nothing_is_on_the_path(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(workspace)
    monkeypatch.setenv("PATH", str(workspace))
    ripgrep = await asyncio.to_thread(find_ripgrep)
    assert ripgrep is not None
    found = await grep_files("needle = ", [str(workspace / "main.py")], ripgrep=ripgrep)
    assert [match.line for file in found.files for match in file.matches] == [2]


async def test_a_folder_is_listed_with_links_and_without_hidden_ones(task: RecordingContext, workspace: Path) -> None:
    plant(workspace)
    (workspace / "link").symlink_to("src")
    lines = (await task.text("list_files", path=".")).splitlines()
    assert {"main.py", "src/", "node_modules/", "link -> src", ".env", "build/"} <= set(lines)
    assert not any("secret" in line for line in lines)
    assert task.approvals[0].shown["tool"] == "listFilesTopLevel"


async def test_hidden_files_are_listed_as_such_where_settings_want_it(workspace: Path) -> None:
    plant(workspace)
    task = await asyncio.to_thread(RecordingContext, workspace, GlobalSettings(show_roo_ignored_files=True))
    assert "secret/ (hidden from you by .hdspignore)" in await task.text("list_files")


async def test_a_recursive_list_leaves_out_what_git_ignores(task: RecordingContext, workspace: Path) -> None:
    plant(workspace)
    lines = (await task.text("list_files", recursive=True)).splitlines()
    assert {"src/deep/a.py", "main.py", "node_modules/"} <= set(lines)
    assert not any(line.startswith(("build", "node_modules/m", ".git/c")) for line in lines)


async def test_loops_of_links_end(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "b" / "up").symlink_to(workspace / "a")
    (workspace / "self").symlink_to(".")
    assert (await task.text("list_files", recursive=True)).splitlines() == [
        "a/",
        "a/b/",
        f"a/b/up -> {workspace / 'a'}",
        "self -> .",
    ]


async def test_a_large_tree_is_cut_at_the_nearest_entries(task: RecordingContext, workspace: Path) -> None:
    for folder in range(30):
        (workspace / f"d{folder:02}").mkdir()
        for file in range(30):
            (workspace / f"d{folder:02}" / f"{file}.txt").touch()
    lines = (await task.text("list_files", recursive=True)).splitlines()
    assert len(lines) == 501
    assert "only the nearest 500" in lines[-1]
    assert {f"d{folder:02}/" for folder in range(30)} <= set(lines)


async def test_what_is_no_folder_is_told(task: RecordingContext, workspace: Path) -> None:
    (workspace / "f").touch()
    assert "does not exist" in await task.failure("list_files", path="nowhere")
    assert "read_file" in await task.failure("list_files", path="f")
    (workspace / "d").mkdir()
    assert await task.text("list_files", path="d") == "d is empty."


async def test_a_search_finds_lines_and_leaves_out_what_may_not_be_read(
    task: RecordingContext, workspace: Path
) -> None:
    plant(workspace)
    os.mkfifo(workspace / "pipe")
    text = await asyncio.wait_for(task.text("search_files", regex="needle", path="."), 60)
    assert text.startswith("3 matching lines in 3 files.")
    assert "main.py\n     2 | needle = 1" in text
    assert "src/deep/a.py\n     2 | needle()" in text
    assert "1 notebooks were not searched" in text
    assert "secret" not in text
    assert ".env" not in text
    shown = task.approvals[0].shown
    assert (shown["tool"], shown["regex"]) == ("searchFiles", "needle")


async def test_a_search_can_be_narrowed_by_name_and_to_one_file(task: RecordingContext, workspace: Path) -> None:
    plant(workspace)
    assert "2 files" in await task.text("search_files", regex="(?i)needle", path=".", file_pattern="*.py")
    assert "1 files" in await task.text("search_files", regex="needle", path=".", file_pattern="src/*.txt")
    assert "1 matching lines in 1 files." in await task.text("search_files", regex="needle", path="main.py")
    assert await task.text("search_files", regex="absent", path="src") == "No line matches."


async def test_a_bad_pattern_is_told(task: RecordingContext) -> None:
    assert "not a regular expression" in await task.failure("search_files", regex="a(", path=".")


async def test_many_matches_are_cut_and_said_so(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hit\n" * 1000, "utf-8")
    text = await task.text("search_files", regex="hit", path=".")
    assert text.startswith("300 matching lines")
    assert "more matches than shown" in text


async def test_a_pattern_that_never_ends_is_stopped_and_blocks_nobody(workspace: Path) -> None:
    (workspace / "a.txt").write_text("a" * 40 + "!\n", "utf-8")
    search = asyncio.create_task(grep_files(r"(a+)+$", [str(workspace / "a.txt")], seconds=1))
    turns = 0
    while not search.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert (await search).timed_out
    assert turns > 3


async def test_a_search_ends_when_cancelled(workspace: Path) -> None:
    (workspace / "a.txt").write_text("a" * 40 + "!\n", "utf-8")
    search = asyncio.create_task(grep_files(r"(a+)+$", [str(workspace / "a.txt")]))
    await asyncio.sleep(0.3)
    search.cancel()
    await asyncio.wait([search])
    assert search.cancelled()


async def test_a_long_line_is_shown_around_its_match(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x" * 5_000 + "needle" + "y" * 5_000, "utf-8")
    text = await task.text("search_files", regex="needle", path=".")
    assert "xneedley" in text
    assert len(text) < 1_000


async def test_every_way_of_searching_finds_the_same(workspace: Path) -> None:
    (workspace / "-a.txt").write_bytes("one needle\r\n한글 needle\nlast needle!".encode())
    (workspace / "b.txt").write_bytes(b"caf\xe9 needle\n")
    (workspace / "c.bin").write_bytes(b"needle\0x\n")
    (workspace / "d.txt").write_text("wide needle\n", "utf-16")
    (workspace / "e.txt").touch()
    files = [str(workspace / name) for name in ("-a.txt", "b.txt", "c.bin", "d.txt", "e.txt")]
    for ripgrep in {None, await asyncio.to_thread(find_ripgrep)}:
        found = await grep_files(r"(?<! )needle$|. needle$", files, ripgrep=ripgrep)
        lines = [(Path(file.path).name, [(each.line, each.text) for each in file.matches]) for file in found.files]
        assert lines == [
            ("-a.txt", [(1, "one needle"), (2, "한글 needle")]),
            ("b.txt", [(1, "caf\ufffd needle")]),
            ("d.txt", [(1, "wide needle")]),
        ]
        ends = await grep_files("$", files, ripgrep=ripgrep)
        assert [(Path(file.path).name, len(file.matches)) for file in ends.files] == [
            ("-a.txt", 3),
            ("b.txt", 1),
            ("d.txt", 1),
        ]
        classes = await grep_files("[[:alpha:]]", files[1:2], ripgrep=ripgrep)
        assert classes.count == 0
        plain = await grep_files("needle", files, most=3, ripgrep=ripgrep)
        assert [match.line for file in plain.files for match in file.matches] == [1, 2, 3]
        assert plain.more


async def test_notebooks_are_not_searched_however_their_names_are_written(
    task: RecordingContext, workspace: Path
) -> None:
    for name in ("a.ipynb", "B.IPYNB"):
        (workspace / name).write_text("needle", "utf-8")
    text = await task.text("search_files", regex="needle")
    assert text == "No line matches.\n\n2 notebooks were not searched: they are not touched as text."
    assert "1 notebooks" in await task.text("search_files", regex="needle", path="B.IPYNB")


@pytest.mark.long
async def test_a_file_too_large_to_be_searched_matches_nothing(task: RecordingContext, workspace: Path) -> None:
    (workspace / "big").touch()
    os.truncate(workspace / "big", 2 << 30)
    assert (await task.text("search_files", regex="^")).startswith("No line matches.")
