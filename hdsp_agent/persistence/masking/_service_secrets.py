"""Secrets that are told by the name of their service and their form: ``datadog = "…"``.

Which service's look how is data, taken from gitleaks' rules (MIT, see the file) by ``scripts/secret_rules.py``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from ._assignments import AFTER_NAME, ASSIGNMENT, NAME_HEAD, value_group
from ._rule_candidates import MaskingRule, SecretFound
from ._tokens import token_at
from ._values import is_placeholder, is_random

__all__ = ["SERVICES", "SERVICE_RULE"]

_FEWEST_LETTERS: Final = 8
_OPERATORS: Final = frozenset({"=", ":", ":=", "=>", ">"})


class _Service(BaseModel):
    id: str
    names: tuple[str, ...]
    value: str


class _Data(BaseModel):
    services: tuple[_Service, ...]


SERVICES: Final = _Data.model_validate_json(Path(__file__).with_name("service_secrets.json").read_bytes()).services
"""The services whose secrets are known by their form."""
_NAMES: Final = sorted({name for service in SERVICES for name in service.names}, key=len, reverse=True)
_NAME: Final = re.compile("|".join(map(re.escape, _NAMES)))


@cache
def _forms(name: str) -> re.Pattern[str]:
    """Compiled when it is needed: of all the services a text names a few."""
    return re.compile("|".join(f"(?:{service.value})" for service in SERVICES if name in service.names))


def _secret(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    name, group = _NAME.match(match[0]), value_group(match)
    if name is None or group is None or match["operator"] not in _OPERATORS:
        return None
    start, value = match.start(group), match[group]
    if not group.startswith("value"):
        value = value.rstrip(".:?!")
    if (known := token_at(text, start)) is not None:
        return known
    if _forms(name[0]).fullmatch(value) is None or is_placeholder(value):
        return None
    if not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)) or not is_random(value, _FEWEST_LETTERS):
        return None
    return SecretFound(start, start + len(value), "assigned-secret", "API_KEY")


SERVICE_RULE: Final = MaskingRule(
    frozenset({"assigned-secret"}),
    # In capitals, names of variables say KEY or TOKEN too, which another rule finds: looking for both costs time.
    tuple(_NAMES),
    ASSIGNMENT,
    _secret,
    limit=1024,
    head=(NAME_HEAD, lambda text, head: text[head.end() : head.end() + 1] in AFTER_NAME),
)
