"""Rules as people write them, and which of several decides."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.approval._command_rules import CommandRule, longest, read_rules


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("git log", ("git", "log")), ("npm run *", ("npm", "run")), ("npm run **", ("npm", "run")), ("npm:*", ("npm",)), ("git log:*", ("git", "log")), ("*", ()), ("**", ()), (":*", ("",)), ("* x", ("*", "x")), ("git *.py", ("git", "*.py")), ("a:b", ("a:b",)),
        ("'a b' c", ("a b", "c")), ("it's x *", ("it's", "x")),
    ],
)  # fmt: skip
def test_a_rule_is_read_as_people_write_it(source: str, words: tuple[str, ...]) -> None:
    assert read_rules([source]) == (CommandRule(source, words),)


@pytest.mark.parametrize("source", ["", "  "])
def test_nothing_is_no_rule(source: str) -> None:
    assert read_rules([source]) == ()


def test_the_rule_with_most_words_decides_and_the_first_of_as_many() -> None:
    rules = read_rules(["*", "git", "git log", "git:*"])
    assert longest(rules, ["git", "log", "-p"]) == rules[2]
    assert longest(rules, ["git"]) == rules[1]
    assert longest(rules, ["ls"]) == rules[0]
    assert longest(rules[1:], ["ls"]) is None
    assert longest(rules[1:], ["GIT"]) is None
    assert longest(rules[1:], ["GIT", "Log"], any_case=True) == rules[2]
    assert longest(rules[1:], []) is None


def test_each_word_of_a_rule_is_whole() -> None:
    [rule] = read_rules(["git log"])
    assert rule.fits(["git", "log"], any_case=False)
    assert not rule.fits(["git", "logs"], any_case=False)
    assert not rule.fits(["git"], any_case=True)
    assert not rule.fits(["git", "LOG"], any_case=False)
