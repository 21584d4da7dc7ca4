"""What was masked in one task, kept in memory only, so that an approved tool can be given it back."""

from __future__ import annotations

import re
import threading
from typing import Final, NoReturn

from ...config import KEY_IN_USE

__all__ = ["PLACEHOLDER", "PLACEHOLDER_LABELS", "PLACEHOLDER_START", "Vault"]

PLACEHOLDER_LABELS: Final = (
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "OPENAI_KEY",
    "ANTHROPIC_KEY",
    "AWS_KEY",
    "GOOGLE_KEY",
    "SLACK_TOKEN",
    "HUGGINGFACE_TOKEN",
    "API_KEY",
    "PRIVATE_KEY",
    "JWT",
    "BEARER_TOKEN",
    "BASIC_AUTH",
    "URL_PASSWORD",
    "SECRET",
    "EMAIL",
    KEY_IN_USE,
)
"""Every label a masked value can get."""

PLACEHOLDER_START: Final = "["
PLACEHOLDER: Final = re.compile(rf"\[(?P<label>{'|'.join(PLACEHOLDER_LABELS)})(?:_(?P<number>[1-9][0-9]{{0,8}}))?\]")


class Vault:
    """The masked values of one task, by placeholder. It is never written, printed, copied or pickled.

    The first value of a label gets ``[LABEL]``, the next distinct ones ``[LABEL_2]``, ``[LABEL_3]`` and so on.
    """

    __slots__ = ("_highest", "_lock", "_placeholders", "_values")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._placeholders: dict[tuple[str, str], str] = {}
        self._values: dict[str, str] = {}
        self._highest: dict[str, int] = {}

    def placeholder(self, label: str, value: str) -> str:
        """The placeholder that stands for this value from now on."""
        with self._lock:
            known = self._placeholders.get((label, value))
            if known is not None:
                return known
            number = self._highest.get(label, 0) + 1
            self._highest[label] = number
            new = f"[{label}]" if number == 1 else f"[{label}_{number}]"
            self._placeholders[label, value] = new
            self._values[new] = value
            return new

    def reserve(self, text: str) -> None:
        """Give no new value a placeholder that already stands in this text."""
        for found in PLACEHOLDER.finditer(text):
            number = int(found["number"] or 1)
            with self._lock:
                self._highest[found["label"]] = max(self._highest.get(found["label"], 0), number)

    def unmask(self, text: str) -> str:
        """The text with the values of its complete, known placeholders put back; others stay as they are."""
        with self._lock:
            return PLACEHOLDER.sub(lambda found: self._values.get(found[0], found[0]), text)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Vault of {len(self)} values>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A vault holds secrets: it can be neither copied nor pickled.")
