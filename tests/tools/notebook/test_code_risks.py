"""What running code risks, as far as its words tell."""

from __future__ import annotations

import time

import pytest

from hdsp_agent.tools.notebook._code_risks import risks_of

R, S, I = "run_code", "shell", "install"
ASKS = "$(known_when_it_runs)"
"""A command that no rule can allow."""

GIVEN_AS_IT_STANDS = [
    ("!ls -la", "ls -la"),
    ("!!git status", "git status"),
    ("  !!git status", "git status"),
    ("!rm -rf x", "rm -rf x"),
    ("\t!rm x", "rm x"),
    ("# c\n!rm x", "rm x"),
    ("\n\n  !rm x\n", "rm x"),
    (">>> !rm x", "rm x"),
    ("In [1]: !rm x", "rm x"),
    ("files = !find . -name '*.py'", "find . -name '*.py'"),
    ("x=!rm x", "rm x"),
    ("a.b = !rm x", "rm x"),
    ("a['k'] = !rm x", "rm x"),
    ("a, b = !rm x", "rm x"),
    ("out = %sx date", "date"),
    ("y=%sx rm x", "rm x"),
    ("y = %system rm x", "rm x"),
    ("%sx rm x", "rm x"),
    ("%system date", "date"),
    ("%sc x=rm x", "rm x"),
    ("%sc -l x = rm x", "rm x"),
    ("!rm \\\n  -rf build", "rm    -rf build"),
    ("!\\\nrm x", "rm x"),
    ("?\n!rm x", "rm x"),
    ("!echo one\nx = 2\n!echo two", "echo one\necho two"),
    ("if True:\n    !rm x", "rm x"),
    ("for f in g:\n    y = !rm x\n    print(y)", "rm x"),
    ("with a:\n    %sx rm x", "rm x"),
    ("def f():\n    !rm x\nf()", "rm x"),
    ("%time !rm x", "rm x"),
    ("%time  !rm x", "rm x"),
    ("%time x = !rm x", "rm x"),
    ("%time --no-raise-error !rm x", "rm x"),
    ("y = %time !rm x", "rm x"),
    ("%time %time %time !rm x", "rm x"),
    ("%timeit !rm x", "rm x"),
    ("%timeit -n1 -r1 !rm x", "rm x"),
    ("%timeit -n 1 -r 1 -q !rm x", "rm x"),
    ("%timeit -qn1 !rm x", "rm x"),
    ("%prun !rm x", "rm x"),
    ("%prun -s cumulative -q !rm x", "rm x"),
    ("%prun get_ipython().system('rm x')", "rm x"),
    ("%debug !rm x", "rm x"),
    ("%time %sx rm x", "rm x"),
    ("%%time\n!rm x", "rm x"),
    ("%%time !rm x\n1", "rm x"),
    ("%%timeit !rm x\n1", "rm x"),
    ("%%timeit\n!rm x", "rm x"),
    ("%%prun\n!rm x", "rm x"),
    ("%%capture out\n!rm x", "rm x"),
    ("%%debug\n!rm x", "rm x"),
    ("%%time\n%%capture out\n%%bash\ncurl x | sh", "curl x | sh"),
    ("%%time\n\n\n%%sx\nrm x", "rm x"),
    ("%%bash\nrm x", "rm x"),
    ("%%bash --bg\nrm x", "rm x"),
    ("%%bash --out o --err e\nrm x", "rm x"),
    ("%%bash -e\n# what it does\nrm x", "# what it does\nrm x"),
    ("%%sh\nrm x", "rm x"),
    ("%%script bash --norc\necho x", "echo x"),
    ("%%!\nrm x\nls", "rm x\nls"),
    ("%%sx\nrm x", "rm x"),
    ("%%system --out=o\nrm x", "rm x"),
    ("%rm x", "rm x"),
    ("%cp a b", "cp a b"),
    ("%time %ls", "ls"),
    ("rm -rf data", "rm -rf data"),
    ("ls", "ls"),
    ("ls -la", "ls -la"),
    ("sx rm x", "rm x"),
    ("system rm x", "rm x"),
    ("time !rm x", "rm x"),
    ("timeit -n1 !rm x", "rm x"),
    ("%time rm x", "rm x"),
    ("%%capture\nrm x", "rm x"),
    ("get_ipython().system('rm x')", "rm x"),
    ("get_ipython().system(cmd='rm x')", "rm x"),
    ("get_ipython().system('rm ' + 'x')", "rm x"),
    ("x = get_ipython().getoutput('rm x')", "rm x"),
    ("get_ipython().system_raw('rm x')", "rm x"),
    ("ip = get_ipython()\nip.system('rm x')", "rm x"),
    ("ip = shell = get_ipython()\nother = ip\nother.system('rm x')", "rm x"),
    ("(ip := get_ipython()).system('rm x')", "rm x"),
    ("from IPython import get_ipython as g\ng().system('rm x')", "rm x"),
    ("import IPython\nIPython.get_ipython().system('rm x')", "rm x"),
    ("InteractiveShell.instance().system('rm x')", "rm x"),
    ("self.shell.system('rm x')", "rm x"),
    ("lambda: get_ipython().system('rm x')", "rm x"),
    ("get_ipython().run_line_magic('sx', 'rm x')", "rm x"),
    ("ip.run_line_magic(magic_name='sx', line='rm x')", "rm x"),
    ("get_ipython().run_line_magic('time', '!rm x')", "rm x"),
    ("get_ipython().run_cell_magic('bash', '', 'rm x')", "rm x"),
    ("get_ipython().run_cell_magic('time', '', '%%bash\\nrm x')", "rm x"),
    ("get_ipython().run_cell('!rm x')", "rm x"),
    ("get_ipython().magic('%sx rm x')", "rm x"),
    ("exec('get_ipython().system(\"rm x\")')", "rm x"),
    ("ip.system('rm x')", "rm x"),
    ("class A:\n    def f(self):\n        self.shell.getoutput('rm x')", "rm x"),
    ("exec(compile(\"get_ipython().system('rm x')\", '', 'exec'))", "rm x"),
    ("code = \"get_ipython().system('rm x')\"\nexec(code)", "rm x"),
    ("import builtins\nbuiltins.exec(\"get_ipython().system('rm x')\")", "rm x"),
    ("import timeit\ntimeit.timeit(\"get_ipython().system('rm x')\", number=1)", "rm x"),
    ("get_ipython().display_formatter.parent.getoutput('rm x')", "rm x"),
    ("get_ipython().events.shell.system('rm x')", "rm x"),
    ("x = get_ipython().display_formatter\nx.parent.system('rm x')", "rm x"),
    ("Out[3].system('rm x')", "rm x"),
    ("_.getoutput('rm x')", "rm x"),
    (",get_ipython().system rm", None),
]


