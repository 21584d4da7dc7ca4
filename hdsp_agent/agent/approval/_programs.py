"""What is known of programs: which run others, which options make them do more, what installs, where writing hurts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = [
    "SHELLS",
    "TRANSPARENT",
    "WRAPPERS",
    "dangerous_option",
    "inner_words",
    "installs",
    "script_of",
    "sensitive",
    "writes_to",
]

TRANSPARENT: Final = frozenset({"command", "nohup", "time", "nice", "ionice", "timeout", "stdbuf", "setsid", "builtin"})
"""They run the command behind them and change nothing about what it may do."""

WRAPPERS: Final = TRANSPARENT | {
    "sudo", "doas", "su", "env", "xargs", "parallel", "busybox", "toybox", "chroot", "watch", "strace", "ltrace", "exec", "coproc", "unshare", "nsenter", "flock",
    "ssh", "docker", "podman", "kubectl", "runuser", "systemd-run", "caffeinate", "find", "script", "expect", "entr", "trap",
}  # fmt: skip
"""They run what stands behind them in some way."""

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "eval"})

_OPTIONS_WITH_VALUE: Final = {
    "nice": {"-n"}, "ionice": {"-c", "-n", "-p"}, "timeout": {"-s", "-k", "--signal", "--kill-after"}, "stdbuf": {"-i", "-o", "-e"}, "sudo": {"-u", "-g", "-h", "-p", "-C", "-D"},
    "doas": {"-u", "-C"}, "env": {"-u", "-C", "-S"}, "xargs": {"-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s"}, "watch": {"-n"}, "time": {"-f", "-o"},
}  # fmt: skip
_VALUES_BEFORE_COMMAND: Final = {"timeout": 1, "chroot": 1, "flock": 1}
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

# Options with which a program that only reads does more than that.
_AWK: Final = r".*(?:system|getline|\||>).*|-i$|-f$|--(?:file|include|load)"
_FD: Final = r"-x$|-X$|--exec"
_DANGEROUS_OPTIONS: Final[dict[str, re.Pattern[str]]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "git": r"--output(?:=|$)|--ext-diff$|--textconv$|--exec|--upload-pack|--receive-pack|-c$|--config-env|--open-files-in-pager|-O|--git-dir|--work-tree|-C$",
        "find": r"-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls)$",
        "fd": _FD,
        "fdfind": _FD,
        "rg": r"--pre(?:=|$)|--hostname-bin|--search-zip|-z$",
        "sort": r"-o|--output|--compress-program",
        "tar": r"--to-command|--checkpoint-action|-I|--use-compress-program|--rsh-command",
        "sed": r"-i|--in-place|-[nErsz]*i|(?:.*[;}\d$/ ])?[we] ?\S*$|.*/[gip\d]*[ew]\b",
        "awk": _AWK,
        "gawk": _AWK,
        "mawk": _AWK,
        "curl": r"-[a-zA-Z]*[oOTK]|--(?:output|remote-name|upload-file|config)",
        "man": r"-P|--pager|-H",
        "less": r"\+|-[oO]",
        "more": r"\+",
        "env": r"-S|--split-string",
        "date": r"-s|--set",
        "tree": r"-o$",
        "xxd": r"-r",
        "yq": r"-i|--inplace",
    }.items()
}  # fmt: skip

_WRITERS: Final = frozenset(
    {"rm", "rmdir", "mv", "cp", "tee", "touch", "chmod", "chown", "chgrp", "dd", "ln", "truncate", "mkdir", "install", "rsync", "scp", "shred", "unlink", "tar", "unzip", "zip", "gzip", "gunzip", "curl", "wget",
     "mkfs", "mount", "umount", "patch", "split", "csplit", "sponge", "cd", "pushd", "sed"}
)  # fmt: skip
_SENSITIVE: Final = re.compile(
    r"(?:^|[/~])\.(?:ssh|aws|gnupg|kube|docker|netrc|pgpass|npmrc|pypirc|git-credentials|config/gcloud|azure|hdsp-agent|password-store)(?:/|$)"
    r"|(?:^|/)\.env(?:\.[\w.-]+)?$|(?:^|/)id_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:shadow|sudoers|gshadow)|/proc/[^/]+/(?:environ|mem|maps|cmdline|fd)"
    r"|(?:^|/)credentials(?:\.\w+)?$|^/dev/(?:tcp|udp|sd|nvme|mem|kmem)|\.pem$|\.key$|\.kdbx$|/\.bash_history$|/\.[a-z]*sh_history$"
)

_INSTALLERS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:\S*/)?(?:pip|pip3|pip\d\.\d+|pipx|uv pip|uv|uvx|conda|mamba|micromamba|poetry|pdm|rye|pixi|easy_install)\b.* ?(?:\b(?:install|add|sync|update|upgrade|create|remove|uninstall|run --with|tool)\b)",
        r"(?:\S*/)?(?:python|python3|python\d\.\d+|py)\b.* -m (?:pip|pipx|ensurepip|conda)\b.*\b(?:install|uninstall|download|wheel)?\b", r"(?:\S*/)?(?:uvx|pipx run|npx|bunx|pnpx|pnpm dlx|yarn dlx)\b.*",
        r"(?:npm|pnpm|yarn|jlpm|bun|cnpm)(?: -\S+)* (?:i|install|ci|add|update|upgrade|up|remove|uninstall|link|exec|dlx|create|init)\b.*", r"(?:yarn|jlpm|bun)$",
        r"(?:apt|apt-get|aptitude|dnf|yum|apk|pacman|zypper|brew|snap|flatpak|port|choco|winget|nix|nix-env|guix|dpkg|rpm)\b.*(?:\b(?:install|add|remove|purge|upgrade|update|dist-upgrade|-S\w*|-i|-U|-e)\b|-S|-i|-U)",
        r"(?:cargo|go|gem|luarocks|cpan|cpanm|opam|cabal|stack|dotnet|composer|bundle|julia|R|Rscript)\b.*\b(?:install|get|add|update|require|Pkg\.add|install\.packages)\b.*", r"jupyter (?:labextension|nbextension|serverextension) (?:install|uninstall)\b.*",
    )
)  # fmt: skip


def inner_words(name: str, words: Sequence[str]) -> Sequence[str] | None:
    """The command a wrapper runs, if it can be told; ``words`` are all of its words."""
    if name == "find":
        start = next((index for index, word in enumerate(words) if word in _FIND_RUNS), None)
        return None if start is None else words[start + 1 :]
    if name not in WRAPPERS:
        return None
    with_value = _OPTIONS_WITH_VALUE.get(name, set())
    to_skip = _VALUES_BEFORE_COMMAND.get(name, 0)
    index = 1
    while index < len(words):
        word = words[index]
        if word == "--":
            return words[index + 1 :]
        if word.startswith("-"):
            index += 2 if word in with_value else 1
        elif name in ("env", "sudo", "doas") and re.match(r"\w+=", word):
            index += 1
        elif to_skip:
            to_skip -= 1
            index += 1
        else:
            return words[index:]
    return ()


def script_of(name: str, words: Sequence[str]) -> str | None:
    """The script text that a shell is given to run."""
    if name == "eval":
        return " ".join(words[1:])
    if name not in SHELLS:
        return None
    for index, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word):
            return words[index + 1] if index + 1 < len(words) else ""
    return None


def dangerous_option(name: str, words: Sequence[str]) -> str | None:
    """The first argument that makes a program do more than it seems."""
    pattern = _DANGEROUS_OPTIONS.get(name)
    if pattern is None:
        return None
    return next((word for word in words[1:] if pattern.match(word)), None)


def installs(words: Sequence[str]) -> bool:
    """Whether the command installs, changes or removes packages, or runs one it fetches for that."""
    line = " ".join(words)
    return any(pattern.match(line) for pattern in _INSTALLERS)


def sensitive(path: str) -> bool:
    """Whether keys or passwords live there."""
    return _SENSITIVE.search(path) is not None


def writes_to(name: str, words: Sequence[str]) -> Iterator[str]:
    """What look like paths among the arguments of a program that changes files."""
    if name in _WRITERS:
        yield from (word.partition("=")[2] or word for word in words[1:] if not word.startswith("-") or "=" in word)
