"""Programs that run the command behind them: which of their options are known, and where that command begins.

Each option that is not listed here may be one that runs or writes something else, so it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["ALWAYS_ASK", "TRANSPARENT", "WRAPPERS", "WrappedCommand", "inner_command"]


@dataclass(frozen=True)
class _Wrapper:
    """The options of one wrapper, from the manual named in ``source``."""

    source: str
    flags: str = ""
    values: str = ""
    """Short options with a value, which may be joined to them."""
    long_flags: frozenset[str] = frozenset()
    long_values: frozenset[str] = frozenset()
    operands: int = 0
    """Words of its own before the command."""
    takes_variables: bool = False
    needs_command: bool = True


@dataclass(frozen=True)
class WrappedCommand:
    """What a wrapper runs: the index of the command's first word, or why that cannot be told."""

    start: int = 0
    problem: str | None = None
    variables: tuple[str, ...] = ()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WRAPPERS: Final[dict[str, _Wrapper]] = {
    "command": _Wrapper("POSIX: command", "pvV", needs_command=False),
    "builtin": _Wrapper("bash(1): builtin"),
    "nohup": _Wrapper("GNU coreutils: nohup"),
    "nice": _Wrapper("GNU coreutils: nice", "0123456789", "n", frozenset(), _names("adjustment"), needs_command=False),
    "ionice": _Wrapper("ionice(1), util-linux", "t", "cn", _names("ignore"), _names("class classdata")),
    "timeout": _Wrapper(
        "GNU coreutils: timeout", "v", "sk", _names("foreground preserve-status verbose"), _names("signal kill-after"), operands=1
    ),
    "stdbuf": _Wrapper("GNU coreutils: stdbuf", "", "ioe", frozenset(), _names("input output error")),
    "setsid": _Wrapper("setsid(1), util-linux", "wf", "", _names("wait fork")),
    "time": _Wrapper("bash(1) and time(1)", "p"),
    # Not -i and -u: they take away what keeps programs from running a folder's configuration.
    "env": _Wrapper("GNU coreutils: env", "0", "", _names("null"), takes_variables=True, needs_command=False),
    "sudo": _Wrapper("sudo(8) 1.9", "nEH", "ug", _names("non-interactive preserve-env set-home"), _names("user group"), takes_variables=True),
    "doas": _Wrapper("doas(1)", "n", "u"),
    "xargs": _Wrapper(
        "GNU findutils: xargs", "0rt", "nPLs", _names("null no-run-if-empty verbose"), _names("max-args max-procs max-lines max-chars")
    ),
    "busybox": _Wrapper("busybox(1)"),
    "toybox": _Wrapper("toybox(1)"),
}  # fmt: skip

TRANSPARENT: Final = frozenset({"command", "nohup", "time", "nice", "ionice", "timeout", "stdbuf", "setsid", "builtin"})
"""They run the command behind them and change nothing about what it may do."""

ALWAYS_ASK: Final = frozenset(
    {"su", "runuser", "ssh", "sftp", "watch", "strace", "ltrace", "chroot", "unshare", "nsenter", "flock", "systemd-run", "caffeinate", "script", "expect", "entr", "trap",
     "parallel", "exec", "coproc", "gdb", "lldb", "vi", "vim", "nvim", "vimdiff", "view", "ex", "ed", "emacs", "emacsclient", "nano", "pico", "micro", "tmux", "screen", "at",
     "batch", "crontab", "dbus-send", "gdbus", "xdg-open", "open", "start-stop-daemon", "setarch", "socat", "nc", "ncat", "netcat", "telnet", "ftp", "lftp", "irb", "scapy",
     "pkexec", "run0", "machinectl", "firejail", "proxychains", "torsocks", "fakeroot", "dtrace", "perf", "valgrind", "rlwrap", "unbuffer", "setpriv", "capsh", "prlimit",
     "taskset", "chrt", "numactl", "cpulimit", "logsave", "run-parts", "fzf", "gnuplot", "sqlite3", "psql", "mysql", "mariadb", "duckdb", "mlr", "dc", "ip", "systemctl", "mount", "umount", "ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "start"}
)  # fmt: skip
"""They run what they are given in ways of their own, or wait for keys: a rule cannot say what they do."""

WRAPPERS: Final = frozenset(_WRAPPERS) | ALWAYS_ASK | {"docker", "podman", "kubectl", "find"}
"""Behind them any word may begin the command that runs: what is denied is looked for there too."""


def inner_command(name: str, words: Sequence[str]) -> WrappedCommand | None:
    """Where the command begins that the wrapper runs; None if the program is no wrapper. ``words`` are all of its words."""
    wrapper = _WRAPPERS.get(name)
    if wrapper is None:
        return None
    variables: list[str] = []
    index = 1
    while index < len(words):
        word = words[index]
        if word == "--":
            index += 1
            break
        if word.startswith("-"):
            taken = _option(wrapper, word)
            if taken is None:
                return WrappedCommand(problem=f"what {name} does with {word} cannot be told")
            index += taken
        elif wrapper.takes_variables and re.match(r"\w+\+?=", word):
            variables.append(word)
            index += 1
        else:
            break
    # Its own operands come behind its options, also behind --.
    index += wrapper.operands
    if index >= len(words) and (wrapper.needs_command or wrapper.operands):
        return WrappedCommand(problem=f"what {name} runs cannot be told")
    return WrappedCommand(min(index, len(words)), None, tuple(variables))


def _option(wrapper: _Wrapper, word: str) -> int | None:
    """How many words the option takes; None if it is not known."""
    if word.startswith("--"):
        name, joined, _ = word[2:].partition("=")
        if name in wrapper.long_flags and not joined:
            return 1
        return (1 if joined else 2) if name in wrapper.long_values else None
    if word == "-":
        # To env it is what -i is: it takes away what keeps programs from following a folder.
        return None
    for at, letter in enumerate(word[1:], start=1):
        if letter in wrapper.values:
            return 2 if at == len(word) - 1 else 1
        if letter not in wrapper.flags:
            return None
    return 1