@pytest.mark.parametrize(("code", "command"), GIVEN_AS_IT_STANDS)
def test_what_a_shell_gets_as_it_stands(code: str, command: str | None) -> None:
    found = risks_of(code, "python")
    if command is None:
        assert found.risks == {R, S} and found.command is not None
        return
    assert (found.risks, found.command, found.same_as) == (frozenset({R, S}), command, None)
    assert found.flags <= {"installs"} and risks_of(code, None) == found


def nested(code: str, times: int) -> str:
    """The code as a text that runs a text, and so on."""
    for _ in range(times):
        code = f"exec({code!r})"
    return code


KNOWN_IN_PART = [
    # IPython puts in the values of variables, inside quotes as well.
    ("!echo {f(1)}", "echo"),
    ("!echo '{x}'", "echo"),
    ('!echo "$x"', "echo"),
    ("!echo $$HOME", "echo"),
    ("!rm -rf {x}", "rm -rf"),
    ("x = !rm $x", "rm"),
    ("%time !rm {x}", "rm"),
    ("%sx rm $x", "rm"),
    ("!awk '{print $1}' f", "awk"),
    ("!{ rm x; }", "rm x"),
    ("%%bash {x}\nrm x", "rm x"),
    # The end of one is not to be the beginning of the next.
    ("!echo '\n!rm x\n!'", "rm x"),
    ('!echo "\n!rm x', "rm x"),
    ("!cat <<EOF\n!rm x", "rm x"),
    ("get_ipython().system('echo \\\\')\n!rm x", "rm x"),
    # A shell of another kind would read these otherwise.
    ("!git log &>/dev/null rm x", "rm x"),
    ("! =rm x", "=rm x"),
    # Programs in a script read the lines below.
    ("%%bash\nset -e\ncurl x | sh", "sh"),
    ("%%bash\ncat\nrm x", "rm x"),
    ("%%bash -c 'rm x'\n1", "bash -c rm x"),
    ("%%bash run.sh\n1", "bash run.sh"),
    ("%%script zsh\nrm x", "rm x"),
    ("%%script perl\nunlink 'x'", "perl"),
    ("%%ruby\nx", "ruby"),
    ("%%python3 -c 'x'\nimport os", "python3 -c x"),
    ("%%script ./bash\nrm x", "./bash"),
    ("%%bash '\nrm x", "rm x"),
    # Magics that make commands of words, run files, write files or start programs.
    ("%alias z rm", "alias z rm"),
    ("%alias_magic t rm", "alias_magic t rm"),
    ("%rehashx", "rehashx"),
    ("%run x.py", "python x.py"),
    ("%run -m mod", "python -m mod"),
    ("run x.py", "python x.py"),
    ("%time %run x.py", "python x.py"),
    ("%load x.py", "load x.py"),
    ("%cd /", "cd /"),
    ("cd ..", "cd .."),
    ("%env PATH=/x", "export PATH=/x"),
    ("%env PATH /x", "export PATH /x"),
    ("%set_env PATH=/x", "export PATH=/x"),
    ("%env TZ={x}", "export TZ="),
    ("%logstart x", "logstart x"),
    ("%bookmark x", "bookmark x"),
    ("%save x 1", "save x 1"),
    ("%history -f x", "history -f x"),
    ("%edit", "edit"),
    ("%killbgscripts", "killbgscripts"),
    ("%macro m 1", "macro m 1"),
    ("%rerun", "rerun"),
    ("%autocall 2", "autocall 2"),
    ("%prun -T x 1", "prun -T x 1"),
    ("%config AliasManager.user_aliases = [('z', 'rm')]", "config AliasManager.user_aliases = ["),
    ("%config InlineBackend.rc = get_ipython().system(x)", ""),
    ("%who {get_ipython().system('rm x')}", ""),
    ("%man ls", "man ls"),
    ("%ll x", "ls x"),
    # Nobody knows what these do.
    ("%rm2 x", "rm2 x"),
    ("%%sql\nselect 1", "sql"),
    ("%%time\n%%R\nsystem('rm x')", "R"),
    ("%load_ext x\n%x rm y", "x rm y"),
    ("z x y", "z x y"),
    ("% time !rm x", "rm x"),
    ("%time\t!rm x", "rm x"),
    ("get_ipython().system(x)", ""),
    ("get_ipython().system(f'rm {x}')", "rm"),
    ("get_ipython().system(*x)", ""),
    ("get_ipython().run_line_magic(x, 'rm y')", ""),
    ("get_ipython().run_cell_magic('bash', '', x)", "bash"),
    ("run = get_ipython().system\nrun('rm x')", ""),
    ("getattr(get_ipython(), 'system')('rm x')", ""),
    ("get_ipython().magics_manager", ""),
    ("get_ipython().find_line_magic('sx')('rm x')", ""),
    # The shell itself, handed on or looked into.
    ("type(get_ipython()).system(get_ipython(), 'rm x')", "rm x"),
    ("get_ipython().__class__.system(get_ipython(), 'rm x')", "rm x"),
    ("x = get_ipython().__class__\nx.system(x.instance(), 'rm y')", "rm y"),
    ("InteractiveShell.system(InteractiveShell.instance(), 'rm x')", "rm x"),
    ("get_ipython().run_cell(shell, '1')", ""),
    ("get_ipython().kernel.do_execute('!rm x', False)", "rm x"),
    ("ip.kernel", ""),
    ("import operator\noperator.methodcaller('system', 'rm x')(get_ipython())", "rm x"),
    ("globals()['get_ipython']().system('rm x')", "rm x"),
    ("globals().get('get_ipython')().system('rm x')", ""),
    ("globals()['get_' + 'ipython']().system('rm x')", ""),
    ("getattr(IPython, 'get_ipython')().system('rm x')", ""),
    ("[get_ipython()][0].getoutput('rm x')", "rm x"),
    ("x = {'k': get_ipython()}", ""),
    ("a, b = get_ipython(), 1", ""),
    ("a.b = get_ipython()", ""),
    ("def f(x=get_ipython()):\n    x.system('rm x')", ""),
    ("def f():\n    return get_ipython()", ""),
    ("for x in [get_ipython()]:\n    x.system('rm x')", ""),
    ("with contextlib.nullcontext(get_ipython()) as x:\n    x.system('rm x')", ""),
    ("(lambda: get_ipython())().system('rm x')", ""),
    ("match get_ipython():\n    case x:\n        x.system('rm x')", ""),
    ("class A:\n    x = get_ipython()", ""),
    ("list(map(lambda x: x(), [get_ipython]))", ""),
    ("x = get_ipython.__call__", ""),
    ("InteractiveShell._instance.system('rm x')", ""),
    ("from IPython.core.interactiveshell import InteractiveShell as S\nf(S.instance())", ""),
    ("vars(get_ipython())", ""),
    ("eval('get_ipython()').getoutput('rm x')", ""),
    ("eval(' get_ipython()').getoutput('rm x')", ""),
    ("print = f\nprint(get_ipython())", ""),
    ("".join(f"x{at} = x{at + 1}\n" for at in range(30)) + "x30 = get_ipython()\nf(x0)", ""),
    # Another IPython, and what else runs a cell.
    ("import IPython\nIPython.start_ipython(argv=['-c', '!rm x'])", "rm x"),
    ("from IPython import start_ipython as s\ns(argv=['-c', '!rm x'])", ""),
    ("getattr(IPython, 'start_' + 'ipython')(argv=[])", ""),
    ("getattr(IPython, x)(argv=[])", ""),
    ("__import__('IPython').start_ipython()", ""),
    ("IPython.embed()", ""),
    ("from IPython import embed\nembed()", ""),
    ("TerminalIPythonApp.launch_instance(argv=[])", ""),
    ("from IPython.core.magics import OSMagics", ""),
    ("import IPython.core.magics.osm as o", ""),
    ("OSMagics(x).sx('rm x')", "rm x"),
    ("from IPython.utils.process import system\nsystem('rm x')", ""),
    ("x.run_cell('!rm x')", ""),
    ("x.run_cell_async(y)", ""),
    # IPython works out what stands in braces.
    ("%matplotlib {__import__('os').popen('rm x').read()}", "rm x"),
    ("%who {f (1)}", "f"),
    ("%%html {f(1)}\nx", "f"),
    # Texts in texts, deeper than anybody writes them.
    ("x = 1\n" + nested("get_ipython().user_ns", 12), ""),
    # What is no Python: more than there is, rather than less.
    ("if True: !rm x", "rm x"),
    ("x=1; !rm x", "rm x"),
    ("a = b = !rm x", "rm x"),
    ("(!rm x)", "rm x"),
    ("!rm x\n)(", "rm x"),
    ("%time (!rm x", "rm x"),
    ("x = = get_ipython().system('rm x')", ""),
    ("rm -rf x\nls y", "rm -rf x"),
    ("x\u2028!rm x", "rm x"),
    ("!ls \x00; rm x", "rm x"),
    # Too deep, too long.
    ("%%time\n" * 12 + "!rm x", ""),
    ("!rm x\n" + "x = 1\n" * 20_000, "rm x"),
    ("!rm x\n" * 2_000, "rm x"),
]


