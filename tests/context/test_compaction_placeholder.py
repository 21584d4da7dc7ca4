"""The text beside what a provider sealed: what is known without reading it."""

from __future__ import annotations

from hdsp_agent.context import Carried, check_summary, compaction_placeholder, hand_over

from ._helpers.conversations import answer, call, hand_over_message, result, said, user


def test_it_tells_the_steps_and_the_last_words_of_the_model() -> None:
    talk = [
        said("Clean the table."),
        answer("I begin.", call("a", path="data/x.csv", limit=5, flags=[True, "deep"])),
        user(result("a", "rows")),
        answer("## Final Goal\nIt is clean.", call("b", "run_cell", code="df\n.head()")),
        user(result("b")),
    ]
    told = compaction_placeholder(talk)
    assert "- `read_file` data/x.csv 5 True deep\n- `run_cell` df .head()\n" in told
    # What the model said reads as no section of ours.
    assert "> ## Final Goal\n> It is clean." in told and "I begin." not in told
    text = hand_over(told, Carried(goals=("Clean the table.",)))
    assert text is not None and check_summary(text, Carried(goals=("Clean the table.",))).holds
    assert text.count("It is clean.") == 1 and "> ## Final Goal" in text.split("## Work Completed")[1]


def test_an_earlier_summary_is_taken_over_and_its_lists_are_made_anew() -> None:
    told = "## Work Completed\nThe table was cleaned.\n## Remaining Tasks\nPlot it."
    for number in range(100):
        text = hand_over(told, Carried(files=("data/x.csv",)))
        assert text is not None
        talk = [
            hand_over_message(text),
            answer(f"Words {number}. " + "x" * 20_000, call("a", path=f"{number}.csv")),
            user(result("a")),
        ]
        told = compaction_placeholder(talk)
    assert told.count("The table was cleaned.") == told.count("Plot it.") == 1
    assert told.count("`read_file`") == 40 and "`read_file` 60.csv" in told and "`read_file` 59.csv" not in told
    assert told.count("keeps what was said") == 1 and "Words 99." in told and "Words 98." not in told
    assert len(told) < 5_000


def test_a_conversation_without_steps_has_one_too() -> None:
    assert "keeps what was said" in compaction_placeholder([said("Hello.")])
    assert compaction_placeholder([said("Hello."), answer("  ")]).count("\n") == 1
