"""How a token with a known prefix is described."""

from __future__ import annotations

import re
from typing import Final

from ...config import MaskedKind
from ._rule_candidates import MaskingRule, SecretFound
from ._values import is_random

__all__ = ["TOKEN_HEAD", "followed_by", "starts_token", "token_rule"]

_WORD_BEFORE: Final = re.compile(r"[A-Za-z0-9_-]\Z")
# Escapes end in letters that do not belong to the token: \n in JSON, = in addresses, colours in tracebacks.
_ESCAPE_BEFORE: Final = re.compile(r"(?:\\[nrtbfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-F]{2}|\[[0-9;]{0,16}m)\Z")


def starts_token(text: str, position: int) -> bool:
    before = text[max(0, position - 20) : position]
    return _WORD_BEFORE.search(before) is None or _ESCAPE_BEFORE.search(before) is not None


TOKEN_HEAD: Final = (re.compile(""), lambda text, match: starts_token(text, match.start()))


def token_rule(
    kind: MaskedKind,
    label: str,
    triggers: str,
    body: str,
    *,
    extra: str = "_-",
    run: int = 12,
    limit: int = 600,
    mixed: bool = True,
) -> MaskingRule:
    """A prefix and a body of letters, digits and ``extra``; the body up to its last good character must fit ``body``."""
    fits = re.compile(body)

    def check(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
        found = fits.match(text, match.start("body"), match.end())
        if found is None or not is_random(found[0], run, mixed=mixed):
            return None
        return SecretFound(match.start(), found.end(), kind, label)

    prefixes = "|".join(map(re.escape, sorted(triggers.split(), key=len, reverse=True)))
    reach = re.compile(rf"(?:{prefixes})(?P<body>[A-Za-z0-9{re.escape(extra)}]*)")
    return MaskingRule(frozenset({kind}), tuple(triggers.split()), reach, check, limit, head=TOKEN_HEAD)


def followed_by(characters: str, count: int) -> str:
    """That so many of these characters follow, or that the text ends before."""
    return f"(?=[{characters}]{{{count}}}|[{characters}]{{0,{count - 1}}}\\Z)"
