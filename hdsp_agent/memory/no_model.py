"""Why there is no model that could learn."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["NoModel", "no_model_text"]

NoModel: TypeAlias = Literal["not_set_up", "too_small"]
"""Why nothing can be learned: no profile is set up for it, or only the embedded model."""
_NO_MODEL: Final[dict[NoModel, str]] = {
    "not_set_up": "No model is set up to learn from conversations. Choose a provider in the settings first.",
    "too_small": (
        "The embedded model is too small to learn from conversations. Choose another one in the settings under "
        "“Profile for learning”. Notes still work."
    ),
}


def no_model_text(why: NoModel) -> str:
    """What a person hears of it."""
    return _NO_MODEL[why]
