"""Values assigned to telling names: in environment files, JSON, YAML, source code, commands and addresses."""

from __future__ import annotations

import re
from typing import Final

from ._rule_candidates import LOOK_BACK, MaskingRule, SecretFound
from ._tokens import token_at
from ._values import is_opaque, is_password, is_placeholder, is_random, name_kind

__all__ = ["AFTER_NAME", "ASSIGNMENT", "ASSIGNMENT_RULE", "NAME_HEAD", "in_all_cases", "value_group"]


def _quoted(number: int) -> str:
    return (
        rf"(?:(?:pydantic\.)?Secret(?:Str|Bytes)?\()?[rRbBuUfF]{{0,2}}"
        rf"(?P<quote{number}>\\{{1,4}}[\"']|\"\"\"|'''|[\"'`])"
        rf"(?P<value{number}>(?:(?!(?P=quote{number}))(?:\\[^\n]|[^\\\n]))*)(?P<close{number}>(?P=quote{number}))?"
    )


_SCHEME: Final = r"(?:(?:Token|token|ApiKey|Bot|Key)[ \t]+)?"
ASSIGNMENT: Final = re.compile(
    r"(?P<rest>[A-Za-z0-9_.-]{0,48})(?P<after>(?:\\{0,4}[\"'`])?\]?\)?)[ \t]{0,20}"
    r"(?:(?P<operator>=>|:=|==?|!=|:|,|>)(?P<gap>[ \t]{0,20})"
    rf"(?:{_quoted(1)}"
    rf"|{_SCHEME}(?P<bare>[A-Za-z0-9_\-.~+/=!@#%^*:?$]{{1,512}})"
    rf"(?P<annotated>[ \t]{{0,3}}(?:[\[|][\w\[\], |.\t]{{0,60}})?(?:=[ \t]{{0,9}}(?:{_quoted(2)})?)?))?"
    rf"|(?<=[ \t])(?:{_quoted(3)}"
    r"|(?P<argument>[A-Za-z0-9_~+/=!@#%^*:?$.][A-Za-z0-9_\-.~+/=!@#%^*:?$]*)))?"
)
NAME_HEAD: Final = re.compile(r"(?P<rest>[A-Za-z0-9_.-]{0,48})")
AFTER_NAME: Final = frozenset("\"'`\\])=:,>! \t")
_NAME_BEFORE: Final = re.compile(r"[A-Za-z0-9_.-]{0,24}")
_UPPER_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*")
# What follows is the value of another name: token=password=…
_NESTED: Final = re.compile(r"(?!base64)[A-Za-z_]{2,20}[=:]")
_TYPE_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")
_SETS_BEFORE: Final = re.compile(r"(?:%(?:set_)?env|\bsetenv|\bENV)[ \t]+\Z")
_AWS_NAME: Final = re.compile(r"(?i:aws|secret_?access)")
_AWS_SECRET: Final = re.compile(r"[A-Za-z0-9/+=]{40}")
_KAGGLE_BEFORE: Final = re.compile(r"""["']username\\?["']\s*:\s*\\?["'][^"'\n]{1,60}["']\s*,\s*\\?["']\Z""")
_KAGGLE_KEY: Final = re.compile(r"[0-9a-f]{32}")


