"""Secrets that have no prefix and no name: options of commands, login files, password hashes, and keys of Fernet."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from ...config import MaskedKind
from ._rule_candidates import LOOK_BACK, MaskingRule, SecretFound
from ._token_forms import followed_by
from ._values import is_template

__all__ = ["COMMAND_RULES"]

_KIND: Final[MaskedKind] = "assigned-secret"
_LABEL: Final = "SECRET"

# ---- options of commands

_VALUE: Final = r"(?P<quote>\\?[\"'])?(?P<value>(?(quote)(?:(?!(?P=quote))[^\n]){1,200}|[^\s\"'`;|&<>()\\]{1,200}))(?(quote)(?P=quote)?)"
_OPTION: Final = re.compile(
    rf"-(?:-user|-proxy-user|-auth|[upaUwP])(?P<gap>[\"'],[ \t]{{0,3}}|=|[ \t]{{0,4}})(?:{_VALUE})?"
)
_LINE_END: Final = re.compile(r"(?<!\\)\\?\n|[;|&]|\\n")
_USER_AND_PASSWORD: Final = re.compile(r"[^:\s]{1,100}:(?P<password>\S[^\n]{0,150})\Z")

_TAKES_USER: Final = frozenset({"curl", "http", "https", "xh", "siege", "lftp", "smbclient"})
_TAKES_PASSWORD: Final[dict[str, frozenset[str]]] = {
    "-p": frozenset({
        "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlpump", "mariadb",
        "mariadb-dump", "mycli", "sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "docker", "podman",
        "helm", "oc", "az", "nerdctl", "buildah", "skopeo",
    }),
    "-a": frozenset({"redis-cli"}),
    "-w": frozenset({"ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"}),
    "-P": frozenset({"sqlcmd", "bcp", "isql"}),
}  # fmt: skip
# For these the value must touch: what follows a blank is the database.
_TOUCHES: Final = re.compile(r"(?:mysql\w*|mariadb[\w-]*|mycli)\Z")
_LOGS_IN: Final = frozenset({"docker", "podman", "helm", "oc", "az", "nerdctl", "buildah", "skopeo"})
_PROGRAM: Final = re.compile(r"(?:^|[\s!\"'`$(;|&/\[,%]|\[[0-9;]{1,9}m)(?P<name>[A-Za-z][\w-]{1,20})(?=[\s\"',])")


def _option(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    if match["value"] is None:
        return None
    line = _LINE_END.split(text[max(0, match.start() - LOOK_BACK) : match.start()])[-1]
    programs = [found["name"] for found in _PROGRAM.finditer(line)]
    name = match[0][: match.start("gap") - match.start()]
    if name in {"-u", "-U", "-a", "--user", "--proxy-user", "--auth"} and not _TAKES_USER.isdisjoint(programs):
        return _password_of_user(text, match)
    program = next((each for each in programs if each in _TAKES_PASSWORD.get(name, ())), None)
    if program is None or is_template(match["value"]):
        return None
    if _TOUCHES.match(program) and match["gap"]:
        return None
    if program in _LOGS_IN and "login" not in line:
        return None
    if len(match["value"]) < 3:
        return None
    return SecretFound(match.start("value"), match.end("value"), _KIND, _LABEL)


def _password_of_user(text: str, match: re.Match[str]) -> SecretFound | None:
    found = _USER_AND_PASSWORD.match(match["value"])
    if found is None or is_template(found["password"]) or found["password"].startswith("//"):
        return None
    start = match.start("value") + found.start("password")
    return SecretFound(start, match.end("value"), _KIND, _LABEL)


# ---- login files

_BLANK: Final = r"(?:\s|\\+[nrt]){1,12}"
_NETRC: Final = re.compile(
    rf"login(?:{_BLANK}(?P<user>[^\s\\]{{1,100}})(?:{_BLANK}account{_BLANK}[^\s\\]{{1,100}})?"
    rf"(?:{_BLANK}password(?:{_BLANK}(?P<value>(?:[^\s\\\"]|\\(?![nrt])){{1,200}}))?)?)?"
)
_NETRC_REACH: Final = re.compile(r"login(?:[ \t\r\n]{1,12}[^ \t\r\n]{0,200}){0,5}")
_MACHINE: Final = re.compile(r"(?:machine(?:\s|\\+[nrt])+[^\s\\]+|default)(?:\s|\\+[nrt])+\Z")


def _names_machine(text: str, head: re.Match[str]) -> bool:
    return _MACHINE.search(text[max(0, head.start() - LOOK_BACK) : head.start()]) is not None


def _netrc(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    found = _NETRC.match(text, match.start(), match.end())
    if found is None or found["value"] is None or is_template(found["value"]):
        return None
    return SecretFound(found.start("value"), found.end("value"), _KIND, _LABEL)


# ---- hashes of passwords

_HASH_STARTS: Final = (
    "$1$",
    "$5$",
    "$6$",
    "$y$",
    "$gy$",
    "$7$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$apr1$",
    "$argon2",
)
_HASH: Final = re.compile(
    r"\$(?:(?:1|apr1)\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22}"
    r"|[56]\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$(?:[./A-Za-z0-9]{86}|[./A-Za-z0-9]{43})"
    r"|g?y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
    r"|7\$[./A-Za-z0-9]{11,97}\$[./A-Za-z0-9]{43}"
    r"|2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}"
    r"|argon2(?:id?|d)\$v=[0-9]{1,3}\$m=[0-9]{1,9},t=[0-9]{1,5},p=[0-9]{1,5}\$[A-Za-z0-9+/=_-]{8,90}\$[A-Za-z0-9+/=_-]{16,180})"
)
_HASH_REACH: Final = re.compile(r"\$[A-Za-z0-9]{1,8}\$?[./A-Za-z0-9$=,+_-]*")


def _hash(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    found = _HASH.match(text, match.start())
    if found is None or len(set(found[0][-20:])) < 5:
        return None
    return SecretFound(found.start(), found.end(), _KIND, _LABEL)


# ---- Fernet

_FERNET: Final = re.compile(r"Fernet\((?:[ \t\n]{0,20}[bB]?(?P<quote>\\?[\"'])(?P<value>[A-Za-z0-9_=-]*))?")


def _fernet(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    value = match["value"] or ""
    try:
        size = len(base64.urlsafe_b64decode(value))
    except (binascii.Error, ValueError):
        return None
    if size != 32 or len(set(value)) < 10:
        return None
    return SecretFound(match.start("value"), match.end("value"), _KIND, _LABEL)


COMMAND_RULES: Final = (
    MaskingRule(
        frozenset({_KIND}),
        ("-u", "-p", "-a", "-U", "-w", "-P", "--user", "--proxy-user", "--auth"),
        _OPTION,
        _option,
        behind=r"[ \t\"',]",
    ),
    MaskingRule(
        frozenset({_KIND}),
        ("login",),
        _NETRC_REACH,
        _netrc,
        head=(re.compile(""), _names_machine),
        ahead=r"(?=\s|\\|\Z)",
    ),
    MaskingRule(frozenset({_KIND}), _HASH_STARTS, _HASH_REACH, _hash, ahead=followed_by(r"./A-Za-z0-9$=,+_\-", 6)),
    MaskingRule(frozenset({_KIND}), ("Fernet(",), _FERNET, _fernet),
)
"""By which secrets in commands, in files of logins and of passwords, and in calls are found."""
