"""The language of the pages that the server itself makes: the one that the browser asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from jupyter_server.i18n import parse_accept_lang_header

__all__ = ["PageLanguage", "page_language"]

_CATALOGS: Final = Path(__file__).parent / "locale"
_ENGLISH: Final = "en"


class PageLanguage:
    """Translates the texts of one page; ``scripts/translations.py`` collects what ``translated`` is given."""

    def __init__(self, code: str, texts: Mapping[str, object]) -> None:
        self.code: Final = code
        self._texts = texts

    def translated(self, text: str) -> str:
        """The text in this language, or as it is where there is no translation."""
        forms = self._texts.get(text)
        return str(forms[0]) if isinstance(forms, list) and forms else text


def page_language(accepted: str) -> PageLanguage:
    """The first language of an ``Accept-Language`` header that there is; English without one. Reads files."""
    # The most wanted comes last.
    listed: list[str] = parse_accept_lang_header(accepted)  # type: ignore[no-untyped-call]
    for wanted in reversed(listed):
        code = wanted.partition("_")[0].lower()
        if code == _ENGLISH:
            break
        found = next(iter(sorted(_CATALOGS.glob(f"{code}_*"))), None)
        if found is not None:
            return PageLanguage(code, _texts(found))
    return PageLanguage(_ENGLISH, {})


@lru_cache
def _texts(catalog: Path) -> Mapping[str, object]:
    texts: Mapping[str, object] = json.loads((catalog / "LC_MESSAGES/hdsp_agent.json").read_text("utf-8"))
    return texts
