"""How a request to a small model ended, in English, where no page words it."""

from typing import Final

from ._additions import Ending, EndingCheck

__all__ = ["STRONG_CHECKS", "ending_text"]

_REASONS: Final = {
    "failed": "The last try failed.",
    "no_answer": "The model gave no answer to this.",
    "missing": "There is no {name} yet.",
    "steps": "It took too many steps.",
    "stopped": "The work was stopped.",
    "limit": "A limit was reached.",
    "model": "The model gave no answer.",
    "mistakes": "The model kept making mistakes.",
    "too_long": "The cell is too long for this model.",
    "gone": "The cell is no longer there.",
}
_CHECKS: Final = {
    "fixed": "cell {cell} runs now",
    "renamed": "no cell uses {old} any more, and those with {new} run",
    "deleted": "cell {cell} is gone",
    "exists": "{name} is there now",
    "runs": "cell {cell} ran",
    "picture": "the picture in cell {cell} is not empty",
    "numbers": "the numbers stand in the notebook",
    "unchanged": "no cell was changed",
    "changed": "Cell {cell} was changed but not run.",
}
_CALLS: Final = "cell {cell} runs now and still calls {calls}"
STRONG_CHECKS: Final = frozenset({"fixed", "renamed", "deleted", "exists"})
"""What only comes about by what was asked for."""


def ending_text(ending: Ending) -> str:
    """The ending in one line."""
    match ending.state:
        case "checked":
            return f"Checked: {'; '.join(_told(check) for check in ending.checks if check.code in STRONG_CHECKS)}."
        case "unchecked":
            at_cell = next((check for check in ending.checks if check.code == "changed"), None)
            if at_cell is not None:
                return f"{_told(at_cell)} Look at it before you run it."
            changed = all(check.code != "unchanged" for check in ending.checks)
            return "Not checked. " + ("Look at the result before you use it." if changed else "No cell was changed.")
        case "not_done":
            reason = ending.reason
            why = [] if reason is None else [_REASONS[reason.code].format(**(reason.params or {}))]
            left = (
                "Your cells are as they were." if ending.put_back else "Some cells could not be put back: look at them."
            )
            return " ".join(["Not done.", *why, left])


def _told(check: EndingCheck) -> str:
    params = check.params or {}
    calls = params.get("calls")
    if isinstance(calls, list) and calls:
        return _CALLS.format(cell=params.get("cell"), calls=", ".join(map(str, calls)))
    return _CHECKS[check.code].format(**params)
