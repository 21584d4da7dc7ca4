"""The judges of the eval tasks: none is content with what was there before, nor with a wrong ending; each is with a right one."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from benchmarks.evals import (
    BLIND_PROMPTS,
    DATA,
    EVAL_TASKS,
    KINDS,
    REWORDED_PROMPTS,
    EndState,
    EvalTask,
    NotDone,
    Outcome,
    RerunKernel,
    SeenCell,
    Text,
    rerun_kernel,
)


@pytest.fixture(scope="module")
def kernel() -> Iterator[RerunKernel]:
    with rerun_kernel() as kernel:
        yield kernel


def cells_of(sources: list[str], kernel: RerunKernel, folder: Path, *, ran: bool) -> list[SeenCell]:
    """A notebook of these cells, run or not."""
    code = [source for source in sources if not isinstance(source, Text)]
    outputs = iter(kernel.outputs(code, folder)) if ran else iter([])
    return [
        SeenCell(str(at), source, not isinstance(source, Text), () if isinstance(source, Text) else next(outputs, ()))
        for at, source in enumerate(sources)
    ]


def judged(task: EvalTask, before: list[SeenCell], state: EndState, kernel: RerunKernel, folder: Path) -> str | None:
    """Why the judge is not content; None if it is."""
    after = before if state.cells is None else cells_of(list(state.cells), kernel, folder, ran=state.ran)
    rerun = kernel.run_from_top(after, folder, task.probes)
    try:
        task.judge(Outcome(before, after, state.answer, rerun))
    except NotDone as why:
        return str(why)
    return None


def test_there_are_enough_tasks_of_each_kind() -> None:
    assert len({task.name for task in EVAL_TASKS}) == len(EVAL_TASKS) >= 30
    assert set(kinds := Counter(task.kind for task in EVAL_TASKS)) == set(KINDS)
    assert len(kinds) >= 6 and min(kinds.values()) >= 5


@pytest.mark.parametrize("prompts", [REWORDED_PROMPTS, BLIND_PROMPTS], ids=["reworded", "blind"])
def test_each_task_has_other_prompts(prompts: Mapping[str, str]) -> None:
    assert set(prompts) == {task.name for task in EVAL_TASKS}
    assert not {task.prompt.casefold() for task in EVAL_TASKS} & {prompt.casefold() for prompt in prompts.values()}


def test_blind_prompts_repeat_no_reworded_ones() -> None:
    every = [prompt.casefold() for prompt in (*REWORDED_PROMPTS.values(), *BLIND_PROMPTS.values())]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("task", EVAL_TASKS, ids=lambda task: task.name)
def test_a_judge_knows_what_is_done(task: EvalTask, kernel: RerunKernel, tmp_path: Path) -> None:
    for name in task.files:
        shutil.copy(DATA / name, tmp_path)
    before = cells_of(list(task.cells), kernel, tmp_path, ran=task.ran)

    def judged_as(state: EndState) -> str | None:
        return judged(task, before, state, kernel, tmp_path)

    assert judged_as(EndState()) is not None, "content with nothing"
    assert judged_as(EndState(answer="Done.")) is not None, "content with a claim"
    for state in (task.right, *task.also_right):
        assert judged_as(state) is None
    for number, state in enumerate(task.wrong):
        assert judged_as(state) is not None, f"content with wrong end state {number}"


def test_pieces_of_a_stream_are_one_output(kernel: RerunKernel, tmp_path: Path) -> None:
    source = "import sys\nprint('5', end='', flush=True)\nprint(' 6', flush=True)\nprint('no', file=sys.stderr)"
    [outputs] = kernel.outputs([source], tmp_path)
    assert [(output["name"], output["text"]) for output in outputs] == [("stdout", "5 6\n"), ("stderr", "no\n")]
