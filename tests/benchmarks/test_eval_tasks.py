"""The judges of the eval tasks: none is content with what was there before, nor with a wrong ending; each is with a right one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.evals import BLIND_PROMPTS, EVAL_TASKS, KINDS, REWORDED_PROMPTS, EvalTask, RerunKernel

from ._helpers.end_states import JudgedTask


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


@pytest.mark.in_short(6)
@pytest.mark.parametrize("task", EVAL_TASKS, ids=lambda task: task.name)
def test_a_judge_knows_what_is_done(task: EvalTask, kernel: RerunKernel, tmp_path: Path) -> None:
    JudgedTask(task, kernel, tmp_path).must_know_right_from_wrong()


def test_pieces_of_a_stream_are_one_output(kernel: RerunKernel, tmp_path: Path) -> None:
    source = "import sys\nprint('5', end='', flush=True)\nprint(' 6', flush=True)\nprint('no', file=sys.stderr)"
    [outputs] = kernel.outputs([source], tmp_path)
    assert [(output["name"], output["text"]) for output in outputs] == [("stdout", "5 6\n"), ("stderr", "no\n")]
