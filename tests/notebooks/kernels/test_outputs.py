"""Outputs by JupyterLab's rules."""

from __future__ import annotations

import random

from hdsp_agent.messages import ExtendStream, JsonObject, OutputChange, PutOutput
from hdsp_agent.notebooks.kernels import OutputCollector, RunLimits


def collector(**limits: int) -> OutputCollector:
    return OutputCollector(RunLimits(**limits))


def texts(outputs: OutputCollector) -> list[object]:
    return [one.get("text", one.get("data")) for one in outputs.outputs]


def applied(shown: list[JsonObject], changes: list[OutputChange]) -> list[JsonObject]:
    """What a tab does with the changes."""
    shown = list(shown)
    for change in changes:
        if isinstance(change, PutOutput):
            shown[change.index : change.index + 1] = [change.output]
        elif isinstance(change, ExtendStream):
            text = str(shown[change.index]["text"])
            shown[change.index] = {**shown[change.index], "text": text[: change.keep] + change.text}
        else:
            del shown[change.count :]
    return shown


def test_consecutive_text_of_one_stream_is_one_output() -> None:
    outputs = collector()
    for name, text in (("stdout", "a"), ("stdout", "b\n"), ("stderr", "c"), ("stdout", "d")):
        outputs.stream(name, text)
    assert texts(outputs) == ["ab\n", "c", "d"]


def test_carriage_returns_and_backspaces_do_what_they_do_in_jupyterlab() -> None:
    cases = {
        "10%\r20%": "20%",
        "long line\rab": "abng line",
        "one\ntwo\rTWO": "one\nTWO",
        "abc\b": "ab",
        "a\n\b": "a\n",
        "abc\rX\n": "Xbc\n",
        "x\r\n": "x\n",
        "abc\r\rde": "dec",
    }
    for written, shown in cases.items():
        outputs = collector()
        outputs.stream("stdout", written)
        assert texts(outputs) == [shown], written
        one_by_one = collector()
        for character in written:
            one_by_one.stream("stdout", character)
        assert texts(one_by_one) == [shown], written


def test_clearing_with_wait_happens_when_the_next_output_comes() -> None:
    outputs = collector()
    outputs.stream("stdout", "old")
    outputs.clear(wait=True)
    assert texts(outputs) == ["old"]
    outputs.stream("stdout", "new")
    assert texts(outputs) == ["new"]
    outputs.clear()
    assert texts(outputs) == []


def test_an_update_changes_every_display_of_its_id() -> None:
    outputs = collector()
    for _ in range(2):
        outputs.display("display_data", {"text/plain": "old"}, {}, size=3, display_id="d")
    outputs.display("display_data", {"text/plain": "other"}, {}, size=5, display_id="e")
    assert outputs.update("d", {"text/plain": "new"}, {"k": 1}, size=3)
    assert texts(outputs) == [{"text/plain": "new"}, {"text/plain": "new"}, {"text/plain": "other"}]
    assert not outputs.update("unknown", {}, {}, size=0)


def test_changes_lead_from_any_version_to_the_present_one() -> None:
    chance = random.Random(5)
    outputs = collector(display_characters=3_000, tail_characters=1_000, outputs=20)
    seen: dict[int, list[JsonObject]] = {0: []}
    for _ in range(3_000):
        match chance.randrange(12):
            case 0:
                outputs.display("display_data", {"text/plain": "d"}, {}, size=1, display_id=chance.choice("abc"))
            case 1:
                outputs.update(chance.choice("abc"), {"text/plain": str(chance.random())}, {}, size=1)
            case 2 if chance.random() < 0.1:
                outputs.clear(wait=chance.random() < 0.5)
            case _:
                text = "".join(chance.choice("ab\n\r\b") for _ in range(chance.randrange(1, 60)))
                outputs.stream(chance.choice(["stdout", "stdout", "stdout", "stderr"]), text)
        if chance.random() < 0.2:
            version = outputs.version
            now = outputs.outputs
            for old in chance.sample(sorted(seen), min(4, len(seen))):
                assert applied(seen[old], outputs.changes_since(old)) == now
            seen[version] = now


def test_a_running_text_is_told_by_what_came_not_by_the_whole() -> None:
    outputs = collector()
    outputs.stream("stdout", "line\n" * 10_000)
    version = outputs.version
    outputs.stream("stdout", "one more\n")
    (change,) = outputs.changes_since(version)
    assert isinstance(change, ExtendStream) and (change.keep, change.text) == (50_000, "one more\n")


def test_of_a_too_long_text_head_and_tail_stay_and_live_changes_are_small() -> None:
    outputs = collector(display_characters=10_000, tail_characters=2_000)
    for number in range(10_000):
        outputs.stream("stdout", f"{number}\n")
        if number == 9_000:
            version = outputs.version
    (change,) = outputs.changes_since(version)
    assert isinstance(change, ExtendStream) and len(change.text) < 5_000
    outputs.finish()
    shown = str(texts(outputs)[0])
    assert shown.startswith("0\n1\n") and shown.endswith("9998\n9999\n") and "characters left out" in shown
    note = "\n[… 00,000 characters left out …]\n"
    assert len(shown) < 12_500 and outputs.truncated
    assert outputs.dropped == 48_890 - (len(shown) - len(note))


async def test_a_line_without_end_is_bounded_too() -> None:
    outputs = collector(display_characters=10_000, tail_characters=2_000)
    for _ in range(200):
        outputs.stream("stdout", "x" * 10_000)
    outputs.finish()
    assert len(str(texts(outputs)[0])) < 80_000
    assert len(await outputs.full_text.read()) == 2_000_000
    await outputs.full_text.close()


def test_a_display_beyond_the_budget_gives_way_to_a_word_about_it() -> None:
    outputs = collector(rich_bytes=1_000)
    outputs.display("display_data", {"image/png": "x" * 900, "text/plain": "<Figure>"}, {}, size=950)
    outputs.display("display_data", {"image/png": "x" * 900, "text/plain": "<Figure>"}, {}, size=950)
    first, second = outputs.outputs
    assert "image/png" in str(first["data"])
    assert second["data"] == {
        "text/plain": "<Figure>\n[image/png of 950 bytes is not shown: a cell's displays may have 1,000]"
    }


def test_a_long_traceback_keeps_both_ends() -> None:
    outputs = collector(display_characters=10_000)
    outputs.error("RecursionError", "deep", ["first frame"] + ["f()\n" * 10] * 2_000 + ["last frame"])
    (shown,) = outputs.outputs
    text = str(shown["traceback"])
    assert "first frame" in text and "last frame" in text and len(text) < 10_000
