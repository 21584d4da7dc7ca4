"""A folder of programs that only write down how they were called, and what should have been written down."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hdsp_agent.tools import PlainCommand, PlainScript

__all__ = ["BASH", "BUILT_IN", "MARKED", "MarkedPrograms"]

BASH = shutil.which("bash") or ""
MARKED = (
    "ls", "cat", "git", "rg", "head", "tail", "wc", "find", "jq", "pip", "python", "sort", "grep", "touch", "evil", "rm", "cp", "tee", "sed", "uniq", "env", "nohup", "nice",
    "timeout", "stdbuf", "xargs", "sudo", "curl", "diff", "cut", "tr", "du", "file", "stat", "bash", "sh", "2024", "PWN", "a.py", "if2", "in",
)  # fmt: skip
BUILT_IN = {"echo": 0, "true": 0, ":": 0, "false": 1, "pwd": 0}
"""What of the shell's own needs no program, and how it ends."""
_RUNS_WHAT_FOLLOWS = ("command", "time")
_MARK = '#!/bin/sh\nprintf \'%s\\0\' "${0##*/}" "$@" > "$MARKS/$$"\n'


class MarkedPrograms:
    """Programs first and alone on the path of the commands it runs, in a folder with a few files."""

    def __init__(self, root: Path) -> None:
        self.programs, self.marks, self.work = root / "programs", root / "marks", root / "work"
        for folder in (self.programs, self.marks, self.work / "data"):
            folder.mkdir(parents=True)
        for name in MARKED:
            (self.programs / name).write_text(_MARK, "utf-8")
            (self.programs / name).chmod(0o755)
        for name in ("a.py", "b.py", "notes.txt", "-x.py", "a b.txt", "data/one.csv", "data/two.csv"):
            (self.work / name).write_text("evil\n", "utf-8")

    def run(self, text: str) -> list[list[str]]:
        """Run a text as the product runs what was approved, and give the calls that were made."""
        environment = {"PATH": str(self.programs), "MARKS": str(self.marks)}
        subprocess.run(
            [BASH, "--noprofile", "--norc", "-p", "-c", text], cwd=self.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        calls = []
        for mark in self.marks.iterdir():
            calls.append(os.fsdecode(mark.read_bytes()).split("\0")[:-1])
            mark.unlink()
        return sorted(calls)

    def expected(self, script: PlainScript) -> list[list[str]] | None:
        """The calls that the judged line makes; None where it has parts of the shell whose end is not known here."""
        calls: list[list[str]] = []
        status, skips = 0, False
        for index, command in enumerate(script.commands):
            before = script.operators[index - 1] if index else ";"
            if before in ("&&", "||"):
                skips = (status != 0) if before == "&&" else (status == 0)
            elif before != "|":
                skips = False
            if skips:
                continue
            # Behind a pipe it is no keyword, but a program that there is not.
            ended = None if before == "|" and command.words[0].text == "time" else self._call(command, calls)
            if ended is None:
                return None
            status = ended
        return sorted(calls)

    def _call(self, command: PlainCommand, calls: list[list[str]]) -> int | None:
        words = [word.text for word in command.words]
        if not all(self._opens(each.kind, each.target) for each in command.redirections):
            return 1
        return self._status(words, calls)

    def _status(self, words: Sequence[str], calls: list[list[str]]) -> int | None:
        name = words[0]
        if name in _RUNS_WHAT_FOLLOWS:
            # With options they look elsewhere, or run nothing.
            return self._status(words[1:], calls) if words[1:] and not words[1].startswith("-") else None
        if name in BUILT_IN and (name != "pwd" or len(words) == 1):
            return BUILT_IN[name]
        if name in MARKED:
            calls.append(list(words))
            return 0
        return None

    def _opens(self, kind: str, target: str) -> bool:
        path = self.work / target
        if kind == "read":
            return path.exists()
        return kind not in ("write", "append") or (path.parent.is_dir() and not path.is_dir())