@pytest.mark.parametrize(("code", "words"), KNOWN_IN_PART)
def test_what_is_known_in_part_is_asked_about_and_its_words_are_held_to_the_rules(code: str, words: str) -> None:
    found = risks_of(code, "python")
    assert found.risks >= {R, S} and found.command is not None and "hidden_parts" in found.flags
    commands = found.command.split("\n")
    assert commands[-1] == ASKS
    assert words in [command.replace("$python", "").strip() for command in commands] or any(
        command.startswith(words) for command in commands
    )


HARMLESS = [
    "x = 1\ny != 2",
    "",
    "%%bash\n",
    "%%time\n\n%%html\n<b>!</b>",
    "%%html\n<b>!rm x</b>",
    "%%latex\n!rm",
    "%%javascript\nx",
    "%matplotlib inline",
    "%load_ext autoreload\n%autoreload 2",
    "%config InlineBackend.figure_format = 'retina'",
    "%config",
    "%who",
    "%whos int",
    "%pwd",
    "%env",
    "%env HOME",
    "%env CUDA_VISIBLE_DEVICES=0",
    "%history -n 1-5",
    "%lsmagic",
    "%debug",
    "%pdb on",
    "%reset -f",
    "%time x = {1: 2}",
    "%timeit -n 10 sum(range(100))",
    "%timeit x % y",
    "%%time\nx = 5 % 2\nprint(f'{x!r}')",
    "%%capture out\nprint('!')",
    "%%timeit x = 1\nx + 1",
    "pip = 3\npip.x()",
    "ls = [1]\nless = 3\ncat(x)",
    "df?",
    "?df",
    "df.head??",
    "print('!rm x')",
    "text = '''\n!rm x\n%sx rm x\n'''",
    "# !rm x",
    "x = 'get_ipython().system'",
    "run(model)",
    "load('x')",
    "config",
    "run",
    "time.sleep(1)",
    "await x",
    "print('a'",
    "x = = 3",
    "print 'a'",
    "1 +",
    "get_ipython().user_ns",
    "get_ipython().run_line_magic('matplotlib', 'inline')",
    "platform.system()",
    "import IPython\nprint(IPython.__version__)",
    "from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))",
    "import IPython.display as ipd\nipd.Audio(x)",
    "IPython.display.clear_output(wait=True)",
    "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'",
    "from IPython.core.magic import register_line_magic",
    "IN_COLAB = 'google.colab' in str(get_ipython())",
    "shell = get_ipython().__class__.__name__\nif shell == 'ZMQInteractiveShell':\n    print(shell)",
    "try:\n    get_ipython\nexcept NameError:\n    pass",
    "if 'get_ipython' in globals():\n    pass",
    "ip = get_ipython()\nif ip is not None:\n    ip.run_line_magic('matplotlib', 'inline')",
    "if get_ipython() and 'IPKernelApp' in get_ipython().config:\n    pass",
    "get_ipython().display_formatter.formatters['text/html'].for_type(A, f)",
    "get_ipython().events.register('post_run_cell', f)",
    "get_ipython().set_next_input('x = 1')",
    "ip = '127.0.0.1'\nrequests.get(ip)\nsocket.connect((ip, 80))",
    "model.embed(x)\nembed(texts)",
    "for _ in range(3):\n    f(_)",
    "type(x).__name__",
    "exec('x = 1')",
    "code = 'x = 1'\nexec(compile(code, '', 'exec'))",
    "re.compile(x)\ndf.eval('a + b')\nmodel.eval()\nast.literal_eval(x)",
    "getattr(os, 'environ')",
    "%%timeit d = {f(x) for x in y}\n1",
    "%time d = {f(x): 1 for x in y}",
    "a\n" * 3000,
    "re.escape('\\d')",
    "'\\d'",
]


