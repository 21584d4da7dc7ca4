"""The hand-over: eight sections, what is carried over word for word, and how it is read again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.context import COMPACTION_PROMPT, SUMMARY_PREFIX, Carried, check_summary, hand_over
from hdsp_agent.context._handover import SECTIONS, parsed_hand_over

CARRIED = Carried(
    requests=("Load the data.\nThen plot it.",),
    goals=("Goal: a report",),
    decisions=("We will use Parquet.",),
    todos=("[ ] write the report", "[-] clean the data"),
    constraints=("Never touch raw/.", "반드시 한국어로 답해 주세요."),
    files=("data/sales.csv", "my report.md"),
    cells=("a1b2c3d4",),
    variables=("df", "model"),
    commands=("pytest -q tests/", "cat <<'E'\nx\n\nE"),
)
SUMMARY = """I was cleaning.
## 1. User Requests
They want a report.
## Final Goal
A report.
**Work Completed**
### Details
Cleaned one table.
Remaining Tasks:
Plot.
## Something else
A word.
"""
ITEM = st.text(st.sampled_from("ab #-:*`한\n [x]1."), min_size=1, max_size=30).map(str.strip).filter(bool)
NAME = st.text(st.sampled_from("ab_/.한 ,:"), min_size=1, max_size=12).map(str.strip).filter(bool)
ITEMS = st.lists(ITEM, unique=True, max_size=4).map(tuple)
NAMES = st.lists(NAME, unique=True, max_size=4).map(tuple)


def test_the_prompt_asks_for_all_sections_and_is_that_of_the_seed() -> None:
    assert COMPACTION_PROMPT.startswith("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary")
    assert (
        "Be concise, structured, and focused on helping the next LLM seamlessly continue the work." in COMPACTION_PROMPT
    )
    assert len(SECTIONS) == 8
    assert all(f"## {title}\n" in COMPACTION_PROMPT for title in SECTIONS)


def test_a_summary_is_put_into_its_sections_with_what_is_carried_over() -> None:
    text = hand_over(SUMMARY, CARRIED)

    assert text is not None
    assert text.startswith(
        f"{SUMMARY_PREFIX}\nI was cleaning.\n## User Requests\nThey want a report.\nKept word for word:\n"
    )
    assert "- Load the data.\n  Then plot it.\n" in text
    assert "## Work Completed\n### Details\nCleaned one table.\nKept word for word:\n- We will use Parquet.\n" in text
    assert (
        "## Remaining Tasks\nPlot.\n## Something else\nA word.\nKept word for word:\n- [ ] write the report\n" in text
    )
    assert "- Files: `data/sales.csv`, `my report.md`\n" in text
    assert text.endswith("## Agent Verification State\n(none)\n## Delegated Agent Sessions\n(none)")
    assert check_summary(text, CARRIED).holds
    assert parsed_hand_over(text) == CARRIED


def test_a_summary_of_nothing_is_none() -> None:
    assert hand_over("", CARRIED) is None
    assert hand_over(" \n", CARRIED) is None


def test_the_check_names_what_a_summary_lacks() -> None:
    check = check_summary(SUMMARY, Carried(files=("a.py",), decisions=("Cleaned one table.",)))
    assert not check.holds
    assert check.sections == (
        "Active Working Context",
        "Explicit Constraints",
        "Agent Verification State",
        "Delegated Agent Sessions",
    )
    assert check.items == ("a.py",)


def test_a_model_that_copies_the_lists_does_not_double_them() -> None:
    once = hand_over(SUMMARY, CARRIED)
    assert once is not None
    assert hand_over(once, CARRIED) == once


def test_a_summary_of_another_kind_carries_nothing() -> None:
    assert parsed_hand_over("## Conversation Summary\nSomething happened.\n- a.py") == Carried()


@settings(max_examples=400, deadline=None)
@given(
    st.builds(
        Carried,
        requests=ITEMS,
        goals=ITEMS,
        decisions=ITEMS,
        todos=ITEMS,
        constraints=ITEMS,
        files=NAMES,
        cells=NAMES,
        variables=NAMES,
        commands=ITEMS,
    ),
    st.text(st.sampled_from("ab\n#- "), max_size=60),
)
def test_what_is_carried_is_read_again_as_it_was(carried: Carried, summary: str) -> None:
    text = hand_over(f"Summary\n{summary}", carried)
    assert text is not None
    assert parsed_hand_over(text) == carried
    assert check_summary(text, carried).holds
