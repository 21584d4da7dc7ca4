"""What was learned from a conversation goes with it, and nothing else does."""

from __future__ import annotations

from hdsp_agent.memory.sources import codes_in, unsourced, without_sources

KNOWN = frozenset({"aaaa", "bbbb", "cccc"})
HANDBOOK = """# Task Group: churn
scope: the churn project

## Task 1: clean the table
### rollout_summary_files
- rollout_summaries/x.md [aaaa]
### learnings
- Ages are in months [aaaa]

## Task 2: plot
### learnings
- Use the house colours [aaaa, bbbb]
- Sizes in inches [bbbb]

# Task Group: other

## Task 1: tidy
### learnings
- Only from a [aaaa]

## General Tips
- From c alone [cccc]
- Written by hand
"""


def test_codes_are_those_of_conversations_that_are_known() -> None:
    assert codes_in("- x [aaaa, bbbb] and [2026] [link](y)", KNOWN) == ["aaaa", "bbbb"]
    assert codes_in("- a list [test] of [data]", KNOWN) == []


def test_lines_of_a_conversation_that_is_gone_go_and_sections_that_are_empty_then() -> None:
    left = without_sources(HANDBOOK, frozenset({"aaaa"}), KNOWN)
    assert "Ages" not in left and "Task 1" not in left and "Only from a" not in left
    assert "- Use the house colours [bbbb]" in left and "- Sizes in inches [bbbb]" in left
    assert "- From c alone [cccc]" in left and "- Written by hand" in left
    assert "# Task Group: churn" in left


def test_a_text_that_names_none_of_them_stays_as_it_is() -> None:
    assert without_sources(HANDBOOK, frozenset({"dddd"}), KNOWN | {"dddd"}) == HANDBOOK


def test_items_without_a_source_are_found() -> None:
    text = "## General Tips\n- with [aaaa]\n- without\n  - below it\n## Elsewhere\n- free\n"
    assert list(unsourced(text, frozenset({"## General Tips"}), KNOWN)) == ["- without"]