@pytest.mark.parametrize("code", HARMLESS)
def test_what_is_only_python_is_not_asked_about_as_shell(code: str) -> None:
    found = risks_of(code, "python")
    assert (found.risks, found.command, found.same_as, found.writes, found.flags) == (
        frozenset({R}),
        None,
        None,
        (),
        frozenset(),
    )


PACKAGES = [
    ("%pip install pandas", "pip install pandas"),
    ("pip install -U pandas", "pip install -U pandas"),
    ("%pip install 'x>=1' \"y[z]\"", "pip install 'x>=1' \"y[z]\""),
    ("%time %pip install y", "pip install y"),
    ("%%time\n%pip install y", "pip install y"),
    ("%%capture\n%pip install y", "pip install y"),
    ("%%capture\npip install y", "pip install y"),
    ("x = %pip install y", "pip install y"),
    ("%conda remove x -y", "conda remove x -y"),
    ("%mamba install x", "mamba install x"),
    ("%uv pip install x", "uv pip install x"),
    ("%uv add x", "uv add x"),
    ("%timeit -n1 -r1 %uv pip install x", "uv pip install x"),
    ("get_ipython().run_line_magic('pip', 'install x')", "pip install x"),
]


@pytest.mark.parametrize(("code", "same_as"), PACKAGES)
def test_packages_by_magics(code: str, same_as: str) -> None:
    found = risks_of(code, "python")
    assert (found.risks, found.command, found.same_as, found.flags) == (
        frozenset({R, I}),
        None,
        same_as,
        frozenset({"installs"}),
    )


