"""Private keys, headers, addresses and e-mail addresses, and with those all the rules of masking."""

from __future__ import annotations

import re
from typing import Final

from ._assignments import ASSIGNMENT_RULE, in_all_cases
from ._command_secrets import COMMAND_RULES
from ._rule_candidates import LOOK_BACK, MaskingRule, SecretFound
from ._service_secrets import SERVICE_RULE
from ._token_forms import TOKEN_HEAD
from ._tokens import TOKEN_RULES, decoded_base64, token_at
from ._values import is_opaque, is_placeholder, is_template
from ._vendor_tokens import VENDOR_RULES

__all__ = ["RULES"]

# ---- private keys

_BETWEEN: Final = r"""(?:\s|\\+[nrt]|\\|["'>|#,*]|-(?!-)){1,24}"""
# As a tool shows a file: the lines of the key have numbers.
_LINE_NUMBER: Final = r"(?:[0-9]{1,7}(?:[ \t]{0,2}[|:]|\t|\\+t|-(?!-))[ \t]{0,4})?"
_GAP: Final = _BETWEEN + _LINE_NUMBER
_GAPS: Final = re.compile(_GAP)
_PEM: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_GAP}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{0,100}}){{0,6}}"
    rf"(?P<body>(?:{_GAP}[A-Za-z0-9+/=]{{16,}})*)"
    rf"(?P<last>(?:{_GAP}(?![0-9]{{1,7}}:)[A-Za-z0-9+/=]{{1,15}}){{0,2}})"
    rf"(?P<end>(?:{_GAP})?-{{5,6}}END [A-Z0-9 ]{{0,40}}-----)?"
)


