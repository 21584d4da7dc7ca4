"""What IPython's real shell gives to a shell is what was found in the cell, for cells made at random."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

from hdsp_agent.tools.notebook.cell_code import CodeFindings, read_cell

from ..._helpers.long_tests import rounds

SEED = 17
COMMANDS = [
    "touch MARK", "touch  MARK", "touch 'MARK  a'", 'echo "MARK" | cat', "touch MARK && ls", "touch MARK; ls", "touch {x}MARK", "touch $x MARK", "touch '{x}' MARK",
    "touch MARK # why", "touch MARK?", "touch MARK ?", "ls 'MARK", "git log --format=%s MARK", "test 1 != 2 MARK", "touch MARK\\ a", "a=1 touch MARK", "touch MARK = 2",
    "touch MARK > f", "touch MARK 2>/dev/null", "(touch MARK)", "touch MARK)", "! touch MARK", "%touch MARK", "touch $(echo MARK)", "touch MARK,b", "touch é MARK",
]  # fmt: skip
STATEMENTS = [
    "!C", "!!C", "! C", "!! C", "v = !C", "v=!C", "v = ! C", "v = %sx C", "v = %system C", "%sx C", "%system C", "%sc v=C", "%sc -l v = C", "sx C", "system C", "C",
    "get_ipython().system(R)", "v = get_ipython().getoutput(R)", "ip = get_ipython()\nip.system(R)", "get_ipython().run_line_magic('sx', R)", "get_ipython().run_cell('!' + R)",
    "rm MARK", "%rm MARK", "rm (MARK)", "ls -la MARK", "cat [MARK]", "cp MARK b", "%cp MARK b", "%pip install MARK", "pip install MARK", "%pip list; touch MARK",
    "%pip show MARK", "%uv run MARK", "%uv pip install 'MARK>=1'", "import os\nos.system(R)", "import subprocess as sp\nsp.Popen(['touch', 'MARK'])", "v.w = !C", "v[0] = !C",
    "a, b = !C", "a = b = !C", "(!C)", "v = (!C)", "if True: !C", "x != MARK", "'!C'", "v = '''\n!C\n'''", "print('!C')", "f'{x!r}'", "%who MARK", "%env MARK", "# !C", "?C",
    "%man MARK", "%%sx C", "%%bash\nC", "%alias MARK touch a", ",get_ipython().system C", ";get_ipython().system C", "/get_ipython().system C", "v = (\n!C\n)",
    "type(get_ipython()).system(get_ipython(), R)", "[get_ipython()][0].getoutput(R)", "def g(v=get_ipython()):\n    v.system(R)\ng()", "for v in [get_ipython()]:\n    v.system(R)",
    "globals()['get_ipython']().system(R)", "import operator\noperator.methodcaller('system', R)(get_ipython())", "v = get_ipython().display_formatter\nv.parent.system(R)",
    "from IPython.core.magics import OSMagics\nOSMagics(get_ipython()).sx(R)", "v = get_ipython().user_ns['get_ipython']().system(R)",
]  # fmt: skip
IN_ONE_LINE = ["%time S", "%timeit -n1 -r1 S", "%timeit -n 1 -r1 -q S", "%prun -q S", "%prun -q -l 3 S", "time S", "timeit -n1 -r1 S", "v = %time S", "%time --no-raise-error S", "%time v = 1; S"]  # fmt: skip
AROUND = [
    "if True:\n    S", "for i in [1, 2]:\n  S", "try:\n\tS\nfinally:\n\tpass", "def f():\n    S\nf()", "# c\nS", "S\n", "S\n\n", "\n\nS", "   S", ">>> S", "In [1]: S", "v = 1\nS",
    "S\nw = 2", "S # c", "S\n# c", "S\nS", "async def f():\n    S\nawait f()", "if 1:\n  if 2:\n    S\n  v = 3", "S;", "v = 3; S", "...: S", "{\n'a': 1}\nS", "'''\n'''\nS",
]  # fmt: skip
OVER = [
    "%%time\nS", "%%timeit -n1 -r1\nS", "%%capture\nS", "%%capture out\nS", "%%prun -q\nS", "%%timeit -n1 -r1 S\npass", "%%prun -q S\npass", "%%html\nS", "%%time\n\nS",
    "%%writefile f\nS", "%%capture --no-stderr\nS",
]  # fmt: skip
SCRIPTS = [
    "%%bash\nC", "%%sh\nC", "%%script bash\nC", "%%script bash --norc\nC", "%%bash --bg\nC", "%%bash --out v\nC", "%%bash -c 'C'\n1", "%%bash MARK\n1", "%%sx\nC", "%%!\nC",
    "%%system\nC\nC", "%%bash\nls\nC", "%%perl\nC", "%%script MARK a\nC", "%%bash --err=e -e\nC",
]  # fmt: skip


def indented(text: str, template: str) -> str:
    """The template with the text at the place of S, each of its lines as far in."""
    return re.sub(r"^(.*?)S(?![a-z])", lambda found: put(found[1], text), template, flags=re.MULTILINE)


def put(before: str, text: str) -> str:
    """The text behind what stands before it, its further lines as far in."""
    blank = re.match(r"[ \t]*", before)
    assert blank is not None
    return before + text.replace("\n", "\n" + blank[0])


def filled(template: str, command: str) -> str:
    """The template with the command at the place of C, and written as Python writes it at the place of R."""
    return re.sub(r"\b[CR]\b", lambda found: command if found[0] == "C" else repr(command), template)


def made(chance: random.Random) -> str:
    """A cell of some kind."""
    command = chance.choice(COMMANDS)
    if chance.random() < 0.15:
        cell = chance.choice(SCRIPTS).replace("C", command)
    else:
        cell = filled(chance.choice(STATEMENTS), command)
    if chance.random() < 0.15:
        spaces = [at for at, char in enumerate(cell) if char == " "]
        cut = chance.choice(spaces) if spaces else len(cell)
        cell = f"{cell[:cut]} \\\n  {cell[cut:]}"
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        around = [AROUND, OVER] if "\n" in cell else [IN_ONE_LINE, AROUND, OVER]
        cell = indented(cell, chance.choice(chance.choice(around)))
    return cell


def given_by(cells: list[str], folder: Path) -> list[list[tuple[str, str]]]:
    """What IPython gives away when it runs these."""
    program = Path(__file__).parent / "_helpers" / "recorded_shell.py"
    done = subprocess.run(
        [sys.executable, str(program)],
        check=False,
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=3_000,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    told: list[list[tuple[str, str]]] = json.loads(done.stdout.splitlines()[-1])
    return told


def same(text: str) -> str:
    """A command but for blanks, and for which Python is asked for its package manager."""
    plain = re.sub(r"\S*python\S* -m (pip|uv)\b", r"\1", text)
    return " ".join(plain.split())


def is_named(kind: str, text: str, found: CodeFindings) -> bool:
    """Whether it was found: word for word, or among what is asked about."""
    if kind == "python":
        return "runs_programs" in found.flags and "MARK" in (found.same_as or "")
    if same(text) == "pip show MARK":
        # It only looks.
        return True
    if found.unclear:
        return "MARK" not in text or "MARK" in f"{found.command}{found.same_as}"
    if kind == "script":
        # What it reads is compared where it is told: here only the program is.
        words = json.loads(text)
        return words[0] in ("bash", "sh") and bool(found.exact)
    return same(text) in {same(one) for one in (*found.exact, *found.packages)}


def check(cells: list[str], folder: Path) -> int:
    """How many of these gave something away; all of that was found."""
    told = given_by(cells, folder)
    missed = [
        (cell, kind, text)
        for cell, gave in zip(cells, told, strict=True)
        for found in [read_cell(cell)]
        for kind, text in gave
        if text.strip() and not is_named(kind, text, found)
    ]
    assert missed == [], "\n".join(map(repr, missed[:20]))
    return sum(bool(gave) for gave in told)


def test_every_command_that_ipython_gives_to_a_shell_was_found(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    count = rounds(300, 30_000)
    cells = [made(chance) for _ in range(count)]
    assert check(cells, tmp_path) > count / 4


def test_each_form_by_itself(tmp_path: Path) -> None:
    plain = [filled(one, "touch MARK") for one in (*STATEMENTS, *SCRIPTS)]
    one_line = [one for one in plain if "\n" not in one]
    wide = [*AROUND, *OVER][:: rounds(12, 1)]
    around = [indented(one, two) for one in plain for two in wide]
    lines = [two.replace("S", one) for one in one_line for two in IN_ONE_LINE[:: rounds(5, 1)]]
    cells = [*plain, *around, *lines]
    assert check(cells, tmp_path) > len(cells) / 3