@pytest.mark.parametrize(
    ("code", "risks"),
    [
        ("%pip list", {R}),
        ("%pip show pandas", {R}),
        ("%pip --version", {R}),
        ("%time %pip freeze", {R}),
        ("%uv pip list", {R}),
        ("%conda env list", {R}),
        # IPython hands the line to a shell.
        ("%pip list; touch x", {R, S}),
        ("%pip list > x", {R, S}),
        ("%pip list --log x", {R, S}),
        ("%pip list $(touch x)", {R, S}),
        ("%pip install x && touch y", {R, S, I}),
        ("%pip install {x}", {R, S, I}),
        ("%uv run touch x", {R, S}),
        ("%conda run touch x", {R, S}),
        ("%pip config set a b", {R, S}),
        ("!pip install x", {R, S, I}),
        ("%time !pip install x", {R, S, I}),
        ("%%bash\npip install x", {R, S, I}),
        ("!pip list; echo install", {R, S}),
        ("!{sys.executable} -m pip install x", {R, S, I}),
    ],
)
def test_package_programs(code: str, risks: set[str]) -> None:
    assert risks_of(code, "python").risks == risks


@pytest.mark.parametrize(
    ("code", "same_as"),
    [
        ("import os\nos.system('rm x')", "rm x"),
        ("os.system('rm x')", "rm x"),
        ("import os as o\no.system('rm x')", "rm x"),
        ("from os import system\nsystem('rm x')", "rm x"),
        ("from os import system as s\ns('rm x')", "rm x"),
        ("__import__('os').system('rm x')", "rm x"),
        ("importlib.import_module('os').system('rm x')", "rm x"),
        ("sys.modules['os'].system('rm x')", "rm x"),
        ("getattr(os, 'system')('rm x')", "rm x"),
        ("getattr(os, 'sys' + 'tem')('rm x')", "rm x"),
        ("os.__dict__['system']('rm x')", "rm x"),
        ("vars(os)['system']('rm x')", "rm x"),
        ("__import__('o' + 's').system('rm x')", "rm x"),
        ("exec(\"os.system('rm x')\")", "rm x"),
        ("os.popen('rm x').read()", "rm x"),
        ("cmd = 'rm x'\nos.system(cmd)", "rm x"),
        ("os.system(f'rm {x}')", "rm $python\n_"),
        ("os.system('rm %s' % x)", "rm %s"),
        ("os.system(x)", "$python\n_"),
        ("os.system(\"echo '\")\nos.system('rm x')", "rm x\necho"),
        ("pip.main(['install', 'x'])", "pip install x"),
        ("from pip import main as m\nm(['install', 'x'])", "pip install x"),
        ("from pip._internal.cli.main import main\nmain(['install', 'x'])", "pip install x"),
        ("__import__('pip').main(['install', 'x'])", "pip install x"),
        ("subprocess.run(['rm', '-rf', 'a b'])", "rm -rf 'a b'"),
        ("subprocess.run(['rm', x])", "rm $python\n_"),
        ("subprocess.run('rm x', shell=True)", "rm x"),
        ("subprocess.check_output(('git', 'log'))", "git log"),
        ("subprocess.Popen(args=['git', 'log'])", "git log"),
        ("subprocess.getoutput('rm x')", "rm x"),
        ("import subprocess as sp\nsp.call(['rm', 'x'])", "rm x"),
        ("from subprocess import run\nrun(['rm', 'x'])", "rm x"),
        ("sp.run(['rm', 'x'])", "rm x"),
        ("os.execvp('rm', ['rm', 'x'])", "rm x"),
        ("os.execlp('rm', 'rm', 'x')", "rm x"),
        ("os.spawnlp(os.P_WAIT, 'rm', 'rm', 'x')", "rm x"),
        ("os.posix_spawn('/bin/rm', ['rm', 'x'], {})", "/bin/rm x"),
        ("pty.spawn(['rm', 'x'])", "rm x"),
        ("pexpect.run('rm x')", "rm x"),
        ("await asyncio.create_subprocess_shell('rm x')", "rm x"),
        ("await asyncio.create_subprocess_exec('rm', 'x')", "rm x"),
        ("import sh\nsh.rm('x')", "rm x"),
        ("from sh import rm\nrm('x')", "rm x"),
        ("import ctypes\nctypes.CDLL(None).system(b'rm x')", "rm x"),
        ("%time os.system('rm x')", "rm x"),
        ('eval(\'__import__("os").system("rm x")\')', "rm x"),
        ("%%timeit\nos.system('rm x')", "rm x"),
        ("import subprocess", None),
        ("run = subprocess.run", None),
        ("from plumbum import local", None),
        ("importlib.import_module('subprocess')", None),
        ("__import__(x)", None),
        ("getattr(os, x)('rm x')", None),
        ("getattr(__import__('os'), x)('rm x')", None),
        ("exec(x)", None),
        ("eval('x' + y)", None),
        ("exec(compile(x, '', 'exec'))", None),
        ("exec(open('x').read())", None),
        ("x = (subprocess.run", None),
    ],
)
def test_programs_that_python_starts_are_flagged_and_held_to_what_rules_deny(code: str, same_as: str | None) -> None:
    found = risks_of(code, "python")
    assert (found.risks, found.command, found.same_as) == (frozenset({R}), None, same_as)
    assert found.flags == {"runs_programs"}


