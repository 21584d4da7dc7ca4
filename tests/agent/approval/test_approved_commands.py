"""What runs is what was judged: each approved line is run by a real shell, with programs that write down their calls."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from hdsp_agent.agent.approval import decide_command
from hdsp_agent.tools import parse_plain

from ..._helpers.long_tests import rounds
from ._helpers.command_lines import command_line
from ._helpers.marked_programs import BASH, MarkedPrograms

pytestmark = pytest.mark.skipif(not BASH, reason="the shell commands run in")


def _may_write(_path: str) -> bool:
    return True


@pytest.mark.in_short(2)
@pytest.mark.timeout(rounds(300, 7_200))
@pytest.mark.parametrize("seed", range(4))
def test_the_programs_that_really_run_are_those_that_were_judged(tmp_path: Path, seed: int) -> None:
    chance, marked = Random(seed), MarkedPrograms(tmp_path)
    compared = as_written = 0
    for _ in range(rounds(500, 50_000)):
        text = command_line(chance)
        decision = decide_command(
            text, allow=["*"], workspace=str(marked.work), allow_installs=True, may_write=_may_write
        )
        if decision.runs is None:
            continue
        # The rendering is a line that is read as the same words again, so that it tells what was judged.
        script = parse_plain(decision.runs)
        expected = marked.expected(script)
        if expected is None:
            continue
        compared += 1
        assert marked.run(decision.runs) == expected, (text, decision.runs)
        judged = {part.words for part in decision.parts}
        assert all(tuple(call) in judged for call in expected), (text, decision.parts)
        # What a person reads is that too: the text itself, but for patterns, whose names the shell would choose.
        if all(word.pattern is None for command in parse_plain(text).commands for word in command.words):
            as_written += 1
            assert marked.run(text) == expected, text
    assert compared > rounds(80, 10_000)
    assert as_written > rounds(40, 4_000)
