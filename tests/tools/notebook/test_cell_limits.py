"""How deep, how long and how much of a cell is read before it is asked about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hdsp_agent.tools.notebook._code_risks import risks_of

ASKS = "$(known_when_it_runs)"


def command(code: str) -> str | None:
    return risks_of(code, "python").command


def _in_each_other(around: Callable[[str], str], code: str, times: int) -> str:
    for _ in range(times):
        code = around(code)
    return code


NESTED: dict[str, Callable[[str], str]] = {
    "over a cell": lambda code: f"%%time\n{code}",
    "in a line": lambda code: f"%time {code}",
    "with options": lambda code: f"%timeit -n 1 {code}",
    "as a call": lambda code: f"get_ipython().run_cell({code!r})",
    "as a magic's call": lambda code: f"get_ipython().run_line_magic('timeit', {code!r})",
    "as a cell magic's call": lambda code: f"get_ipython().run_cell_magic('time', '', {code!r})",
    "as a text that runs": lambda code: f"exec({code!r})",
}


@pytest.mark.parametrize("form", NESTED)
def test_six_cells_in_each_other_are_read_and_the_seventh_is_asked_about(form: str) -> None:
    innermost = "get_ipython().system('rm x')"
    assert command(_in_each_other(NESTED[form], innermost, 6)) == "rm x"
    assert (command(_in_each_other(NESTED[form], innermost, 7)) or "").endswith(ASKS)


def test_statements_over_a_cell_are_read_with_it_and_alone() -> None:
    assert command("%%prun x = 1\n!rm x") == "rm x\nrm x"
    assert command("%%timeit !ls\n!rm x") == command("%%time !ls\n!rm x") == "ls\nrm x"
    assert command("%%debug x\n1") is None


def test_a_cell_of_fifty_thousand_characters_is_read_as_ipython_reads_it() -> None:
    for length, asks in ((50_000, False), (50_001, True)):
        code = "!rm x\n#"
        assert (command(code + "x" * (length - len(code))) != "rm x") is asks, length


def test_a_cell_with_many_signs_is_read_as_ipython_reads_it_up_to_a_length() -> None:
    for length, asks in ((37_500, False), (37_501, True)):
        code = "!rm x\n" * 4 + "#"
        assert ((command(code + "x" * (length - len(code))) or "").endswith(ASKS)) is asks, length


def test_texts_that_run_are_read_up_to_two_hundred_thousand_characters_together() -> None:
    for padding, risks in ((11, {"run_code"}), (12, {"run_code", "shell"})):
        code = f"c = '{'#' * 39_990}'\n" + "exec(c)\n" * 4
        code += "#" * (padding - 1 - (len(code) - 39_990 - 38)) + "\n"
        assert len(code) + 4 * 39_990 == 199_988 + padding
        assert risks_of(code, "python").risks == risks, padding


def test_of_what_is_no_python_two_thousand_lines_are_read() -> None:
    assert command(")(\n" * 2_000) is None
    assert command(")(\n" * 2_001) == ASKS
    assert command(")(\n" * 1_999 + "!rm x\n") == f"rm x\n{ASKS}"
    assert command(")(\n" * 2_000 + "!rm x\n") == ASKS


def test_of_a_line_two_thousand_characters_are_read() -> None:
    assert command(")(\n!" + "a" * 3_000) == "a" * 1_999 + f"\n{ASKS}"
    assert command("z " + "a" * 3_000) == "z " + "a" * 1_998 + f"\n{ASKS}"
    assert command("%%time\n" * 7 + "a" * 3_000) == "a" * 2_000 + f"\n{ASKS}"


def test_two_hundred_commands_are_told_apart() -> None:
    for count, asks in ((200, False), (201, True)):
        code = "".join(f"get_ipython().system('rm {number}')\n" for number in range(count))
        found = (command(code) or "").split("\n")
        assert (found[-1] == ASKS) is asks and f"rm {count - 1}" in found, count


def test_what_is_started_from_python_is_told_up_to_two_hundred_commands() -> None:
    code = "".join(f"os.system('rm {number}')\n" for number in range(201))
    told = (risks_of(code, "python").same_as or "").split("\n")
    assert told[:200] == [f"rm {number}" for number in range(200)]


@pytest.mark.parametrize(
    ("code", "same_as"),
    [
        ("x.run('rm x', shell=True)", "rm x"),
        ("x.call('rm x', shell=True)", "rm x"),
        ("x.run('rm x', shell=False)", None),
        ("x.run('rm x', other=True)", None),
        ("x.run('rm x', shell=y)", None),
        ("x.run(['rm', 'x'])", "rm x"),
        ("x.run([y, 'x'])", None),
        ("x.run([])", None),
        ("x.go(['rm', 'x'])", None),
        ("x.system('rm x')", "rm x"),
        ("x.system('rm x', 1)", None),
        ("os.execv('/bin/rm', x)", "/bin/rm"),
        ("os.execl('rm', 'rm', 'x', 'y')", "rm x y"),
        ("os.execve('rm', ['rm', 'x'], {})", "rm x"),
        ("os.spawnv(os.P_WAIT, 'rm', ('rm', 'x'))", "rm x"),
        ("os.posix_spawnp('rm', ['rm', 'x'], {})", "rm x"),
        ("subprocess.run(cmd=['rm', 'x'])", "rm x"),
        ("subprocess.run(command='rm x', shell=True)", "rm x"),
        ("sh.git.log('x')", "'git log' x"),
    ],
)
def test_what_a_call_starts_is_told_as_a_command(code: str, same_as: str | None) -> None:
    found = risks_of(code, "python")
    assert found.same_as == same_as
    assert found.risks == {"run_code"}