def test_what_removes_folders_is_flagged() -> None:
    for code in ("import shutil\nshutil.rmtree('x')", "from shutil import rmtree as r", "x = (rmtree("):
        assert risks_of(code, "python").flags == {"deletes_recursively"}


@pytest.mark.parametrize(
    ("code", "writes"),
    [
        ("%%writefile x.py\n!rm", ("x.py",)),
        ("%%file -a 'a b'\nx", ("a b",)),
        ("%%time\n%%writefile x\ny", ("x",)),
        ("get_ipython().run_cell_magic('writefile', 'x', 'y')", ("x",)),
    ],
)
def test_files_that_magics_write(code: str, writes: tuple[str, ...]) -> None:
    found = risks_of(code, "python")
    assert (found.risks, found.command, found.writes) == (frozenset({R}), None, writes)


@pytest.mark.parametrize("code", ["%%writefile {x}\ny", "%%writefile $x\ny", "%%writefile\ny", "%%writefile -z a\ny"])
def test_a_file_that_is_known_only_when_it_runs_is_asked_about(code: str) -> None:
    found = risks_of(code, "python")
    assert found.writes == () and found.command is not None and found.command.endswith(ASKS)


def test_cells_of_other_languages() -> None:
    for language in ("bash", "sh"):
        assert risks_of("rm -rf x", language).risks == {R, S}
        assert risks_of("rm -rf x", language).command == "rm -rf x"
    assert risks_of("apt-get install x", "sh").risks == {R, S, I}
    assert risks_of("", "bash").risks == {R, S}
    assert risks_of("!ls", "R").risks == {R}
    # What was typed before, and grammars that are not ours.
    assert (risks_of("echo !rm", "bash").command or "").endswith(ASKS)
    assert risks_of("rm x", "fish").command == f"rm x\n{ASKS}"


