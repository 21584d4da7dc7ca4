"""What is known of programs: which run texts, what installs, where keys may be, which files a program changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...tools import holds_credentials

__all__ = [
    "CHANGES_THE_SHELL",
    "ONLY_PRINT",
    "SHELLS",
    "changes_files",
    "container_looks",
    "installs",
    "is_container_tool",
    "may_hold_keys",
    "reaches_network",
    "runs_text",
    "script_of",
    "writes_to",
]

CHANGES_THE_SHELL: Final = frozenset(
    {"alias", "unalias", "bind", "compgen", "complete", "compopt", "coproc", "declare", "disown", "enable", "exec", "export", "fc", "getopts", "hash", "history", "let", "local",
     "mapfile", "read", "readarray", "readonly", "set", "shopt", "source", ".", "trap", "typeset", "ulimit", "umask", "unset", "wait"}
)  # fmt: skip
"""Built into the shell: they change what later commands mean, or run what they are given as text."""

ONLY_PRINT: Final = frozenset({"echo", "printf", "true", "false", "sleep", "seq", "which", ":"})
"""Programs that open none of the files their words may name."""

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "eval"})

_WRITERS: Final = frozenset(
    {"rm", "rmdir", "mv", "cp", "tee", "touch", "chmod", "chown", "chgrp", "dd", "ln", "truncate", "mkdir", "install", "rsync", "scp", "shred", "unlink", "tar", "unzip", "zip", "gzip", "gunzip", "curl", "wget",
     "mkfs", "mount", "umount", "patch", "split", "csplit", "sponge", "cd", "pushd"}
)  # fmt: skip
# In front of such a name there may be a folder, an option or a revision: `-f.env`, `HEAD:.env`, `@.env`.
_SENSITIVE: Final = re.compile(
    r"(?:^|[^\w.]|^-\w+)\.(?:ssh|aws|gnupg|kube|docker|netrc|pgpass|npmrc|pypirc|git-credentials|config/gcloud|azure|hdsp-agent|password-store|htpasswd)(?:/|$)"
    r"|\.env(?:\.(?!(?:example|sample|template)$)[\w.-]+)?$|(?:^|\W)id_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:shadow|sudoers|gshadow)|/proc/.*/(?:environ|mem|maps|cmdline|fd)"
    r"|(?:^|\W)credentials(?:\.\w+)?$|^/dev/(?:tcp|udp|sd|nvme|mem|kmem)",
    re.IGNORECASE,
)
_SIGNS: Final = re.compile(r"[/=:@,]")
_CONTAINER_TOOLS: Final = frozenset({"docker", "podman", "kubectl", "nerdctl", "oc"})
_CONTAINER_LOOKS: Final = frozenset(
    {"ps", "images", "logs", "inspect", "version", "info", "stats", "top", "port", "history", "diff", "events", "get", "describe", "explain", "cluster-info", "api-resources"}
)  # fmt: skip
_NETWORK: Final = frozenset(
    {"curl", "wget", "ssh", "sftp", "ftp", "lftp", "telnet", "nc", "ncat", "netcat", "socat", "ping", "dig", "nslookup", "host", "whois", "traceroute", "aria2c", "http", "https", "xh",
     "gh", "glab", "aws", "gcloud", "gsutil", "az", "s3cmd", "rclone", "kaggle", "huggingface-cli", "hf", "mail", "sendmail"}
)  # fmt: skip
_GIT_NETWORK: Final = frozenset({"push", "pull", "fetch", "clone", "ls-remote", "submodule"})
_TAKES_TEXT: Final = (
    (r"(?:python|pypy)[\d.]*", r"-\w*c"),
    (r"node|deno|bun|ruby|perl|lua|julia", r"-\w*[eEp]|--eval|--print"),
    (r"php", r"-\w*r"),
    (r"R|Rscript", r"-e"),
)
_GLUED_FOLDER: Final = re.compile(r"-[a-zA-Z]*[tdCoOP](.+)")
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


def installs(words: Sequence[str]) -> bool:
    """Whether the command installs, changes or removes packages, or runs one it fetches for that."""
    line = " ".join(words)
    return any(pattern.match(line) for pattern in _INSTALLERS)


def may_hold_keys(path: str) -> bool:
    """Whether keys or passwords live there."""
    return _SENSITIVE.search(re.sub(r"/(?:\.?/)+", "/", path)) is not None or holds_credentials(_SIGNS.split(path))


def changes_files(name: str) -> bool:
    """Whether it changes the files it is given."""
    return name in _WRITERS


def writes_to(name: str, words: Sequence[str]) -> Iterator[str]:
    """What look like paths among the arguments of a program that changes files."""
    if name == "git" and _GIT_MAKES.intersection(words[1:3]):
        yield from (word for word in words[1:] if not word.startswith("-"))
    if name not in _WRITERS:
        return
    for word in words[1:]:
        if not word.startswith("-") or "=" in word:
            yield word.partition("=")[2] or word
        elif (glued := _GLUED_FOLDER.fullmatch(word)) is not None:
            yield glued[1]


def is_container_tool(name: str) -> bool:
    """Whether it runs programs elsewhere by most of its commands."""
    return name in _CONTAINER_TOOLS


def container_looks(words: Sequence[str]) -> bool:
    """Whether the command of a container tool only looks."""
    return len(words) > 1 and words[1] in _CONTAINER_LOOKS


def reaches_network(name: str, words: Sequence[str]) -> bool:
    """Whether it plainly speaks to other machines."""
    if name == "git":
        return any(word in _GIT_NETWORK for word in words[1:4])
    if name in ("rsync", "scp"):
        return any(re.match(r"[^/]*:", word) for word in words[1:])
    return name in _NETWORK


def runs_text(name: str, words: Sequence[str]) -> bool:
    """Whether it is given a program as text."""
    if name in SHELLS:
        return script_of(name, words) is not None
    option = next((option for pattern, option in _TAKES_TEXT if re.fullmatch(pattern, name)), None)
    return option is not None and any(re.match(option, word) for word in words[1:])
