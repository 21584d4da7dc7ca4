"""What the model is told of changes and commits: what it may see, within bounds, and Git never runs the folder's programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hdsp_agent.agent.git import Git, NoRepository, _diff_text, commit_text, working_tree_text
from hdsp_agent.tools import PathPolicy, ToolFailed

from ._helpers.repositories import commit, git, needs_git, notebook, write

pytestmark = needs_git


def changes(folder: Path) -> str:
    return working_tree_text(PathPolicy(folder))


def told(folder: Path, hash_: str) -> str:
    text = commit_text(PathPolicy(folder), hash_)
    assert text is not None
    return text


def test_changes_are_a_list_and_a_diff(tmp_path: Path) -> None:
    write(tmp_path, a_txt="one\ntwo\n", old_py="x = 1\n" * 9, gone_txt="bye\n")
    commit(tmp_path, "first")
    write(tmp_path, a_txt="one\nthree\n", fresh_txt="hello\n")
    git(tmp_path, "mv", "old.py", "new.py")
    (tmp_path / "gone.txt").unlink()
    text = changes(tmp_path)
    assert "changed: a.txt\n" in text
    assert "renamed: new.py (was old.py)\n" in text
    assert "deleted: gone.txt\n" in text
    assert "new: fresh.txt\n" in text
    assert "-two\n+three" in text
    assert "rename from old.py" in text
    assert "hello" not in text and "Of new files only the names are here" in text
    commit(tmp_path, "second")
    assert changes(tmp_path) == "Nothing differs from the last commit."


def test_a_repository_without_commits_has_a_list_only(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, a_txt="TREASURE\n", b_txt="TREASURE\n")
    git(tmp_path, "add", "a.txt")
    text = changes(tmp_path)
    assert "added: a.txt\nnew: b.txt" in text
    assert "TREASURE" not in text


def test_in_a_folder_of_a_repository_only_what_is_in_it_is_told(tmp_path: Path) -> None:
    write(tmp_path, outer_txt="a\n", sub__in_txt="a\n", sub__b_ipynb=notebook("x = 1"))
    first = commit(tmp_path, "first")
    write(tmp_path, outer_txt="OUTER\n", sub__in_txt="inner\n", sub__b_ipynb=notebook("x = 2"))
    git(tmp_path, "mv", "outer.txt", "sub/moved.txt")
    for text in (changes(tmp_path / "sub"), told(tmp_path / "sub", commit(tmp_path, "second"))):
        assert "changed: in.txt\n" in text and "+inner" in text and "+x = 2" in text
        assert "outer.txt" not in text
    write(tmp_path, outer_txt="OUTER\n")
    assert "It changes nothing in the workspace." in told(tmp_path / "sub", commit(tmp_path, "third"))
    assert "added: in.txt" in told(tmp_path / "sub", first)


def test_a_commit_says_who_when_what_and_how(tmp_path: Path) -> None:
    write(tmp_path, a_txt="one\n")
    first = commit(tmp_path, "first")
    write(tmp_path, a_txt="two\n")
    second = commit(tmp_path, "Second, 둘째\n\nBecause of it.")
    text = told(tmp_path, second[:7].upper())
    assert text.startswith(f"commit {second}\nAuthor: Ada <ada@example.test>\nDate: 20")
    assert "Second, 둘째\n\nBecause of it." in text
    assert "changed: a.txt" in text and "-one\n+two" in text
    assert "added: a.txt" in told(tmp_path, first) and "+one" in told(tmp_path, first)


def test_a_merge_is_compared_with_its_first_parent(tmp_path: Path) -> None:
    write(tmp_path, a_txt="one\n")
    commit(tmp_path, "first")
    git(tmp_path, "checkout", "-qb", "side")
    write(tmp_path, side_txt="from the side\n")
    commit(tmp_path, "side")
    git(tmp_path, "checkout", "-q", "main")
    write(tmp_path, main_txt="from main\n")
    commit(tmp_path, "main")
    git(tmp_path, "merge", "-q", "--no-edit", "side")
    text = told(tmp_path, git(tmp_path, "rev-parse", "HEAD"))
    assert "(a merge, compared with its first parent)" in text
    assert "+from the side" in text and "main.txt" not in text


def test_an_unknown_hash_and_a_branch_that_is_called_like_one_are_no_commits(tmp_path: Path) -> None:
    commit(tmp_path, "first")
    git(tmp_path, "branch", "deadbeef")
    paths = PathPolicy(tmp_path)
    assert commit_text(paths, "deadbeef") is None
    assert commit_text(paths, "abcdefa") is None
    assert commit_text(paths, "0" * 40) is None


def test_notebooks_are_told_by_their_cells(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_ipynb=notebook("x = 1", "y = 2", output="OLD OUTPUT"),
        same_ipynb=notebook("z = 1", output="OLD OUTPUT"),
    )
    write(tmp_path, gone_ipynb=notebook("q = 1\n" * 200))
    commit(tmp_path, "first")
    write(
        tmp_path,
        a_ipynb=notebook("x = 1", "y = 3\nz = 4", "new = 5", output="NEW OUTPUT"),
        same_ipynb=notebook("z = 1"),
    )
    write(tmp_path, added_ipynb=notebook("fresh = 1"), broken_ipynb="{")
    (tmp_path / "gone.ipynb").unlink()
    git(tmp_path, "add", "-A")
    before = changes(tmp_path)
    for text in (before, told(tmp_path, commit(tmp_path, "second"))):
        assert "Notebook a.ipynb, cell by cell" in text
        assert "Cell 2 (code) changed:\n@@ -1,1 +1,2 @@\n-y = 2" in text
        assert "Cell 3 (code) added:\n" in text and "+new = 5" in text
        assert "Cell 1 (code) added:\n" in text and "+fresh = 1" in text
        assert "Cell 1 (code) removed:\n" in text and "-q = 1" in text
        assert "without outputs:\nNo source or type of a cell differs." in text
        assert "[broken.ipynb is not compared: it is no readable notebook.]" in text
        assert "OUTPUT" not in text and "execution_count" not in text and "nbformat" not in text
    (tmp_path / "a.ipynb").write_text(notebook("x = 1").replace('"code"', '"markdown"'))
    assert "Cell 1 (markdown, another type before) changed:" in changes(tmp_path)


def test_what_the_agent_may_not_see_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(
        work, a_txt="a\n", secret_txt="TREASURE\n", _env="TREASURE\n", was__in_txt="TREASURE\n" * 9, plain_txt="plain\n"
    )
    write(work, nb__hidden_ipynb=notebook("TREASURE"))
    (work / ".hdspignore").write_text("secret.txt\nnb/\nwas/\nplain.txt/inner\n")
    commit(work, "first")
    write(work, a_txt="b\n", secret_txt="TREASURE 2\n", _env="TREASURE 2\n")
    write(work, nb__hidden_ipynb=notebook("TREASURE 2"))
    # A hidden file that gets another name, a link that leads out, and a folder with a hidden file where a file was.
    git(work, "mv", "was/in.txt", "seen.txt")
    (work / "out").symlink_to(tmp_path)
    (work / "plain.txt").unlink()
    (work / "plain.txt").mkdir()
    (work / "plain.txt" / "inner").write_text("TREASURE\n")
    git(work, "add", "-A")
    before = changes(work)
    for text in (before, told(work, commit(work, "second"))):
        assert "changed: a.txt" in text and "+b" in text
        assert "TREASURE" not in text
        assert "seen.txt" not in text and "out" not in text.replace("without", "").replace("outside", "")
        assert (
            "more not shown: hidden from you, outside the workspace, another person's, or may hold passwords]" in text
        )


def test_no_program_that_the_folder_names_is_run(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(work, a_txt="one\n")
    (work / ".gitattributes").write_text("*.txt diff=evil filter=evil\n")
    first = commit(work, "first")
    write(work, a_txt="two\n")
    touched = tmp_path / "PWNED"
    for name in (
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "filter.evil.clean",
        "core.fsmonitor",
        "gpg.program",
    ):
        git(work, "config", name, f"touch {touched};")
        with pytest.raises(ToolFailed, match="can have Git run a program"):
            changes(work)
        with pytest.raises(ToolFailed, match="can have Git run a program"):
            commit_text(PathPolicy(work), first)
        git(work, "config", "--unset", name)
    assert "+two" in changes(work)
    assert not touched.exists()


def test_the_persons_own_settings_change_nothing_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    home.mkdir()
    touched = tmp_path / "TOUCHED"
    write(work, 가_txt="one\n")
    (work / ".gitattributes").write_text("*.txt diff=mine\n")
    commit(work, "first")
    write(work, 가_txt="two\n")
    plain = changes(work)
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text(
        "[diff]\n noprefix = true\n external = touch FILE\n[color]\n ui = always\n diff = always\n"
        f'[diff "mine"]\n textconv = touch {touched};cat\n command = touch {touched};\n'
        "[core]\n quotePath = true\n[log]\n showSignature = true\n[diff]\n relative = false\n"
    )
    assert changes(work) == plain and "a/가.txt" in plain
    assert not touched.exists()


def test_what_is_too_long_is_cut_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a_txt="", **{f"n{number}_ipynb": notebook("x = 1") for number in range(12)})
    commit(tmp_path, "first")
    write(tmp_path, a_txt="0123456789abcdef\n" * 100_000)
    write(tmp_path, **{f"n{number}_ipynb": notebook("x = 2") for number in range(12)})
    git(tmp_path, "add", "-A")
    text = changes(tmp_path)
    assert len(text) < 500_000
    assert "+0123456789abcdef\n[… the rest of the diff is left out: it is too long …]" in text
    assert text.count("+x = 2") == 10 and "[… 2 more notebooks: their differences are left out …]" in text
    monkeypatch.setattr(_diff_text, "_LARGEST_NOTEBOOK", 10)
    assert "[n0.ipynb is too large to be compared.]" in changes(tmp_path)
    assert len(Git(tmp_path, seconds=60).read("log", "-p", most=1_000).data) == 1_000


def test_git_has_so_much_time_for_all_it_is_asked(tmp_path: Path) -> None:
    commit(tmp_path, "first")
    asked = Git(tmp_path, seconds=0)
    with pytest.raises(ToolFailed, match="took longer than 0 seconds"):
        asked.commit("HEAD")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_a_git_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, "first")
    asked = Git(tmp_path, seconds=0.5)
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 600 & wait\n")
    slow.chmod(0o755)
    monkeypatch.setattr(asked, "_program", str(slow))
    with pytest.raises(ToolFailed, match="took longer"):
        asked.read("status", most=100)


def test_where_git_is_missing_or_has_no_repository_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoRepository, match="in no Git repository"):
        changes(tmp_path)
    commit(tmp_path, "first")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolFailed, match="not installed"):
        changes(tmp_path)


def test_odd_names_stay_one_line_and_are_no_patterns(tmp_path: Path) -> None:
    for name in ("a*.txt", "ab.txt", "-n.txt", ":(top)x.txt", "two\nlines.txt"):
        (tmp_path / name).write_text("one\n")
    (tmp_path / ".hdspignore").write_text("ab.txt\n")
    commit(tmp_path, "first")
    for path in tmp_path.glob("*.txt"):
        path.write_text("TREASURE\n" if path.name == "ab.txt" else "two\n")
    text = changes(tmp_path)
    assert "changed: a*.txt\n" in text and "changed: -n.txt\n" in text and "changed: :(top)x.txt\n" in text
    assert "changed: two\N{REPLACEMENT CHARACTER}lines.txt" in text
    assert text.count("+two") == 4 and "TREASURE" not in text