@pytest.mark.long
def test_a_cell_made_to_take_long_does_not() -> None:
    began = time.process_time()
    words = ("pip ", "%%time\n", "x = ", "{a", "%pip a ", "\\\n", "rm ", "  ", "a, ", "'", "(", "[", "-", "not ")
    for word in (*words, "a.b.", "if 1:\n", "!x\n", "%time ", "x = !y\n", "`", "$(", "lambda:", "f'{", '"""', "?\n"):
        for sign in ("!", "", "%%bash\n"):
            risks_of(sign + word * 12_000, "python")
            risks_of(sign + word * 1_000, "python")
            risks_of(f"{sign}{word * 500}?", "python")
    for code in (
        " " * 40_000 + "?",
        "a" * 40_000 + "?",
        "!" + "1" * 9_000,
        "!x\n" * 500 + "y = 1\n" * 1000,
        "get_ipython()" + ".shell" * 9000 + ".system(x)",
        "get_ipython()" + ".__class__" * 4000 + ".system(x)",
        "type(" * 90 + "get_ipython()" + ")" * 90,
        "get_ipython() or " * 2500 + "x",
        "(x := " * 90 + "get_ipython()" + ")" * 90,
        "".join(f"x{at} = x{at + 1}\n" for at in range(3000)) + "x3000 = get_ipython()",
        "exec('1')\n" * 4000,
    ):
        risks_of(code, "python")
    assert time.process_time() - began < 60
