"""With which arguments a program that seems only to read does more: it writes a file, or runs another program.

A rule that allows ``git log`` or ``sort`` is meant for reading, so these are asked about all the same. One table, with the
manual each row comes from. Where what is dangerous can be listed it is; where a program has too many ways, what is
harmless is listed instead, and every other option is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ._program_languages import awk_danger, json_danger, sed_danger

__all__ = ["dangerous_argument"]


@dataclass(frozen=True)
class _Program:
    """What is known of one program's arguments, from the manual named in ``source``."""

    source: str
    short: str = ""
    """Dangerous letters, alone or among others."""
    long: tuple[str, ...] = ()
    """Dangerous names, whole or abbreviated; with ``*`` at the end all that begin so."""
    words: re.Pattern[str] | None = None
    """Whatever else is dangerous, where a word begins so."""
    harmless: re.Pattern[str] | None = None
    """The only options that are harmless."""
    judge: Callable[[Sequence[str]], str | None] | None = None
    """What looks at all words at once."""

    def danger(self, words: Sequence[str]) -> str | None:
        """The first argument with which it does more than it seems."""
        found = self.judge(words) if self.judge is not None else None
        return found or next((word for word in words[1:] if self._is_dangerous(word)), None)

    def _is_dangerous(self, word: str) -> bool:
        if self.words is not None and self.words.match(word):
            return True
        if self.harmless is not None:
            return word[:1] in ("-", "+") and not self.harmless.fullmatch(word)
        if word.startswith("--"):
            name = word[2:].partition("=")[0].lower()
            return bool(name) and any(_names(full, name) for full in self.long)
        return word.startswith("-") and bool(set(word[1:]) & set(self.short))


def _names(full: str, name: str) -> bool:
    return name.startswith(full[:-1]) if full.endswith("*") else full.startswith(name)


def _second_file(words: Sequence[str]) -> str | None:
    """The second file these programs are given is the one they write."""
    end = words.index("--") if "--" in words else len(words)
    files = [word for word in words[1:end] if word == "-" or not word.startswith(("-", "+"))]
    files += words[end + 1 :]
    return files[1] if len(files) > 1 else None


def _first_of_tar(words: Sequence[str]) -> str | None:
    """The first word is options even without a hyphen; an archive with a colon in its name is on another machine."""
    if len(words) > 1 and not words[1].startswith("-") and not re.fullmatch(r"[cxtvfzjJkaCOru]+", words[1]):
        return words[1]
    return next((word for word in words[1:] if ":" in word), None)


def _recursive_diff(words: Sequence[str]) -> str | None:
    """A comparison of folders follows the links in them, unless it is told not to."""
    follows = next((word for word in words[1:] if word == "--recursive" or re.match(r"-\w*r", word)), None)
    return None if "--no-dereference" in words else follows


def _unusual_for_curl(words: Sequence[str]) -> str | None:
    """An address of another kind than a page's; what stands behind an option that takes a value is none."""
    before = ""
    for word in words[1:]:
        takes_value = before in _CURL_VALUES
        before = word
        if takes_value and not word.startswith("@"):
            continue
        if not word.startswith("-") and not _PAGE.fullmatch(word):
            return word
    return None


