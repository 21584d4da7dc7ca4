"""What is known of programs: which run others, which options make them do more, what installs, where writing hurts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

__all__ = [
    "CHANGES_THE_SHELL",
    "SHELLS",
    "TRANSPARENT",
    "WRAPPERS",
    "inner_words",
    "installs",
    "reads_script",
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

CHANGES_THE_SHELL: Final = frozenset(
    {"alias", "unalias", "bind", "compgen", "complete", "compopt", "coproc", "declare", "disown", "enable", "exec", "export", "fc", "getopts", "hash", "history", "let", "local",
     "mapfile", "read", "readarray", "readonly", "set", "shopt", "source", ".", "trap", "typeset", "ulimit", "umask", "unset", "wait"}
)  # fmt: skip
"""Built into the shell: they change what later commands mean, or run what they are given as text."""

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "eval"})

_OPTIONS_WITH_VALUE: Final = {
    "nice": {"-n"}, "ionice": {"-c", "-n", "-p"}, "timeout": {"-s", "-k", "--signal", "--kill-after"}, "stdbuf": {"-i", "-o", "-e"}, "sudo": {"-u", "-g", "-h", "-p", "-C", "-D"},
    "doas": {"-u", "-C"}, "env": {"-u", "-C", "-S"}, "xargs": {"-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s"}, "watch": {"-n"}, "time": {"-f", "-o"},
}  # fmt: skip
_VALUES_BEFORE_COMMAND: Final = {"timeout": 1, "chroot": 1, "flock": 1}
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

_WRITERS: Final = frozenset(
    {"rm", "rmdir", "mv", "cp", "tee", "touch", "chmod", "chown", "chgrp", "dd", "ln", "truncate", "mkdir", "install", "rsync", "scp", "shred", "unlink", "tar", "unzip", "zip", "gzip", "gunzip", "curl", "wget",
     "mkfs", "mount", "umount", "patch", "split", "csplit", "sponge", "cd", "pushd"}
)  # fmt: skip
# In front of such a name there may be a folder, an option or a revision: `-f.env`, `HEAD:.env`, `@.env`.
_SENSITIVE: Final = re.compile(
    r"(?:^|[^\w.]|^-\w+)\.(?:ssh|aws|gnupg|kube|docker|netrc|pgpass|npmrc|pypirc|git-credentials|config/gcloud|azure|hdsp-agent|password-store|htpasswd)(?:/|$)"
    r"|\.env(?:\.(?!(?:example|sample|template)$)[\w.-]+)?$|(?:^|\W)id_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:shadow|sudoers|gshadow)|/proc/.*/(?:environ|mem|maps|cmdline|fd)"
    r"|(?:^|\W)credentials(?:\.\w+)?$|^/dev/(?:tcp|udp|sd|nvme|mem|kmem)|\.pem$|\.key$|\.kdbx$|/\.[a-z]*_history$|/\.[a-z]*sh_history$",
    re.IGNORECASE,
)
_SENSITIVE_SAMPLES: Final = (
    ".ssh", ".aws", ".gnupg", ".kube", ".docker", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".azure", ".hdsp-agent", ".password-store", ".env", ".env.local",
    ".bash_history", "id_rsa", "id_ed25519", "shadow", "environ",
)  # fmt: skip
"""Names a pattern is tried on. One that begins with a wildcard does not fit hidden files, and is asked about only where
nothing but such names is hidden: in a home, in ``/etc`` and in ``/proc``."""
_SECRET_PLACES: Final = re.compile(r"^(?:~|\$\{?HOME|/home/|/root|/Users/|/etc|/proc)")

_GIT_MAKES: Final = frozenset({"worktree", "clone", "init", "mv", "rm", "bundle", "format-patch"})

_INSTALLERS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:\S*/)?(?:pip|pip3|pip\d\.\d+|pipx|uv pip|uv|uvx|conda|mamba|micromamba|poetry|pdm|rye|pixi|easy_install)\b.* ?(?:\b(?:install|add|sync|update|upgrade|create|remove|uninstall|run --with|tool)\b)",
        r"(?:\S*/)?(?:python|python3|python\d\.\d+|py)\b.* -\w*m ?(?:pip|pipx|ensurepip|conda)\b.*\b(?:install|uninstall|download|wheel)?\b", r"(?:\S*/)?(?:uvx|pipx run|npx|bunx|pnpx|pnpm dlx|yarn dlx)\b.*",
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


def reads_script(name: str, words: Sequence[str]) -> bool:
    """Whether a shell runs what it is given as input."""
    if name not in SHELLS or name == "eval":
        return False
    operands = [word for word in words[1:] if not word.startswith("-")]
    return not operands or operands[0].startswith("/dev/") or any(re.fullmatch(r"-\w*s\w*", word) for word in words[1:])


def installs(words: Sequence[str]) -> bool:
    """Whether the command installs, changes or removes packages, or runs one it fetches for that."""
    line = " ".join(words)
    return any(pattern.match(line) for pattern in _INSTALLERS)


def sensitive(path: str, *, is_pattern: bool = False) -> bool:
    """Whether keys or passwords live there, or may where a pattern of the shell leads."""
    tidy = re.sub(r"/(?:\.?/)+", "/", path)
    if _SENSITIVE.search(tidy) is not None:
        return True
    return is_pattern and any(_may_be_sensitive(part, tidy) for part in tidy.split("/"))


def _may_be_sensitive(part: str, path: str) -> bool:
    if not re.search(r"[*?\[]", part):
        return False
    in_secret_place = _SECRET_PLACES.match(path) is not None
    return any(
        fnmatchcase(sample, part)
        for sample in _SENSITIVE_SAMPLES
        if (part.startswith(".") if sample.startswith(".") else in_secret_place or not part.startswith("*"))
    )


def writes_to(name: str, words: Sequence[str]) -> Iterator[str]:
    """What look like paths among the arguments of a program that changes files."""
    if name == "git" and _GIT_MAKES.intersection(words[1:3]):
        yield from (word for word in words[1:] if not word.startswith("-"))
    if name in _WRITERS:
        yield from (word.partition("=")[2] or word for word in words[1:] if not word.startswith("-") or "=" in word)
