"""Each of IPython's magics is taken for what it does."""

from __future__ import annotations

from hdsp_agent.tools.notebook._code_risks import risks_of

SHOW = ["aimport", "autoawait", "automagic", "autoreload", "clear", "colors", "dhist", "dirs", "doctest_mode", "gui", "load_ext", "lsmagic", "magic", "matplotlib", "page", "pdb", "pdef", "pdoc", "pinfo", "pinfo2", "pprint", "precision", "psearch", "psource", "pwd", "pylab", "quickref", "reload_ext", "reset", "reset_selective", "tb", "unalias", "unload_ext", "who", "who_ls", "whos", "xdel", "xmode"]  # fmt: skip
SHOW_ALONE = ["alias", "bookmark", "load", "macro", "run", "save", "store"]
SHOW_CELL = ["HTML", "SVG", "html", "javascript", "js", "latex", "markdown", "svg"]
COMMANDS = ["cat", "cp", "ls", "mkdir", "mv", "rm", "rmdir"]
LISTINGS = ["ldir", "lf", "lk", "ll", "lx"]
SCRIPTS = ["cmd", "perl", "pypy", "python", "python2", "python3", "ruby", "zsh"]
CHANGE = ["alias_magic", "autocall", "cd", "code_wrap", "ed", "edit", "killbgscripts", "less", "loadpy", "logoff", "logon", "logstart", "logstate", "logstop", "more", "notebook", "pastebin", "pfile", "popd", "pushd", "pycat", "qtconsole", "recall", "rehashx", "rep", "rerun", "subshell"]  # fmt: skip
VARIABLES = ["CUDA_VISIBLE_DEVICES", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS", "TF_CPP_MIN_LOG_LEVEL", "TOKENIZERS_PARALLELISM", "TZ"]  # fmt: skip
SETTINGS = ("Completer.x", "IPCompleter.x", "InlineBackend.x", "InteractiveShell.ast_node_interactivity", "InteractiveShell.xmode", "PlainTextFormatter.x")  # fmt: skip

ONLY_PYTHON = {"run_code"}
SHELL = {"run_code", "shell"}


def risks(code: str) -> set[str]:
    return set(risks_of(code, "python").risks)


def command(code: str) -> str | None:
    return risks_of(code, "python").command


def test_what_shows_something_is_only_python() -> None:
    codes = [f"{sign}{name}{word}" for name in SHOW for sign in ("%", "") for word in ("", " x")]
    codes += (
        [f"%{name}" for name in SHOW_ALONE if name != "run"] + SHOW_ALONE + [f"%%{name}\n!rm x" for name in SHOW_CELL]
    )
    assert [code for code in codes if risks(code) != ONLY_PYTHON] == []


def test_what_shows_something_alone_is_asked_about_with_a_word() -> None:
    assert [name for name in SHOW_ALONE if risks(f"%{name} x") != SHELL or risks(f"{name} x") != SHELL] == []


def test_what_changes_more_is_asked_about_with_and_without_a_sign() -> None:
    assert [name for name in CHANGE if risks(f"%{name} x") != SHELL or risks(f"{name} x") != SHELL] == []
    assert [name for name in CHANGE if risks(name) != SHELL or risks(f"%{name}") != SHELL] == []
    # A name of Python's that is used as one is none.
    assert [name for name in CHANGE if risks(f"{name} = 1") != ONLY_PYTHON] == []


def test_aliases_are_the_commands_that_they_stand_for() -> None:
    for name in COMMANDS:
        for code in (f"%{name} x", f"{name} x", f"%time %{name} x", f"x = %{name} x"):
            assert command(code) == f"{name} x", code
    for name in LISTINGS:
        for code in (f"%{name} x", f"{name} x"):
            assert (command(code) or "").startswith("ls x\n"), code
    assert (command("man x") or "").startswith("man x\n")


def test_the_magics_of_the_shell_give_it_the_line_or_the_cell() -> None:
    for name in ("sx", "system"):
        for code in (f"%{name} rm x", f"{name} rm x", f"%%{name}\nrm x", f"x = %{name} rm x"):
            assert command(code) == "rm x", code
    assert command("%%!\nrm x") == command("!!rm x") == command("%sc x=rm x") == command("sc x=rm x") == "rm x"


def test_the_magics_of_packages_install() -> None:
    for name in ("conda", "mamba", "micromamba", "pip", "uv"):
        for code in (f"%{name} install x", f"{name} install x"):
            assert risks(code) == {"run_code", "install"}, code


def test_magics_that_run_python_may_hold_others() -> None:
    for name in ("capture", "debug", "prun", "px", "time", "timeit"):
        assert command(f"%%{name}\n!rm x") == "rm x", name
        if name != "capture":
            assert command(f"%{name} !rm x") == command(f"{name} !rm x") == "rm x", name
    for code in ("%debug -b f:1 !rm x", "%prun -l 5 !rm x", "%prun -s time -q !rm x", "%px -t 1 !rm x", "%timeit -n 1 -r 2 -p 3 -v x !rm x", "%timeit -t -c -q -o !rm x"):  # fmt: skip
        assert command(code) == "rm x", code
    assert risks("%prun -D f 1") == risks("%prun -T f 1") == SHELL


def test_scripts_of_shells_are_commands_and_others_are_asked_about() -> None:
    for name in ("bash", "sh"):
        assert command(f"%%{name}\nrm x") == command(f"%%script {name}\nrm x") == "rm x", name
    for program in ("dash", "/bin/bash", "/bin/sh", "/usr/bin/bash", "bash --norc", "bash --noprofile --posix", "bash -e -s -u -x"):  # fmt: skip
        assert command(f"%%script {program}\nrm x") == "rm x", program
    for options in ("--bg", "--no-raise-error", "--out=o --err=e --proc=p", "--out o --err e --proc p"):
        assert command(f"%%bash {options}\nrm x") == "rm x", options
    for name in SCRIPTS:
        assert risks(f"%%{name}\nx") == SHELL, name
    for line in ("bash -c x", "bash -i", "./bash", "bash x"):
        assert (command(f"%%script {line}\nls") or "").endswith("$(known_when_it_runs)"), line


def test_files_are_written_by_two_magics() -> None:
    for name in ("file", "writefile"):
        for line in ("x", "-a x", "--append x"):
            assert risks_of(f"%%{name} {line}\ny", "python").writes == ("x",), (name, line)
        assert risks(f"%%{name} x y\nz") == risks(f"%%{name} -x\nz") == SHELL


def test_harmless_variables_and_settings_may_be_set() -> None:
    for name in VARIABLES:
        for code in (f"%env {name}=1", f"%set_env {name} 1", f"env {name}=1", f"%env {name}"):
            assert risks(code) == ONLY_PYTHON, code
        assert risks(f"%env X{name}=1") == risks(f"%env {name}={{x}}") == risks(f"%env {name}=$x") == SHELL
    for name in SETTINGS:
        assert risks(f"%config {name} = 1") == risks(f"config {name} = 1") == ONLY_PYTHON, name
        assert risks(f"%config X{name} = 1") == SHELL, name
    assert risks("%config InteractiveShell.x = 1") == SHELL


def test_history_is_shown_unless_it_is_written() -> None:
    for name in ("hist", "history"):
        assert risks(f"%{name} -n 1-5") == risks(f"{name} -n") == ONLY_PYTHON
        assert risks(f"%{name} -f x") == risks(f"%{name} 1 -nf x") == SHELL


def test_what_a_magic_captures_into_is_a_name() -> None:
    assert command("%%capture !ls\n1") is None
    assert command("%%capture out\n!ls") == "ls"


def test_history_that_is_written_is_asked_about_with_and_without_a_sign() -> None:
    for name in ("hist", "history"):
        for sign in ("%", ""):
            assert risks(f"{sign}{name} -f x.py") == SHELL
            # To Python alone this would be a difference.
            assert risks(f"{sign}{name} -f") == SHELL
            assert risks(f"{sign}{name} -n") == ONLY_PYTHON
