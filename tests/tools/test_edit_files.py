"""Changing text files: found, shown, approved, written whole, and never over something newer."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from hdsp_agent.config import GroupOptions, ModeConfig
from hdsp_agent.tools import Approval, PathPolicy, ToolFailed
from hdsp_agent.tools._file_access import replace

from ._helpers.recording_context import Approved, RecordingContext


def block(search: str, replace: str, start_line: int | None = None) -> str:
    """A SEARCH/REPLACE block of these whole lines."""
    head = f":start_line:{start_line}\n-------\n" if start_line else ""
    return f"<<<<<<< SEARCH\n{head}{search}=======\n{replace}>>>>>>> REPLACE\n"


# ---- write_to_file


async def test_a_new_file_is_written_with_its_folders(task: RecordingContext, workspace: Path) -> None:
    result = await task.text("write_to_file", path="a/b/c.txt", content="one\ntwo\n")
    assert (workspace / "a/b/c.txt").read_bytes() == b"one\ntwo\n"
    assert "Created a/b/c.txt: 2 lines added" in result
    shown = task.approvals[0].shown
    assert shown["tool"] == "newFileCreated"
    assert shown["content"] == "one\ntwo\n"
    assert shown["diffStats"] == {"added": 2, "removed": 0}
    assert task.approvals[0].action.risks == {"write"}
    assert stat.S_IMODE((workspace / "a/b/c.txt").stat().st_mode) & 0o400


async def test_an_overwritten_file_keeps_its_mode_line_ends_and_mark(task: RecordingContext, workspace: Path) -> None:
    file = workspace / "run.sh"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    file.chmod(0o751)
    await task.call("read_file", path="run.sh")
    await task.text("write_to_file", path="run.sh", content="one\nthree\n")
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    shown = task.approvals[-1].shown
    assert shown["tool"] == "editedExistingFile"
    assert "-two\n+three" in str(shown["diff"])
    assert os.listdir(workspace) == ["run.sh"]


async def test_a_file_changed_since_it_was_read_is_not_overwritten(task: RecordingContext, workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\n", "utf-8")
    await task.call("read_file", path="a.txt")
    file.write_text("one\nby the person\n", "utf-8")
    assert "changed since you read it" in await task.failure("write_to_file", path="a.txt", content="x\n")
    assert file.read_text("utf-8") == "one\nby the person\n"
    await task.call("read_file", path="a.txt")
    await task.text("write_to_file", path="a.txt", content="x\n")


async def test_a_file_changed_while_the_approval_waited_is_not_overwritten(
    task: RecordingContext, workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_text("one\n", "utf-8")

    async def decide(_: Approved) -> Approval:
        await asyncio.to_thread(file.write_text, "two\n", "utf-8")
        return Approval(approved=True, by_person=True)

    task.decide = decide
    failure = await task.failure("write_to_file", path="a.txt", content="x\n")
    assert "changed by somebody else while the change waited" in failure
    assert file.read_text("utf-8") == "two\n"


async def test_a_denied_change_changes_nothing(task: RecordingContext, workspace: Path) -> None:
    task.decide = lambda _: Approval(approved=False, feedback="elsewhere")
    assert "elsewhere" in await task.failure("write_to_file", path="new/a.txt", content="x")
    assert os.listdir(workspace) == []


async def test_a_link_is_written_through_to_its_target(task: RecordingContext, workspace: Path) -> None:
    (workspace / "real.txt").write_text("one\n", "utf-8")
    (workspace / "link.txt").symlink_to("real.txt")
    await task.text("write_to_file", path="link.txt", content="two\n")
    assert (workspace / "link.txt").is_symlink()
    assert (workspace / "real.txt").read_text("utf-8") == "two\n"


@pytest.mark.parametrize("tool", ["write_to_file", "apply_diff", "search_replace"])
async def test_notebooks_are_refused_by_every_text_tool(task: RecordingContext, workspace: Path, tool: str) -> None:
    (workspace / "n.ipynb").write_text("{}", "utf-8")
    arguments = {
        "write_to_file": {"content": "x"},
        "apply_diff": {"diff": block("{}\n", "x\n")},
        "search_replace": {"old_string": "{", "new_string": "x"},
    }[tool]
    assert "notebook tools" in await task.failure(tool, path="n.ipynb", **arguments)
    assert (workspace / "n.ipynb").read_text("utf-8") == "{}"


async def test_a_mode_with_a_pattern_changes_only_what_matches(workspace: Path) -> None:
    groups = ("read", ("edit", GroupOptions(file_regex=r"\.md$", description="Markdown only")))
    task = await asyncio.to_thread(
        RecordingContext, workspace, mode=ModeConfig(slug="architect", name="A", role_definition="Plan.", groups=groups)
    )
    assert "Markdown only" in await task.failure("write_to_file", path="a.py", content="x")
    await task.text("write_to_file", path="a.md", content="x")


async def test_protected_and_outside_files_are_shown_as_such(task: RecordingContext, workspace: Path) -> None:
    await task.text("write_to_file", path="AGENTS.md", content="x")
    await task.text("write_to_file", path="../b.txt", content="x")
    assert task.approvals[0].shown["isProtected"] is True
    assert task.approvals[0].action.risks == {"write", "write_protected"}
    assert task.approvals[1].shown["isOutsideWorkspace"] is True
    assert task.approvals[1].action.risks == {"write_outside"}


async def test_binary_and_special_files_are_not_edited(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.bin").write_bytes(b"\0\1\2")
    os.mkfifo(workspace / "pipe")
    assert "binary file" in await task.failure("write_to_file", path="a.bin", content="x")
    assert "a named pipe" in await task.failure("write_to_file", path="pipe", content="x")


async def test_a_character_the_encoding_lacks_is_named(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("한국어 문장입니다. 데이터를 읽습니다.\n" * 20, "cp949")
    assert "has no" in await task.failure("write_to_file", path="a.txt", content="🙂")
    await task.text(
        "search_replace", path="a.txt", old_string="한국어 문장입니다. 데이터를 읽습니다.\n" * 20, new_string="새 글\n"
    )
    assert (workspace / "a.txt").read_text("cp949") == "새 글\n"


# ---- apply_diff


async def test_blocks_are_applied_together_and_shown_as_a_diff(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.py").write_text("import os\n\ndef f():\n    return 1\n\nprint(f())\n", "utf-8")
    diff = block("import os\n", "import os\nimport sys\n") + block("    return 1\n", "    return 2\n")
    assert "2 lines added, 1 removed" in await task.text("apply_diff", path="a.py", diff=diff)
    assert (workspace / "a.py").read_text("utf-8") == "import os\nimport sys\n\ndef f():\n    return 2\n\nprint(f())\n"
    assert task.approvals[0].shown["tool"] == "appliedDiff"
    assert "+import sys" in str(task.approvals[0].shown["diff"])


async def test_if_one_block_fails_none_is_applied(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.py").write_text("one = 1\ntwo = 2\n", "utf-8")
    failure = await task.failure(
        "apply_diff", path="a.py", diff=block("one = 1\n", "one = 9\n") + block("three = 33333\n", "x\n")
    )
    assert "Nothing was changed" in failure
    assert "Block 2 of 2" in failure
    assert (workspace / "a.py").read_text("utf-8") == "one = 1\ntwo = 2\n"
    assert task.approvals == []


async def test_the_failure_shows_the_closest_place_and_why(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\n\ndef area(radius):\n    return 3.14 * radius\n", "utf-8")
    failure = await task.failure(
        "apply_diff", path="a.py", diff=block("def volume(radius, height):\n    return 3.14 * radius\n", "pass\n")
    )
    assert "begins at line 3" in failure
    assert "-def volume(radius, height):" in failure
    assert "+def area(radius):" in failure


async def test_white_space_that_differs_is_forgiven_and_the_indent_kept(
    task: RecordingContext, workspace: Path
) -> None:
    (workspace / "a.py").write_text("class A:\n    def f(self):  \n        return 1\n", "utf-8")
    result = await task.text(
        "apply_diff", path="a.py", diff=block("def f(self):\n    return 1\n", "def f(self):\n    return 2\n")
    )
    assert "but for white space" in result
    assert (workspace / "a.py").read_text("utf-8") == "class A:\n    def f(self):\n        return 2\n"


async def test_nearly_the_same_lines_are_found_when_it_is_clear(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.py").write_text(
        "# header\n\ndef compute_totals(rows):\n    total = sum(rows)\n    return total\n", "utf-8"
    )
    diff = block(
        "def compute_totals(row):\n    total = sum(rows)\n    return total\n",
        "def compute_totals(rows):\n    return 0\n",
    )
    assert "like SEARCH: check it" in await task.text("apply_diff", path="a.py", diff=diff)
    assert (workspace / "a.py").read_text("utf-8") == "# header\n\ndef compute_totals(rows):\n    return 0\n"


async def test_lines_that_stand_twice_need_a_line_number(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("same\nother\nsame\n", "utf-8")
    assert "stand 2 times in the file, beginning at lines 1, 3" in await task.failure(
        "apply_diff", path="a.txt", diff=block("same\n", "new\n")
    )
    await task.text("apply_diff", path="a.txt", diff=block("same\n", "new\n", start_line=3))
    assert (workspace / "a.txt").read_text("utf-8") == "same\nother\nnew\n"


async def test_lines_can_be_deleted_blanked_and_inserted(task: RecordingContext, workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\nthree\n", "utf-8")
    await task.text("apply_diff", path="a.txt", diff=block("two\n", ""))
    assert file.read_text("utf-8") == "one\nthree\n"
    await task.text("apply_diff", path="a.txt", diff=block("one\n", "\n"))
    assert file.read_text("utf-8") == "\nthree\n"
    await task.text("apply_diff", path="a.txt", diff=block("", "zero\n", start_line=1))
    assert file.read_text("utf-8") == "zero\n\nthree\n"


async def test_untouched_lines_keep_their_mixed_ends(task: RecordingContext, workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_bytes(b"one\r\ntwo\nthree\r\nfour\r\nfive")
    await task.text("apply_diff", path="a.txt", diff=block("three\n", "3\n3b\n"))
    assert file.read_bytes() == b"one\r\ntwo\n3\r\n3b\r\nfour\r\nfive"


async def test_after_a_change_by_somebody_else_only_exact_lines_are_replaced(
    task: RecordingContext, workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\n", "utf-8")
    await task.call("read_file", path="a.txt")
    file.write_text("zero\none\n  two\n", "utf-8")
    assert "changed since you read it" in await task.failure("apply_diff", path="a.txt", diff=block("two\n", "2\n"))
    await task.text("apply_diff", path="a.txt", diff=block("  two\n", "2\n"))
    assert file.read_text("utf-8") == "zero\none\n2\n"


async def test_copied_line_numbers_are_taken_off(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\n", "utf-8")
    await task.text("apply_diff", path="a.txt", diff=block("2 | two\n", "2 | three\n"))
    assert (workspace / "a.txt").read_text("utf-8") == "one\nthree\n"


async def test_markers_in_the_file_are_escaped(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "utf-8")
    await task.text("apply_diff", path="a.txt", diff=block("a\n\\=======\nb\n", "both\n"))
    assert (workspace / "a.txt").read_text("utf-8") == "<<<<<<< HEAD\nboth\n>>>>>>> x\n"


@pytest.mark.parametrize(
    ("diff", "why"),
    [
        ("nothing", "no SEARCH/REPLACE block"),
        ("<<<<<<< SEARCH\na\n=======\nb\n", ">>>>>>> REPLACE is missing"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "Line 3 of the diff"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n", "Line 5 of the diff"),
        ("=======\n", "Line 1 of the diff"),
        (block("a\n", "b\n") + block("a\n", "c\n"), "both change line 1"),
        (block("a\n", "a\n"), "are the same"),
        (block("", "b\n"), "SEARCH is empty"),
    ],
)
async def test_a_diff_that_is_wrong_is_told_where(task: RecordingContext, workspace: Path, diff: str, why: str) -> None:
    (workspace / "a.txt").write_text("a\n", "utf-8")
    assert why in await task.failure("apply_diff", path="a.txt", diff=diff)


async def test_a_file_that_is_not_there_is_not_made_by_an_edit(task: RecordingContext) -> None:
    assert "does not exist" in await task.failure("apply_diff", path="a.txt", diff=block("a\n", "b\n"))


# ---- search_replace


async def test_one_occurrence_is_replaced_several_need_more(task: RecordingContext, workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("a b a\nc\n", "utf-8")
    await task.text("search_replace", path="a.txt", old_string="b", new_string="B")
    assert file.read_text("utf-8") == "a B a\nc\n"
    assert "stands 2 times" in await task.failure("search_replace", path="a.txt", old_string="a", new_string="x")
    await task.text("search_replace", path="a.txt", old_string="a", new_string="x", replace_all=True)
    assert file.read_text("utf-8") == "x B x\nc\n"


async def test_a_text_over_several_lines_is_found_in_a_windows_file(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await task.text("search_replace", path="a.txt", old_string="one\ntwo", new_string="1\n2")
    assert (workspace / "a.txt").read_bytes() == b"1\r\n2\r\nthree\r\n"


# ---- masked values

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def test_a_masked_value_is_put_back_where_it_was_and_never_shown(task: RecordingContext, workspace: Path) -> None:
    file = workspace / "settings.py"
    file.write_text(f'url = "x"\nvalue = "{TOKEN}"\n', "utf-8")
    seen = task.mask(file.read_text("utf-8"))
    assert TOKEN not in seen
    task.decide = lambda _: Approval(approved=True)
    await task.text("write_to_file", path="settings.py", content=seen.replace('"x"', '"y"'))
    assert file.read_text("utf-8") == f'url = "y"\nvalue = "{TOKEN}"\n'
    assert not task.approvals[0].action.puts_back_masked
    assert TOKEN not in json.dumps([approved.text for approved in task.approvals])


async def test_a_masked_value_goes_elsewhere_only_if_a_person_allows_it(
    task: RecordingContext, workspace: Path
) -> None:
    placeholder = task.mask(TOKEN)
    task.decide = lambda _: Approval(approved=True)
    result = await task.text("write_to_file", path="a.txt", content=f"{placeholder}\n")
    assert task.approvals[0].action.puts_back_masked
    assert "left as placeholders" in result
    assert (workspace / "a.txt").read_text("utf-8") == f"{placeholder}\n"
    task.decide = lambda _: Approval(approved=True, by_person=True)
    await task.text("write_to_file", path="b.txt", content=f"{placeholder}\n")
    assert (workspace / "b.txt").read_text("utf-8") == f"{TOKEN}\n"
    assert TOKEN not in task.approvals[-1].text


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells where an open folder is")
def test_a_folder_swapped_for_a_link_at_the_last_moment_is_not_written_into(workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (workspace / "d").mkdir()
    place = PathPolicy(workspace).resolve("d/new.txt")
    (workspace / "d").rmdir()
    (workspace / "d").symlink_to(elsewhere)
    with pytest.raises(ToolFailed):
        replace(place, b"x")
    assert os.listdir(elsewhere) == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_in_a_folder_that_may_only_be_entered_is_replaced_in_place(workspace: Path) -> None:
    (workspace / "d").mkdir()
    (workspace / "d" / "f").write_text("old", "utf-8")
    (workspace / "d").chmod(0o555)
    replace(PathPolicy(workspace).resolve("d/f"), b"new")
    assert (workspace / "d" / "f").read_text("utf-8") == "new"
