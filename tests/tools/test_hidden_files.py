"""Which words of a command are taken for files that are kept from the agent."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hdsp_agent.tools import PathPolicy
from hdsp_agent.tools._hidden_files import HiddenFileNames, hidden_words


@pytest.fixture
def paths(workspace: Path) -> PathPolicy:
    (workspace / ".hdspignore").write_text("secret*\n", "utf-8")
    for name in ("secret.txt", "plain.txt"):
        (workspace / name).touch()
    (workspace / "alias").symlink_to("secret.txt")
    return PathPolicy(workspace)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("cat secret.txt", "secret.txt"), ("cat ./secret.txt", "./secret.txt"), ("cat ../work/secret.txt", "../work/secret.txt"), ("cat alias", "alias"), ("cat < secret.txt", "secret.txt"), ("echo x > secret.txt", "secret.txt"), ("cat 'secret.txt'", "'secret.txt'"),
        ("grep --file=secret.txt x", "--file=secret.txt"), ("grep -fsecret.txt x", "-fsecret.txt"), ("git show HEAD:secret.txt", "HEAD:secret.txt"), ("curl -d @secret.txt x", "@secret.txt"), ("bash -c 'cat secret.txt'", "secret.txt"),
        ("cat plain.txt", None), ("cat secrets-of-no-file", None), ("echo", None), ("cat xsecret.txt", None), ("cat " + "x" * 5_000, None), ("cat $'\\0'", None),
    ],
)  # fmt: skip
def test_a_word_that_is_a_hidden_file_is_found(
    command: str, named: str | None, workspace: Path, paths: PathPolicy
) -> None:
    assert hidden_words(command, workspace, paths) == HiddenFileNames(named=named)


def test_a_pattern_that_fits_a_hidden_file_is_told_and_a_named_file_goes_before_it(
    workspace: Path, paths: PathPolicy
) -> None:
    assert hidden_words("cat *.txt", workspace, paths) == HiddenFileNames(matched="*.txt")
    assert hidden_words("cat s*t *.txt", workspace, paths) == HiddenFileNames(matched="s*t")
    assert hidden_words("cat *.txt alias", workspace, paths) == HiddenFileNames(named="alias")
    assert hidden_words("cat p*", workspace, paths) == HiddenFileNames()


def test_texts_in_texts_are_looked_through_three_deep(workspace: Path, paths: PathPolicy) -> None:
    text = "cat secret.txt"
    for depth in range(1, 6):
        text = f"bash -c {shlex.quote(text)}"
        found = hidden_words(text, workspace, paths)
        assert (found.named == "secret.txt") is (depth <= 3), depth


def test_five_thousand_words_are_looked_at(workspace: Path, paths: PathPolicy) -> None:
    assert hidden_words("x " * 4_999 + "secret.txt", workspace, paths).named == "secret.txt"
    assert hidden_words("x " * 5_000 + "secret.txt", workspace, paths).named is None


def test_two_thousand_names_that_a_pattern_fits_are_looked_at(
    workspace: Path, paths: PathPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*(f"plain-{number}" for number in range(1_999)), "secret.txt"]
    monkeypatch.setattr("glob.iglob", lambda pattern, **_: iter(names))
    assert hidden_words("cat *", workspace, paths).matched == "*"
    names.insert(0, "plain.txt")
    assert hidden_words("cat *", workspace, paths).matched is None
