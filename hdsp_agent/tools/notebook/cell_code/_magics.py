"""What IPython's magics do, as far as it matters for approvals. One that is in none of these tables is asked about.

Sources: IPython 7 to 9, ``IPython/core/magics`` and ``core/alias.py``; ipykernel, ``zmqshell.py``.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "GIVES_TO_SHELL",
    "HARMLESS_ALONE",
    "HARMLESS_CELL",
    "HARMLESS_CONFIG",
    "HARMLESS_LINE",
    "HARMLESS_VARIABLES",
    "KNOWN_LINE",
    "PACKAGES",
    "RUNS_CODE",
    "SCRIPT_PROGRAMS",
    "SETS_VARIABLES",
    "SHELL_ALIASES",
    "WRITES_CELL",
]

HARMLESS_LINE: Final = frozenset(
    {"aimport", "autoawait", "automagic", "autoreload", "clear", "colors", "dhist", "dirs", "doctest_mode", "gui", "load_ext", "lsmagic", "magic", "matplotlib", "page",
     "pdb", "pdef", "pdoc", "pinfo", "pinfo2", "pprint", "precision", "psearch", "psource", "pwd", "pylab", "quickref", "reload_ext", "reset", "reset_selective", "tb",
     "unalias", "unload_ext", "who", "who_ls", "whos", "xdel", "xmode"}
)  # fmt: skip
"""They show something, or do what Python does in the kernel: importing, deleting variables, setting up plots."""
HARMLESS_ALONE: Final = frozenset({"alias", "bookmark", "load", "macro", "run", "save", "store"})
"""Without a word behind them they show something, or complain."""
HARMLESS_CELL: Final = frozenset({"HTML", "SVG", "html", "javascript", "js", "latex", "markdown", "svg"})
"""They show their text."""
SHELL_ALIASES: Final = frozenset(
    {"cat", "cp", "ldir", "lf", "lk", "ll", "ls", "lx", "man", "mkdir", "mv", "rm", "rmdir"}
)
"""The aliases that IPython defines itself, and what the kernel does by such a command."""
GIVES_TO_SHELL: Final = frozenset({"sx", "system", "!"})
SETS_VARIABLES: Final = frozenset({"env", "set_env"})
HARMLESS_VARIABLES: Final = frozenset(
    {"CUDA_VISIBLE_DEVICES", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS", "TF_CPP_MIN_LOG_LEVEL", "TOKENIZERS_PARALLELISM", "TZ"}
)  # fmt: skip
"""Variables that no program takes for a command, a file or a place to load code from."""
HARMLESS_CONFIG: Final = (
    "Completer.", "IPCompleter.", "InlineBackend.", "InteractiveShell.ast_node_interactivity", "InteractiveShell.xmode", "PlainTextFormatter.",
)  # fmt: skip
PACKAGES: Final = frozenset({"conda", "mamba", "micromamba", "pip", "uv"})
WRITES_CELL: Final = frozenset({"file", "writefile"})
SCRIPT_PROGRAMS: Final = frozenset(
    {"bash", "cmd", "perl", "pypy", "python", "python2", "python3", "ruby", "script", "sh", "zsh"}
)
RUNS_CODE: Final = {"capture": "", "debug": "b", "prun": "DlTs", "px": "t", "time": "", "timeit": "nprv"}
"""Magics that run Python, which may hold magics in turn; and their options that take a value."""
KNOWN_LINE: Final = (
    HARMLESS_LINE
    | SHELL_ALIASES
    | (GIVES_TO_SHELL - {"!"})
    | SETS_VARIABLES
    | PACKAGES
    | frozenset(RUNS_CODE)
    | HARMLESS_ALONE
    | {"alias_magic", "autocall", "cd", "code_wrap", "config", "ed", "edit", "hist", "history", "killbgscripts", "less", "loadpy", "logoff", "logon", "logstart", "logstate",
       "logstop", "more", "notebook", "pastebin", "pfile", "popd", "pushd", "pycat", "qtconsole", "recall", "rehashx", "rep", "rerun", "sc", "subshell"}
)  # fmt: skip
"""Names that IPython takes for a magic in a cell of one line, even without a sign in front."""
