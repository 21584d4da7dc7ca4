"""How deep, how long and how much of a cell is read before it is asked about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hdsp_agent.tools.notebook._code_risks import risks_of
from hdsp_agent.tools.notebook.cell_code import CodeFindings

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


def test_cells_in_each_other_are_read_up_to_two_hundred_thousand_characters_together() -> None:
    for total, asks in ((200_000, False), (200_001, True)):
        cells = ["1#" + "x" * 33_000]
        for _ in range(5):
            cells.append(NESTED["as a call"](cells[-1]))
        cells[-1] += "#" * (total - sum(map(len, cells)))
        assert sum(map(len, cells)) == total and len(cells[-1]) < 50_000
        assert ((command(cells[-1]) or "").endswith(ASKS)) is asks, total


def test_a_name_of_a_magic_that_is_called_or_looked_into_is_a_name() -> None:
    assert command("less x") == f"less x\n{ASKS}"
    assert command("less(x)") is command("less[x]") is command("less [x]") is command("less = x") is None
    assert command("less") == f"less\n{ASKS}"


def test_magics_in_each_other_are_followed_six_deep_however_the_cell_around_them_is_read() -> None:
    assert command(")(\n" + "%time " * 5 + "%sx rm x") == "rm x"
    assert command(")(\n" + "%time " * 6 + "%sx rm x") == f"%sx rm x\n{ASKS}"
    assert command("%%time\n" * 5 + ")(\n%sx rm x") == "rm x"
    assert command("%%time\n" * 6 + ")(\n%sx rm x") == f"sx rm x\n{ASKS}"
    assert command("%%time\n" * 6 + ")(\n%%html rm x") is None
    assert command("%%time\n" * 5 + "%%prun x = 1\n!rm x") == "rm x\nrm x"
    assert command("%%time\n" * 6 + "%%prun x = 1\n!rm x") == f"x = 1\nrm x\n{ASKS}"
    settings = "%config InlineBackend.x = get_ipython().system('rm x')"
    assert command("%%time\n" * 5 + settings) == "rm x"
    assert (command("%%time\n" * 6 + settings) or "").endswith(ASKS)


def test_what_a_magic_makes_of_its_line_is_asked_about() -> None:
    for name in ("time", "prun", "debug"):
        assert (command(f"%{name} f('x')  + 1") or "").endswith(ASKS), name
    assert command("%timeit f('x')  + 1") is None and command("%time f('x') + 1") is None
    assert command("%time --no-raise ls") == f"--no-raise ls\n{ASKS}" and command("%time --no-raise-error ls") == "ls"
    assert (command("%config {f(1)}") or "").endswith(ASKS) and command("%config x") is None
    # A program gets a cell as it stands; IPython puts values into the line of a command.
    assert command("%%bash\nls '$x'") == "ls '$x'" and command("!ls '$x'") == f"ls $x\n{ASKS}"


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


REACH_FURTHER = ["alias_manager", "define_alias", "kernel", "find_cell_magic", "find_line_magic", "find_magic", "input_transformer_manager", "input_transformers_cleanup", "input_transformers_post", "magic", "magics_manager", "prefilter_manager", "run_code", "safe_execfile", "safe_execfile_ipy", "safe_run_module", "getoutput", "system", "system_piped", "system_raw", "ex", "ev", "run_cell", "run_cell_async", "run_line_magic", "run_cell_magic"]  # fmt: skip


def test_what_of_the_shell_can_run_text_is_asked_about_where_it_is_handed_on() -> None:
    assert [name for name in REACH_FURTHER if command(f"f(get_ipython().{name})") != ASKS] == []
    # Another cell may have named the shell so.
    assert [
        name for name in REACH_FURTHER for shell in ("ip", "x.shell") if command(f"f({shell}.{name})") != ASKS
    ] == []
    for shell in ("get_ipython()", "ip"):
        assert [name for name in ("user_ns", "config", "events") if command(f"f({shell}.{name})") is not None] == []


def test_of_the_texts_around_what_is_not_understood_fifty_are_told() -> None:
    told = (command("f(ip.kernel, " + ", ".join(f"'a{at}'" for at in range(51)) + ")") or "").split("\n")
    assert told == [*(f"a{at}" for at in range(50)), ASKS]
    assert command("f(ip.kernel, 1, '', 'a')") == f"a\n{ASKS}"
    for depth, is_told in ((49, True), (50, False)):
        assert ("rm x" in (command("f('rm x', " + "[" * depth + "ip.kernel" + "]" * depth + ")") or "")) is is_told


def test_what_of_the_shell_is_called_is_read_as_what_it_does() -> None:
    for name in ("getoutput", "system", "system_piped", "system_raw"):
        assert command(f"get_ipython().{name}('rm x')") == command(f"get_ipython().{name}(cmd='rm x')") == "rm x", name
    for name in ("ex", "ev", "run_cell", "run_cell_async"):
        assert command(f"get_ipython().{name}('!rm x')") == command(f"get_ipython().{name}(raw_cell='!rm x')") == "rm x"
    for arguments in ("'bash', '', 'rm x'", "magic_name='bash', line='', cell='rm x'", "'bash', cell='rm x', line=''"):
        assert command(f"get_ipython().run_cell_magic({arguments})") == "rm x", arguments
    assert command("get_ipython().magic(arg_s='%sx rm x')") == command("get_ipython().magic('sx rm x')") == "rm x"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%%perl -c x", f"perl -c x\n{ASKS}"), ("%%writefile x", f"writefile x\n{ASKS}"), ("%ls x", "ls x"), ("%%html x", None), ("x = %ls y", "ls y"), ("ls y", f"ls y\n{ASKS}"), ("system x", f"system x\n{ASKS}"), ("!rm x", f"rm x\n{ASKS}"),
        ("pip install x", f"pip install x\n{ASKS}"), ("%pip install x", None), ("!!rm x", f"rm x\n{ASKS}"), ("x=!rm y", f"rm y\n{ASKS}"), ("%!rm x", f"rm x\n{ASKS}"), (">>> !rm x", f"rm x\n{ASKS}"), ("x != y", None), ("x %y z", None),
        ("x = %%y z", f"y z\n{ASKS}"), ("get_ipython()", ASKS), ("%%bash\nrm x", f"bash\nrm x\n{ASKS}"), *((f"ls {sign}y", None) for sign in "=(.[,:"), ("ls", None), ("%%file x", f"file x\n{ASKS}"),
    ],
)  # fmt: skip
def test_a_line_of_what_is_no_python_is_taken_for_what_it_may_be(line: str, told: str | None) -> None:
    assert command(f")(\n{line}") == told


def test_a_program_that_gets_a_cell_is_told_with_its_own_words() -> None:
    for name in ("cmd", "perl", "pypy", "python", "python2", "python3", "ruby", "zsh"):
        assert (
            command(f"%%{name} --out o --bg -c x\ny") == f"{name} -c x{chr(10) + 'y' if name == 'zsh' else ''}\n{ASKS}"
        )
    assert command("%%script --out o perl -c x\ny") == f"perl -c x\n{ASKS}"
    assert command("%%script\ny") is None


@pytest.mark.parametrize(
    ("code", "same_as"),
    [
        ("sh" + ".a" * 7 + "('x')", "'a a a a a a a' x"),
        ("sh" + ".a" * 8 + "('x')", None),
        ("os.system(" + " + ".join(["'a'"] * 9) + ")", "a" * 9),
        ("os.system(" + " + ".join(["'a'"] * 10) + ")", f"$python {'a' * 8}\n_"),
        ("sh" + ".a" * 3 + "('x')", "'a a a' x"),
        (_in_each_other(lambda code: f"vars({code})['a']", "sh", 7) + "('x')", "'a a a a a a a' x"),
        (_in_each_other(lambda code: f"vars({code})['a']", "sh", 8) + "('x')", None),
        (_in_each_other(lambda code: f"getattr({code}, 'a')", "sh", 7) + "('x')", "'a a a a a a a' x"),
        (_in_each_other(lambda code: f"getattr({code}, 'a')", "sh", 8) + "('x')", None),
        ("importlib.import_module('sh')" + ".a" * 5 + "('x')", "'a a a a a' x"),
        ("importlib.import_module('sh')" + ".a" * 6 + "('x')", None),
        ("sys.modules['sh']" + ".a" * 5 + "('x')", "'a a a a a' x"),
        ("sys.modules['sh']" + ".a" * 6 + "('x')", None),
        ("__import__('os').execl('rm', 'rm', 'x')", "rm x"),
        ("importlib.__import__('os').execl('rm', 'rm', 'x')", "rm x"),
        ("importlib.import_module('os').execl('rm', 'rm', 'x')", "rm x"),
        ("sys.modules['os'].execl('rm', 'rm', 'x')", "rm x"),
        ("sys.modules[x].execl('rm', 'rm', 'x')", None),
        ("x['os'].execl('rm', 'rm', 'x')", None),
        ("import os as o\no.execl('rm', 'rm', 'x')", "rm x"),
        ("import os, x as y\nos.execl('rm', 'rm', 'x')", "rm x"),
        ("subprocess.run([b'rm', b'a b'])", "rm 'a b'"),
        ("os.system(" + "'a' + (" * 8 + "'a'" + ")" * 9, "a" * 9),
        ("os.system(" + "'a' + (" * 9 + "'a'" + ")" * 10, f"{'a' * 8} $python\n_"),
        ("os.system('a'" + " % x" * 8 + ")", "a"),
        ("os.system('a'" + " % x" * 9 + ")", "$python\n_"),
        ("os.system('a{}'" + ".format(x)" * 8 + ")", "a $python"),
        ("os.system('a{}'" + ".format(x)" * 9 + ")", "$python\n_"),
        ("os.system(f'a{x}')", "a $python\n_"),
        ("x.getoutput(b'rm x')", "rm x"),
        ("from .os import system\nsystem('a')", None),
        ("x = 'a'\nx = 'b'\nos.system(x)", "$python\n_"),
        ("x = 'a'\nos.system(x)", "a"),
        ("x = 1\nos.system(x)", "$python\n_"),
        ("timeit.timeit(stmt=\"os.system('a')\")", "a"),
        ("timeit.repeat(\"os.system('a')\")", "a"),
        ("timeit.Timer(\"os.system('a')\")", "a"),
        ("cProfile.run(\"os.system('a')\")", "a"),
        ("profile.run(statement=\"os.system('a')\")", "a"),
        ("exec(source=\"os.system('a')\")", "a"),
        ("eval(\"os.system('a')\")", "a"),
    ],
)
def test_what_is_written_out_of_a_command_is_told(code: str, same_as: str | None) -> None:
    assert risks_of(code, "python").same_as == same_as


@pytest.mark.parametrize(
    ("code", "is_flagged"),
    [("fabric = 1\nf(fabric)", False), ("fabric.run('x')", True), ("exec(source=x)", True), ("exec(statement=x)", True), ("compile(x, '', 'exec')", True), ("exec(compile('1', '', 'exec'))", False), ("eval()", False), ("exec('x%s' % y)", True), ("exec('x{}'.format(y))", True), ("exec(f'x{y}')", True), ("exec(f'x')", False), ("builtins.eval(x)", True), ("exec(other=x)", False)],
)  # fmt: skip
def test_texts_that_are_not_written_out_are_flagged_where_they_run(code: str, is_flagged: bool) -> None:
    assert ("runs_programs" in risks_of(code, "python").flags) is is_flagged


def test_what_is_taken_by_a_name_that_only_the_run_knows_is_flagged_for_modules_that_start_programs() -> None:
    starts = ["subprocess", "pexpect", "ptyprocess", "plumbum", "pty", "fabric", "sh"]
    have_some = ["asyncio", "builtins", "ctypes", "importlib", "nt", "os", "posix", *starts]

    def flagged(code: str) -> bool:
        return "runs_programs" in risks_of(code, "python").flags

    assert [name for name in have_some if not flagged(f"getattr({name}, x)('rm')")] == []
    assert [name for name in starts if not flagged(f"import {name}") or not flagged(f"import {name}.x as y")] == []
    assert [name for name in ("sys", "math", "re") if flagged(f"getattr({name}, x)('rm')") or flagged(f"import {name}")] == []  # fmt: skip


def test_what_is_taken_from_the_shell_by_a_name_is_asked_about() -> None:
    assert command("getattr(ip, x)('rm x')") == command("getattr(get_ipython(), x)") == ASKS
    assert command("getattr(y, x)('rm x')") is None and command("f(ip, x)") is None and command("getattr()") is None


def test_a_method_of_the_class_is_given_the_shell_first() -> None:
    for code in ("X.system(ip, 'rm x')", "X.run_line_magic(ip, 'sx', 'rm x')", "X.run_cell_magic(ip, 'bash', '', 'rm x')"):  # fmt: skip
        assert command(code.replace("X", "InteractiveShell")) == f"rm x\n{ASKS}", code
    assert command("Y.system(Y.instance(), 'rm x')".replace("Y", "InteractiveShell")) == f"rm x\nrm x\n{ASKS}"


def test_braces_are_worked_out_but_where_the_line_is_python() -> None:
    for name in ("debug", "prun", "time", "timeit"):
        assert command(f"%%{name} d = {{f(x) for x in y}}\n1") is None, name
    for name in ("html", "latex", "javascript"):
        assert (command(f"%%{name} {{f(x)}}\n1") or "").endswith(ASKS), name
    assert risks_of("%who {subprocess.run}", "python").flags == {"runs_programs"}
    assert risks_of("%who subprocess.run", "python").flags == frozenset()


def test_pieces_of_four_thousand_characters_are_held_to_the_rules_that_deny() -> None:
    assert CodeFindings(unclear=["x" * 4_000]).command == "x" * 4_000 + "\n$(known_when_it_runs)"
    assert CodeFindings(unclear=["x" * 4_001]).command == "$(known_when_it_runs)"
    # A new line stands between two of them.
    assert "yyy" in str(CodeFindings(unclear=["x" * 3_996, "yyy"]).command)
    assert "yyyy" not in str(CodeFindings(unclear=["x" * 3_996, "yyyy"]).command)


@pytest.mark.parametrize("language", ["cmd", "csh", "dash", "fish", "ksh", "nu", "nushell", "powershell", "pwsh", "tcsh", "xonsh", "zsh"])  # fmt: skip
def test_a_kernel_of_another_shell_is_asked_about(language: str) -> None:
    for name in (language, language.upper()):
        found = risks_of("ls", name)
        assert "shell" in found.risks
        assert found.command == "ls\n$(known_when_it_runs)"


@pytest.mark.parametrize("language", ["bash", "sh", "shell"])
def test_a_kernel_of_the_usual_shell_is_held_to_the_rules_for_commands(language: str) -> None:
    assert risks_of("ls", language).command == "ls"
    assert risks_of("ls !x", language).command == "ls x\n$(known_when_it_runs)"
    assert "shell" in risks_of("", language).risks


@pytest.mark.parametrize("language", ["julia", "r", "pythoness"])
def test_other_languages_have_no_commands_that_are_read(language: str) -> None:
    found = risks_of("!ls", language)
    assert found.command == ("ls" if language == "pythoness" else None)
    assert "run_code" in found.risks
