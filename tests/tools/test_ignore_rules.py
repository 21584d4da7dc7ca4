"""Rules of ignore files that strangers wrote: they mean what git takes them for, and none runs for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.tools._ignore import HiddenFromAgent, git_ignore
from hdsp_agent.tools._tool_failed import ToolFailed


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("*a*a*a*a*a*a*a*a*b", "a" * 250),
        ("**/a/**/a/**/a/**/a/**/a/**/b", "a/" * 1000 + "c"),
        ("*" * 50 + "b", "a" * 250),
        ("*a" * 100, "a" * 90),
    ],
)
def test_no_rule_keeps_the_server_busy(rule: str, name: str, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(f"{rule}\nsecret*.tx*\n", encoding="utf-8")
    spec = git_ignore(tmp_path)
    assert spec is not None
    assert not spec.match_file(name)
    assert spec.match_file("data/secret.txt")


def test_rules_with_stars_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    rules = ["**/node_modules/**", "*.py[cod]", "secret*x*", "!secretyx/**/*", "build/*/out*"]
    (tmp_path / ".hdspignore").write_text("\n".join(rules), encoding="utf-8")
    hidden = HiddenFromAgent(tmp_path)
    hides = ["a/node_modules/b", "a.pyc", "secretyx", "secret\udcffx", "b\udcff.pyc", "build/a/output", "secret\nx"]
    shows = ["node.js", "a.py", "secretyx/a", "secret", "build/output", "x/build/a/out"]
    assert [name for name in hides if not hidden.hides(name, is_directory=False)] == []
    assert [name for name in shows if hidden.hides(name, is_directory=False)] == []


def test_more_rules_than_can_be_looked_through_hide_everything(tmp_path: Path) -> None:
    (tmp_path / ".hdspignore").write_text("\n".join(f"*a{number}*b*" for number in range(2_001)), encoding="utf-8")
    with pytest.raises(ToolFailed, match="more than 2,000 lines"):
        HiddenFromAgent(tmp_path).hides("a", is_directory=False)


def test_many_rules_with_stars_still_hide(tmp_path: Path) -> None:
    rules = [f"*a{number}*b*c*.x" for number in range(1_500)]
    (tmp_path / ".hdspignore").write_text("\n".join([*rules, "secret*.tx*"]), encoding="utf-8")
    hidden = HiddenFromAgent(tmp_path)
    assert hidden.hides("data/secret.txt", is_directory=False)
    assert not hidden.hides("data/open.txt", is_directory=False)
