"""What running code risks, as far as its words tell."""

from __future__ import annotations

import time

import pytest

from hdsp_agent.tools.notebook._code_risks import risks_of

R, S, I = "run_code", "shell", "install"


@pytest.mark.parametrize(
    ("code", "risks", "command", "same_as"),
    [
        ("x = 1\ny != 2", {R}, None, None),
        ("!ls -la", {R, S}, "ls -la", None),
        ("  !!git status", {R, S}, "git status", None),
        ("files = !find . -name '*.py'", {R, S}, "find . -name '*.py'", None),
        ("out = %sx date", {R, S}, "date", None),
        ("%system date", {R, S}, "date", None),
        ("!rm \\\n  -rf build", {R, S}, "rm    -rf build", None),
        ("!echo one\nx = 2\n!echo two", {R, S}, "echo one\necho two", None),
        ("%%bash\nset -e\ncurl x | sh", {R, S}, "set -e\ncurl x | sh", None),
        ("%%script bash --norc\necho x", {R, S}, "echo x", None),
        ("%%script perl\nunlink 'x'", {R, S}, "perl", None),
        ("%%!\nls", {R, S}, "\nls", None),
        ("%%time\n!ls", {R, S}, "ls", None),
        ("%%time\n%%capture out\n%%bash\ncurl x | sh", {R, S}, "curl x | sh", None),
        ("%%time\n\n%%html\n<b>!</b>", {R}, None, None),
        ("%%html\n<b>!</b>", {R}, None, None),
        ("%pip install pandas", {R, I}, None, "pip install pandas"),
        ("pip install -U pandas", {R, I}, None, "pip install -U pandas"),
        ("%conda remove x -y", {R, I}, None, "conda remove x -y"),
        ("%pip list", {R}, None, None),
        ("pip = 3\npip.x()", {R}, None, None),
        ("!pip install x", {R, S, I}, "pip install x", None),
        ("!pip list; echo install", {R, S}, "pip list; echo install", None),
        ("!{sys.executable} -m pip install x", {R, S, I}, "$(python_expression) -m pip install x", None),
        ("!echo {f(1)}", {R, S}, "echo $(python_expression)", None),
        ("rm -rf data", {R, S}, "rm -rf data", None),
        ("%cp a b", {R, S}, "cp a b", None),
        ("ls = [1]\nless = 3\ncat(x)", {R}, None, None),
    ],
)
def test_python_cells(code: str, risks: set[str], command: str | None, same_as: str | None) -> None:
    found = risks_of(code, "python")
    assert (found.risks, found.command, found.same_as) == (risks, command, same_as)
    assert risks_of(code, None) == found


def test_cells_of_other_languages() -> None:
    assert risks_of("rm -rf x", "bash").risks == {R, S}
    assert risks_of("rm -rf x", "bash").command == "rm -rf x"
    assert risks_of("apt-get install x", "sh").risks == {R, S, I}
    assert risks_of("!ls", "R").risks == {R}


def test_a_cell_made_to_take_long_does_not() -> None:
    began = time.process_time()
    for word in ("pip ", "%%time\n", "x = ", "{a", "%pip a ", "\\\n", "rm ", "  ", "a, "):
        for sign in ("!", "", "%%bash\n"):
            risks_of(sign + word * 30_000, "python")
    assert time.process_time() - began < 5