def _private_key(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    if len(set(match["body"])) < 12:
        return None
    end = match.end()
    if match["end"] is None and not re.search(r"[0-9+/=]", _GAPS.sub(" ", match["last"])):
        # Cut off: what follows the last full line may be ordinary words.
        end = match.end("body")
    return SecretFound(match.start(), end, "private-key", "PRIVATE_KEY")


# ---- headers


def _bearer(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    token = match["token"]
    if not token or is_placeholder(token):
        return None
    known = token_at(text, match.start("token"))
    if known is not None:
        return known
    if len(token) < 16 or not (is_opaque(token) or (any(map(str.isdigit, token)) and "/" not in token)):
        return None
    return SecretFound(match.start("token"), match.end("token"), "bearer-token", "BEARER_TOKEN")


def _basic(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    token = match["token"] or ""
    decoded = decoded_base64(token)
    if len(token) < 8 or decoded is None or b":" not in decoded:
        return None
    try:
        printable = decoded.decode().isprintable()
    except UnicodeDecodeError:
        return None
    if not printable:
        return None
    return SecretFound(match.start("token"), match.end("token"), "bearer-token", "BASIC_AUTH")


# ---- addresses

# With what comes after the password: an @ there would make all before it part of the password.
_USERINFO: Final = re.compile(
    r"""://(?P<user>[^\s:/@"'`<>\\]{0,128})"""
    r"""(?::(?P<password>(?:[^\s/"'`<>?\\@]|@(?=[^\s/"'`<>?\\]*@))*)(?:(?P<at>@)[^\s/"'`<>?\\@]*)?)?"""
)


def _url_password(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    password = match["password"]
    if not password or match["at"] is None or is_template(password):
        return None
    known = token_at(text, match.start("password"))
    is_token = known is not None and known.end == match.end("password")
    # It goes as a password also where tokens of its kind are not masked.
    label = known.label if known is not None and is_token else "URL_PASSWORD"
    return SecretFound(match.start("password"), match.end("password"), "url-password", label)


# ---- e-mail addresses

_LOCAL: Final = re.compile(r"[A-Za-z0-9._%+-]{0,65}")
_DOMAIN: Final = re.compile(r"@(?P<domain>[A-Za-z0-9.-]*)(?P<path>:[\w./~-]*)?")
_NAME: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?P<top>[A-Za-z]{2,24})")
# Beside the two letters of countries. What else follows a dot is rather an attribute: x@self.weight.
_TOP_LEVEL: Final = re.compile(
    r"com|org|net|edu|gov|mil|int|info|biz|name|pro|mobi|aero|asia|jobs|museum|post|tel|travel|coop|cat|arpa|app|dev|cloud"
    r"|online|site|store|shop|tech|xyz|page|blog|email|software|systems|solutions|services|network|digital|agency|company"
    r"|studio|media|news|live|life|world|global|group|team|works?|space|website|science|academy|university|institute"
    r"|school|education|health|care|bank|finance|capital|ventures|consulting|engineering|industries|international"
    r"|foundation|ngo|research|example|test|invalid|localhost|local|internal|corp|lan|home|moe|zone|codes|club|top|art"
    r"|design"
)
_FILE_ENDINGS: Final = frozenset({"cs", "db", "go", "gz", "js", "py", "rb", "ts", "vb", "xz"})
# A remote shell's user@host and a repository's git@host are no mailboxes.
_REMOTE: Final = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id|git (?:clone|remote|push|pull|fetch))\b[^\n]*\Z")
_AUTHORITY: Final = re.compile(r"://[^\s/?#]*\Z")


def _email(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    at = match.start()
    local = _LOCAL.match(text[max(floor, at - 65) : at][::-1])
    size = 0 if local is None else local.end()
    start = at - size
    if start > 0 and text[start - 1] == "\\" and size > 1 and text[start] in "nrtbf":
        start += 1
    # At the latest, the sign itself is none of these.
    while text[start] in ".-%+":
        start += 1
    domain = match["domain"].rstrip(".-")
    name = _NAME.fullmatch(domain)
    if name is None or size > 64 or start == at or text[start:at].lower() in {"git", "hg", "svn"}:
        return None
    top = name["top"].lower()
    if top in _FILE_ENDINGS or (len(top) > 2 and _TOP_LEVEL.fullmatch(top) is None):
        return None
    if _continues(text, match, at + 1 + len(domain), top):
        return None
    before = text[max(0, start - LOOK_BACK) : start]
    if _AUTHORITY.search(before) or _REMOTE.search(before.rpartition("\n")[2]):
        return None
    return SecretFound(start, at + 1 + len(domain), "email", "EMAIL")


def _continues(text: str, match: re.Match[str], end: int, top: str) -> bool:
    """Whether it goes on as a call, an index, or the path of a remote copy: ``x@w.at[0]``, ``me@host.net:org/code``."""
    path = match["path"] or ""
    return (len(top) == 2 and text[end : end + 1] in {"(", "[", "@"}) or "/" in path or path.endswith(".git")


RULES: Final = (
    *TOKEN_RULES,
    *VENDOR_RULES,
    *COMMAND_RULES,
    MaskingRule(frozenset({"private-key"}), ("-----BEGIN",), _PEM, _private_key, limit=65_536, slack=256),
    MaskingRule(
        frozenset({"bearer-token"}),
        in_all_cases("bearer"),
        re.compile(r"(?i:bearer)(?:(?:[ \t]{1,8}|%20)(?P<token>[A-Za-z0-9._~+/-]*=*))?"),
        _bearer,
        head=TOKEN_HEAD,
    ),
    MaskingRule(
        frozenset({"bearer-token"}),
        in_all_cases("basic"),
        re.compile(r"(?i:basic)(?:[ \t]{1,8}(?P<token>[A-Za-z0-9+/]*={0,2}))?"),
        _basic,
    ),
    MaskingRule(frozenset({"url-password"}), ("://",), _USERINFO, _url_password),
    SERVICE_RULE,
    ASSIGNMENT_RULE,
    MaskingRule(frozenset({"email"}), ("@",), _DOMAIN, _email),
)
"""All the rules, by which text is masked."""