def _assigned(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    group = value_group(match)
    if group is None or not match[group]:
        return None
    start, value = match.start(group), match[group]
    if group.startswith("value") and (scheme := re.match(_SCHEME, value)):
        start, value = start + scheme.end(), value[scheme.end() :]
    if group == "bare" and _NESTED.match(value):
        return None
    known = token_at(text, start)
    if known is not None or text.startswith("-----BEGIN", start):
        return known
    name = _full_name(text, match)
    aws = _AWS_SECRET.fullmatch(value) is not None and _AWS_NAME.search(name) is not None
    if not (aws and is_random(value, 5)) and not _is_secret(text, match, group, name, value):
        return None
    if group in {"bare", "argument"} and match["operator"] not in {"=", ">"}:
        value = value.rstrip(".:?!")
    if aws:
        return SecretFound(start, start + len(value), "aws-key", "AWS_KEY")
    return SecretFound(start, start + len(value), "assigned-secret", "SECRET")


def _full_name(text: str, match: re.Match[str]) -> str:
    before = _NAME_BEFORE.match(text[max(0, match.start() - 24) : match.start()][::-1])
    name = ("" if before is None else before[0][::-1]) + match[0][: match.end("rest") - match.start()]
    start = match.end("rest") - len(name)
    # A new line in JSON: its letter is not the name's first.
    return name[1:] if start > 0 and text[start - 1] == "\\" and name[:1] in {"n", "r", "t"} else name


def _names_secret(text: str, head: re.Match[str]) -> bool:
    if text[head.end() : head.end() + 1] not in AFTER_NAME:
        return False
    name = _full_name(text, head)
    return name_kind(name) is not None or (name == "key" and _follows_kaggle_name(text, head.start()))


def _follows_kaggle_name(text: str, position: int) -> bool:
    return _KAGGLE_BEFORE.search(text[max(0, position - LOOK_BACK) : position]) is not None


def value_group(match: re.Match[str]) -> str | None:
    """The group of an assignment that holds its value."""
    if match["bare"] is not None and match["operator"] == ":" and match["annotated"].strip():
        # "name: type = …" assigns what is quoted after the type, or an expression.
        return "value2" if match["value2"] is not None and _TYPE_NAME.fullmatch(match["bare"]) else None
    return next((group for group in ("value1", "value3", "bare", "argument") if match[group] is not None), None)


def _is_secret(text: str, match: re.Match[str], group: str, name: str, value: str) -> bool:
    operator = match["operator"]
    kind = name_kind(name)
    if kind is None:
        return _KAGGLE_KEY.fullmatch(value) is not None and _follows_kaggle_name(text, match.start())
    if is_placeholder(value) or value.lower() == name.lower():
        return False
    if group in {"argument", "value3"} and not _takes_argument(text, match, name):
        return False
    if operator == "," and (group != "value1" or match["after"][-1:] not in {'"', "'"}):
        return False
    if group.startswith("value"):
        return is_opaque(value) if operator in {",", ">"} or kind == "token" else is_password(value, quoted=True)
    if text[match.end(group) : match.end(group) + 1] in {"(", "[", "{"}:
        return False
    if group == "argument":
        return is_opaque(value) or (kind == "password" and is_password(value, quoted=False))
    return _is_bare_secret(text, match, name, kind)


def _takes_argument(text: str, match: re.Match[str], name: str) -> bool:
    """Whether a value follows the name without an operator, as in ``--token x`` and ``%env TOKEN x``."""
    start = match.end("rest") - len(name)
    return name.startswith("--") or _SETS_BEFORE.search(text[max(0, start - 16) : start]) is not None


def _is_bare_secret(text: str, match: re.Match[str], name: str, kind: str) -> bool:
    value, operator, gap = match["bare"], match["operator"], match["gap"]
    if operator in {",", "!=", "=="}:
        return False
    if operator == ">":
        return text.startswith("</", match.end("bare")) and is_password(value, quoted=True)
    if operator == "=" and not gap and _UPPER_NAME.fullmatch(name) and not match["after"]:
        # The form of an environment file or a shell: the value is a literal, whatever it looks like.
        plain = len(value) >= 5 and not value.startswith(("/", "~", ".")) and "." not in value.strip(".")
        return is_opaque(value) or (kind == "password" and (plain or is_password(value, quoted=True)))
    if operator == ":" and not gap and not match["after"] and len(value) < 16:
        return False
    value = value.rstrip(".:?!")
    letters = any(map(str.isalpha, value))
    return letters and (is_opaque(value) or (kind == "password" and is_password(value, quoted=False)))


def in_all_cases(*words: str) -> tuple[str, ...]:
    """The words as they are, capitalised, and in capital letters."""
    return tuple(case for word in words for case in (word, word.title(), word.upper()))


ASSIGNMENT_RULE: Final = MaskingRule(
    frozenset({"assigned-secret", "aws-key"}),
    in_all_cases("pass", "pwd", "token", "secret", "key", "credential", "authorization"),
    ASSIGNMENT,
    _assigned,
    limit=1024,
    head=(NAME_HEAD, _names_secret),
)
