"""What tells a secret from a word, a placeholder or a piece of code."""

from __future__ import annotations

import re
from typing import Final, Literal

from ._vault import PLACEHOLDER

__all__ = ["NameKind", "is_opaque", "is_password", "is_placeholder", "is_random", "is_template", "name_kind"]

NameKind = Literal["password", "token"]

_NAME: Final = re.compile(
    r"(?:(?P<password>pass(?:word|wd|phrase|code)|pwd|(?:^|[_-])(?:pg)?pass|(?:^|[_-])pw)"
    r"|(?P<token>token|secret|credentials?|authorization"
    r"|(?:api|access|secret|private|auth|account|encryption|signing|master|service|subscription|shared|storage|admin"
    r"|deploy|license|hmac|session|webhook|client|app|consumer|jwt|cipher|aes|fernet)[_-]?key))"
    r"(?:[_-]?(?:prod(?:uction)?|dev|test|staging|live|old|new|primary|secondary|backup|value|b64|base64|v?[0-9]{1,2}))?\Z"
)
# Names of the text models and pagers work on. Their values are not secrets.
_ORDINARY_TOKEN: Final = re.compile(
    r"(?:pad|eos|bos|unk|mask|sep|cls|special|image|audio|video|start|end|stop|newline|space|first|last|next|prev|current"
    r"|page|continuation|sync|cancel|cancellation|think|tool|prefix|suffix|split|sub|text|word|input|output)[_-]?token\Z"
)

_HIDDEN: Final = re.compile(r"[xX]{4}|\*{3}|\.{3}|…|•{2}|#{4}|_{4}|-{4}|0{8}")
_TEMPLATE: Final = re.compile(r"^[$%{<(\[]|\$\{|\{\{|\$\(|%\(|%s|\{[\w.!:]*\}|<[\w\s.|/-]*>|^env[:.(]|^vault:|^!")
_STAND_IN: Final = re.compile(
    r"(?i:your|my[-_ ]|example|change[-_ ]?(?:me|this|it)|placeholder|dummy|fake|redacted|masked|hidden|replace|insert"
    r"|goes[-_ ]?here|fixme|^(?:n/?a|none|null|nil|undefined|true|false|yes|no|on|off|str|string|text|test|todo|required"
    r"|optional|default|empty|unset|sha-?(?:1|256|384|512)|md5|base64|utf-?8|aes-?(?:128|256)|[hrep]s(?:256|384|512))\Z)"
)
_STAND_IN_LENGTH: Final = 32

_SEPARATOR: Final = re.compile(r"[-_./:, ]+")
_WORD: Final = re.compile(
    r"[A-Za-z]+[0-9]{0,2}|[0-9]{1,4}|v[0-9]+|0?123456789?0?|(?i:sha|md|aes|utf|base|ed|x|rsa)[0-9]{1,5}"
    r"|[A-Z][a-z]+[0-9]{1,3}[A-Z]?[A-Za-z]*"
)
_TYPE: Final = re.compile(r"^[\w.]*(?:Key|Token|Secret|Password|Credential)s?(?:Type|Class)?s?\Z")
_LETTERS: Final = re.compile(r"[A-Za-z]{16,}")
_CODE: Final = re.compile(r"[\s(){}\[\]<>]|://|^[./~\\]|^[A-Za-z]:\\|::")
# Base64 of some length that no path could be.
_BASE64: Final = re.compile(r"(?=.*[A-Z])(?=.*[a-z])(?=.*[0-9])(?=.*[+=])[A-Za-z0-9+/]{38,}={0,2}")
_SYMBOL: Final = re.compile(r"[!@$^&*~+=]|(?<=.)[#%?](?=.)")
_PASSWORD_NAME: Final = re.compile(r"(?i:pass|pwd|secret|token|key|user|name|cred|login)")
_NO_WORD: Final = 30
_RUN: Final = re.compile(r"[A-Za-z0-9]+")


def name_kind(name: str) -> NameKind | None:
    """Whether values assigned to this name are passwords, tokens or neither."""
    last = name.rpartition(".")[2].lower()
    found = _NAME.search(last)
    if found is None or _ORDINARY_TOKEN.search(last):
        return None
    return "password" if found["password"] is not None else "token"


def is_template(value: str) -> bool:
    """Whether the value is filled in elsewhere, blanked out or masked already."""
    return any(pattern.search(value) for pattern in (_HIDDEN, _TEMPLATE, PLACEHOLDER))


def is_placeholder(value: str) -> bool:
    """Whether the value only stands where a secret will be: a template, or words like ``your-key``."""
    return is_template(value) or (len(value) < _STAND_IN_LENGTH and _STAND_IN.search(value) is not None)


def is_random(body: str, run: int = 12, *, mixed: bool = True) -> bool:
    """Whether a token's body has an unbroken run of letters and digits as no words have."""
    longest = max(_RUN.findall(body), key=len, default="")
    if len(longest) < run or _HIDDEN.search(body):
        return False
    if len(longest) >= _NO_WORD:
        return True
    if len(set(longest)) < 4:
        return False
    return not mixed or any(map(str.isdigit, body)) or (longest.lower() != longest and longest.upper() != longest)


def is_opaque(value: str) -> bool:
    """Whether the value looks drawn by lot: neither words nor code."""
    if len(value) < 8 or len(set(value)) < 5 or _TYPE.search(value):
        return False
    if _BASE64.fullmatch(value) and len(value) % 4 == 0:
        return True
    if _CODE.search(value):
        return False
    return any(_is_drawn(part) for part in _SEPARATOR.split(value) if part)


def _is_drawn(part: str) -> bool:
    letters = part.rstrip("0123456789")
    if _LETTERS.fullmatch(letters):
        # Only the mix of cases tells: every other letter of a random string is a capital one.
        return 0.3 < sum(map(str.isupper, letters)) / len(letters) < 0.8 or len(part) - len(letters) > 4
    return any(map(str.isdigit, part)) and _WORD.fullmatch(part) is None


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether a person may have chosen the value as a password, rather than named or described one."""
    if len(value) < (4 if quoted else 6) or len(set(value)) < 3 or _CODE.search(value):
        return False
    if is_opaque(value):
        return True
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    if _PASSWORD_NAME.search(value) and not _SYMBOL.search(value):
        # password2, user_password, pass123: quoted it is a password if it has a number, bare it is a variable.
        return quoted and digits and letters and "_" not in value and len(value) >= 6
    if _SYMBOL.search(value) or (digits and (letters or quoted)):
        return quoted or not value[:1].isupper() or _SYMBOL.search(value) is not None
    return quoted and len(value) >= 12 and value.isalpha() and value.islower()