def _all_but(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_CURL_VALUES: Final = frozenset(
    {"-m", "-H", "-A", "--max-time", "--connect-timeout", "--retry", "--header", "--user-agent"}
)
_PAGE: Final = re.compile(r"https?://[\w.:/?&=%+~,;@-]+", re.ASCII)
_GREP: Final = _Program("GNU grep manual", "R", ("dereference-recursive",))
_BINARY: Final = _Program("GNU binutils manual", "", ("plugin",), re.compile(r"@"))
_XZ: Final = _Program("xz(1)", "", ("files0",))
_APT: Final = _Program("apt-get(8), apt.conf(5)", "oc", ("option", "config-file"))
_JQ: Final = _Program("jq 1.7 manual: Modules", "L", ("library-path",), judge=json_danger)
_PIP: Final = _Program(
    "pip --help",
    "ou",
    (
        "outdated",
        "uptodate",
        "python",
        "log",
        "report",
        "cache-dir",
        "cert",
        "client-cert",
        "src",
        "target",
        "root",
        "prefix",
    ),
)
_SUMS: Final = _Program("GNU coreutils: md5sum", "c", ("check",))
_FD: Final = _Program("fd(1)", "xXL", ("follow", "exec-batch"))
_AWK: Final = _Program("gawk manual: Command-Line Options", judge=awk_danger)
_ZIP: Final = _Program(
    "zip(1), Info-ZIP 3.0",
    "TObmo",
    ("test", "unzip-command", "output-file", "temp-path", "move", "logfile-path"),
)

_PROGRAMS: Final[dict[str, _Program]] = {
    "find": _Program("GNU findutils: find", words=re.compile(r"-(?:L|H|follow|delete|ok|okdir|execdir|fprint\w*|fls|files0-from)(?:=|$)")),
    "fd": _FD,
    "fdfind": _FD,
    "rg": _Program("rg(1) 14", "zL", ("follow", "pre", "hostname-bin", "search-zip")),
    "ag": _Program("ag(1)", "f", ("follow", "pager")),
    "ack": _Program("ack(1)", "", ("follow", "pager", "ackrc")),
    "sort": _Program("GNU coreutils: sort", "oT", ("output", "compress-program", "temporary-directory", "files0-from")),
    "shuf": _Program("GNU coreutils: shuf", "o", ("output",)),
    "date": _Program("GNU coreutils: date", "sf", ("set", "file"), re.compile(r"\d{8}")),
    "split": _Program("GNU coreutils: split", "", ("filter",)),
    "diff": _Program("GNU diffutils: diff", "l", ("paginate", "output"), judge=_recursive_diff),
    "sdiff": _Program("GNU diffutils: sdiff", "o", ("output", "diff-program")),
    "diff3": _Program("GNU diffutils: diff3", "", ("diff-program",)),
    "tree": _Program("tree(1)", "oRl", ("output",)),
    "ls": _Program("GNU coreutils: ls", "L", ("dereference",)),
    "ptx": _Program("GNU coreutils: ptx", "G", ("traditional",)),
    "ss": _Program("ss(8)", "DKF", ("diag", "kill", "filter")),
    "journalctl": _Program("journalctl(1)", "", ("vacuum-size", "vacuum-time", "vacuum-files", "rotate", "flush", "cursor-file", "relinquish-var", "smart-relinquish-var", "update-catalog", "setup-keys")),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), _GREP),
    **dict.fromkeys(("nm", "objdump", "readelf", "size", "strings", "addr2line", "ar", "ranlib", "strip", "gcc", "g++", "cc", "ld", "javac"), _BINARY),
    **dict.fromkeys(("xz", "unxz", "xzcat", "lzcat", "lzma", "unlzma"), _XZ),
    **dict.fromkeys(("apt", "apt-get", "apt-cache", "apt-config", "aptitude"), _APT),
    "file": _Program("file(1)", "Cmf", ("compile", "magic-file", "files-from")),
    "uniq": _Program("GNU coreutils: uniq", judge=_second_file),
    "xxd": _Program("xxd(1)", "r", ("revert",), judge=_second_file),
    "pdftotext": _Program("pdftotext(1), poppler", judge=_second_file),
    "iconv": _Program("iconv(1)", "o", ("output",)),
    "yq": _Program("yq --help, of M. Farah and of A. Kislyuk", "is", ("inplace", "in-place", "split-exp-file"), judge=json_danger),
    "jq": _JQ,
    "gojq": _JQ,
    "jaq": _JQ,
    "wc": _Program("GNU coreutils: wc", "", ("files0-from",)),
    "du": _Program("GNU coreutils: du", "LDH", ("files0-from", "dereference")),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum"), _SUMS),
    "xmllint": _Program("xmllint(1)", words=re.compile(r"--?(?:output|o$|shell|noent|xinclude|loaddtd|path|schematron|catalogs|dropdtd|load-trace|encode|html.*)")),
    "exiftool": _Program("exiftool(1)", words=re.compile(r"-(?:if|config|p|o|w|W|execute|@|stay_open|d|api|geotag)|-.*=")),
    "nvidia-smi": _Program("nvidia-smi -h", "fprcelx", ("filename", "gpu-reset", "persistence-mode", "power-limit", "compute-mode", "ecc-config", "lock-*", "applications-clocks")),
    "docker": _Program("docker --help", "Hc", ("config", "host", "context", "tlskey")),
    "podman": _Program("podman --help", "", ("connection", "url", "hooks-dir", "runtime", "conmon", "module")),
    "kubectl": _Program("kubectl options", "s", ("kubeconfig", "server", "token", "profile-output", "cache-dir")),
    "oc": _Program("oc options", "s", ("kubeconfig", "server", "token", "profile-output", "cache-dir")),
    **dict.fromkeys(("pip", "pip3"), _PIP),
    "uv": _Program("uv help", "p", ("python", "config-file", "directory", "project", "output-file", "cache-dir")),
    "npm": _Program("npm help 7 config", "", ("script-shell", "shell", "userconfig", "globalconfig", "prefix", "editor", "viewer", "browser", "node-options", "cache")),
    "go": _Program("go help build", words=re.compile(r"--?(?:toolexec|exec|vettool|overlay|modfile|o|C|coverprofile|cpuprofile|memprofile|outputdir)(?:=|$)")),
    "cargo": _Program("cargo --help", "C", ("config", "manifest-path", "target-dir", "artifact-dir", "fix")),
    "mypy": _Program("mypy --help", "", ("python-executable", "junit-xml", "install-types", "html-report", "txt-report", "xml-report", "any-exprs-report", "cache-dir", "config-file")),
    "pylint": _Program("pylint --help", "", ("init-hook", "load-plugins", "output", "rcfile")),
    "flake8": _Program("flake8 --help", "", ("output-file", "tee", "config", "append-config")),
    "dot": _Program("dot(1), Graphviz", "oO"),
    "pandoc": _Program("pandoc(1)", "oFLd", ("output", "filter", "lua-filter", "defaults", "extract-media", "data-dir", "pdf-engine", "log")),
    "bat": _Program("bat(1)", long=("pager", "config-file", "diagnostic", "generate-config-file"), words=re.compile(r"cache$")),
    "ps": _Program("ps(1), procps: output of variables", words=re.compile(r"[a-zA-Z]*[eE][a-zA-Z]*$")),
    "printf": _Program("bash(1): printf", words=re.compile(r"-v|.*%[-+ #0-9.*']*[hlLjzt]*n")),
    "test": _Program("bash(1): conditional expressions", words=re.compile(r"-[vR]$")),
    "[": _Program("bash(1): conditional expressions", words=re.compile(r"-[vR]$")),
    "cd": _Program("bash(1): cd", words=re.compile(r"[-+]")),
    "pushd": _Program("bash(1): pushd", words=re.compile(r"[-+]")),
    "sed": _Program("GNU sed manual", judge=sed_danger),
    "awk": _AWK,
    "gawk": _AWK,
    "mawk": _AWK,
    "nawk": _AWK,
    "rsync": _Program("rsync(1)", "eT", ("rsh", "rsync-path", "log-file", "daemon", "config", "temp-dir", "partial-dir", "backup-dir", "write-batch", "only-write-batch", "files-from", "password-file", "copy-as", "remote-option")),
    "scp": _Program("scp(1), OpenSSH", "SFoJDP"),
    "zip": _ZIP,
    "unzip": _Program("unzip(1), Info-ZIP", ":"),
    "7z": _Program("7z: -si, -so, -p, -o", words=re.compile(r"-(?:o|w|i@|i!|x@)")),
    "cpio": _Program("GNU cpio manual", "", ("rsh-command", "to-stdout")),
    "wget": _Program(
        "GNU wget manual", "OoaPieBirm",
        ("output-document", "output-file", "append-output", "directory-prefix", "input-file", "execute", "use-askpass", "config", "post-file", "body-file", "save-cookies",
         "background", "rejected-log", "warc-*", "ca-certificate", "private-key", "load-cookies", "delete-after", "recursive", "mirror"),
    ),
    "ruff": _Program("ruff --help", "o", ("fix", "unsafe-fixes", "output-file", "add-noqa", "config")),
    "jupyter": _Program("jupyter nbconvert --help", long=("execute", "output-dir", "inplace", "to", "config", "post", "allow-errors"), words=re.compile(r"--\w+\.")),
    "openssl": _Program("openssl(1)", words=re.compile(r"-(?:out|engine|provider|keyout|writerand|config)")),
    "iptables": _Program("iptables(8)", "", ("modprobe",)),
    "dmesg": _Program("dmesg(1)", "CcDEn", ("clear", "read-clear", "console-off", "console-on", "console-level")),
    "hostname": _Program("hostname(1)", "F", ("file",), re.compile(r"[^-]")),
    "less": _Program("less(1)", harmless=_all_but(r"-[NRSFXriIgmMeE]+")),
    "more": _Program("more(1), util-linux", harmless=_all_but(r"-[dflpcsu]+")),
    "man": _Program("man(1)", harmless=_all_but(r"-[kfwa]"), words=re.compile(r".*/")),
    "tar": _Program(
        "GNU tar manual",
        harmless=_all_but(r"-?-?[cxtvfzjJkaCOru]+|--(?:create|extract|list|verbose|file|gzip|bzip2|xz|directory|exclude|keep-old-files|strip-components)(?:=.*)?"),
        judge=_first_of_tar,
    ),
    "curl": _Program(
        "curl(1)",
        harmless=_all_but(
            r"-[sSfLIvkiG46mHA]+|-[mHA].*|--(?:silent|show-error|fail|location|head|include|compressed|verbose|get|max-time|connect-timeout|retry|header|user-agent|insecure)(?:=.*)?"
        ),
        judge=_unusual_for_curl,
    ),
}  # fmt: skip


def dangerous_argument(name: str, words: Sequence[str]) -> str | None:
    """The first argument that makes a program do more than it seems."""
    program = _PROGRAMS.get(name)
    return None if program is None else program.danger(words)
