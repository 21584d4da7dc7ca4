"""The judges of the errands: none is content with what was there before, nor with a wrong ending; each is with a right one."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from benchmarks.evals import (
    DATA,
    ERRANDS,
    FRESH_WORDS,
    KINDS,
    OTHER_WORDS,
    Ending,
    Errand,
    NotDone,
    Outcome,
    Rerun,
    SeenCell,
    Text,
    rerun_kernel,
)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Rerun]:
    with rerun_kernel() as kernel:
        yield kernel


def cells_of(sources: list[str], kernel: Rerun, folder: Path, *, ran: bool) -> list[SeenCell]:
    """A notebook of these cells, run or not."""
    code = [source for source in sources if not isinstance(source, Text)]
    outputs = iter(kernel.outputs(code, folder)) if ran else iter([])
    return [
        SeenCell(str(at), source, not isinstance(source, Text), () if isinstance(source, Text) else next(outputs, ()))
        for at, source in enumerate(sources)
    ]


def judged(errand: Errand, before: list[SeenCell], ending: Ending, kernel: Rerun, folder: Path) -> str | None:
    """Why the judge is not content; None if it is."""
    after = before if ending.cells is None else cells_of(list(ending.cells), kernel, folder, ran=ending.ran)
    fresh = kernel.fresh(after, folder, errand.probes)
    try:
        errand.judge(Outcome(before, after, ending.answer, fresh))
    except NotDone as why:
        return str(why)
    return None


def test_there_are_enough_errands_of_each_kind() -> None:
    assert len({errand.name for errand in ERRANDS}) == len(ERRANDS) >= 30
    assert set(kinds := Counter(errand.kind for errand in ERRANDS)) == set(KINDS)
    assert len(kinds) >= 6 and min(kinds.values()) >= 5


@pytest.mark.parametrize("again", [OTHER_WORDS, FRESH_WORDS], ids=["reworded", "fresh"])
def test_each_errand_has_other_words(again: Mapping[str, str]) -> None:
    assert set(again) == {errand.name for errand in ERRANDS}
    assert not {errand.words.casefold() for errand in ERRANDS} & {words.casefold() for words in again.values()}


def test_fresh_words_repeat_no_other_words() -> None:
    every = [words.casefold() for words in (*OTHER_WORDS.values(), *FRESH_WORDS.values())]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand.name)
def test_a_judge_knows_what_is_done(errand: Errand, kernel: Rerun, tmp_path: Path) -> None:
    for name in errand.files:
        shutil.copy(DATA / name, tmp_path)
    before = cells_of(list(errand.cells), kernel, tmp_path, ran=errand.ran)

    def judged_as(ending: Ending) -> str | None:
        return judged(errand, before, ending, kernel, tmp_path)

    assert judged_as(Ending()) is not None, "content with nothing"
    assert judged_as(Ending(answer="Done.")) is not None, "content with a claim"
    for ending in (errand.right, *errand.also_right):
        assert judged_as(ending) is None
    for number, ending in enumerate(errand.wrong):
        assert judged_as(ending) is not None, f"content with wrong ending {number}"
