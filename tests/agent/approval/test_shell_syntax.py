"""What is decided on the syntax tree, against what a real shell makes of the same text."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from hdsp_agent.agent.approval import decide_command

from ._helpers.commands import APPROVED
from ._helpers.escapes import HARMLESS

BASH = shutil.which("bash") or ""
ALLOWED = ("ls", "cat", "echo", "sort", "sed", "grep", "head", "wc", "find", "env", "true", "printf", "xargs", "awk", "uniq", "test", "[", "[[", "diff", "rg", "git log")  # fmt: skip
PIECES = (
    "$(evil)", "`evil`", "\\`evil\\`", "; evil", "\nevil\n", "\nEOF\nevil\n", "<<EOF\n", "<<-EOF\n\t`evil`\n\tEOF\n", "<<'E'\n", "${x:-`evil`}", "a[$(evil)]", "-v 'a[$(evil)]'", "<(evil)",
    "\"$(", "\\$(evil)", "\\\\$(evil)", "\\\"", "'\\''", "$((a[0]))", "${x[$(evil)]}", "${y:x}", "for y in 'a[$(evil)]'; do ", "; done", "for PATH in d; do ", "PATH=d ", "-exec evil ;", "1e evil",
    "-i evil", "{ls,evil}", "&& evil", "| evil", "& evil", "$'\\x65vil'", "eval evil", "xargs evil", "(", ")", "{ ", "; }", "'", '"', "`", "\\", "\n", "#", "!", "$", "env PATH=d ", "printf -v PATH d; ",
)  # fmt: skip


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The folder of the only programs there are; ``evil`` leaves a trace, and so does whatever another PATH finds."""
    folder, other = tmp_path / "bin", tmp_path / "work" / "d"
    folder.mkdir()
    other.mkdir(parents=True)
    trace = f"#!/bin/sh\necho $0 >> {tmp_path / 'trace'}\n"
    for name in ("ls", "cat", "echo", "sort", "sed", "grep", "head", "wc", "find", "env", "true", "xargs", "awk", "uniq", "diff"):  # fmt: skip
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
        (other / name).write_text(trace, "utf-8")
        (other / name).chmod(0o755)
    (folder / "evil").write_text(trace, "utf-8")
    (folder / "evil").chmod(0o755)
    for name in ("a", "b", "a.txt"):
        (tmp_path / "work" / name).write_text("evil\n", "utf-8")
    return folder


@pytest.mark.in_short(1)
@pytest.mark.skipif(not BASH, reason="the shell commands run in")
@pytest.mark.parametrize("seed", range(2))
def test_nothing_runs_that_was_not_allowed(programs: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    texts = [text for text in (*APPROVED, *HARMLESS) if not text.startswith(("tail -f", "while"))]
    ran = 0
    for _ in range(1_500):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(text))
            text = text[:at] + chance.choice(PIECES) + text[at:]
        decision = decide_command(text, allow=ALLOWED, workspace=str(tmp_path / "work"))
        if decision.runs is None:
            continue
        ran += 1
        # The text itself too: what a person reads must be what was judged.
        for shown in (decision.runs, text):
            subprocess.run(
                [BASH, "-c", shown], cwd=tmp_path / "work", env={"PATH": str(programs)}, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False,
            )  # fmt: skip
            assert not (tmp_path / "trace").exists(), text
            assert sorted(os.listdir(tmp_path / "work")) == ["a", "a.txt", "b", "d"], text
    assert ran > 20
