"""What an eval task is: a person's prompt, the notebook they have open, and how its outcome is judged."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from hdsp_agent.messages import JsonObject

__all__ = ["KINDS", "EndState", "EvalTask", "Kind", "NotDone", "Outcome", "RerunResult", "SeenCell", "Text"]

Kind: TypeAlias = Literal["add", "data", "fix", "ask", "change", "plot", "rename"]

KINDS: Final[Mapping[Kind, str]] = {
    "add": "add code and run it",
    "data": "load and look at data",
    "fix": "fix an error",
    "ask": "answer about a variable or the notebook",
    "change": "change cells",
    "plot": "plot",
    "rename": "rename and refactor",
}

_NUMBER: Final = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)

_FENCED: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


class NotDone(Exception):
    """Why an eval task counts as not done."""


class Text(str):
    """The source of a Markdown cell."""

    __slots__ = ()


@dataclass(frozen=True)
class EndState:
    """How a notebook and the answer could be in the end, all code run. Judges are tried with it."""

    cells: Sequence[str] | None = None
    """None is as they were."""
    answer: str = ""
    ran: bool = True


@dataclass(frozen=True)
class SeenCell:
    """A cell as it is in the notebook's file."""

    id: str
    source: str
    is_code: bool
    outputs: Sequence[JsonObject] = ()

    @property
    def text(self) -> str:
        """What it shows, as text."""
        return "\n".join(_texts(self.outputs))

    @property
    def has_image(self) -> bool:
        """Whether it shows a picture."""
        return any("image/png" in data or "image/svg+xml" in data for data in _bundles(self.outputs))

    @property
    def failed(self) -> bool:
        """Whether it shows an error."""
        return any(output.get("output_type") == "error" for output in self.outputs)


@dataclass(frozen=True)
class RerunResult:
    """The notebook as it ran from the top in a new kernel, and what the task's probes gave there."""

    error: str | None
    values: Mapping[str, object]
    texts: Sequence[str] = ()
    """What each code cell showed."""


@dataclass(frozen=True)
class Outcome:
    """All a judge sees."""

    before: Sequence[SeenCell]
    after: Sequence[SeenCell]
    answer: str
    rerun: RerunResult

    # ---- cells

    @property
    def new(self) -> list[SeenCell]:
        """Cells that say something no cell said before."""
        known = {_bare(cell.source) for cell in self.before}
        return [cell for cell in self.after if cell.source.strip() and _bare(cell.source) not in known]

    @property
    def code(self) -> str:
        """All code there is now."""
        return "\n\n".join(cell.source for cell in self.after if cell.is_code)

    @property
    def shown(self) -> str:
        """What the new cells show."""
        return "\n".join(cell.text for cell in self.new)

    def names(self) -> set[str]:
        """All names in the code: of variables, functions, classes, parameters and imports."""
        try:
            tree = ast.parse(self.code)
        except SyntaxError as error:
            raise NotDone(f"the code cannot be read: {error}") from None
        found: set[str] = set()
        for node in ast.walk(tree):
            found |= {
                str(getattr(node, name)) for name in ("id", "arg", "name") if isinstance(getattr(node, name, None), str)
            }
        return found

    @property
    def unquoted_answer(self) -> str:
        """The answer without what it quotes of outputs, which says no more than they do."""
        return _FENCED.sub(" ", self.answer)

    # ---- what must hold

    def must(self, holds: object, otherwise: str) -> None:
        """Count the task as not done unless this holds."""
        if not holds:
            raise NotDone(otherwise)

    def keeps(self, *but: int) -> None:
        """The cells the person had are still there as they were, but for those numbered from 1."""
        left = [_bare(cell.source) for cell in self.after]
        for number, cell in enumerate(self.before, 1):
            if number not in but:
                self.must(_bare(cell.source) in left, f"cell {number} of the person is gone or changed")

    def runs(self) -> None:
        """The notebook runs from the top, no cell in it shows an error, and nothing was put there twice."""
        self.must(self.rerun.error is None, f"the notebook does not run from the top: {self.rerun.error}")
        failed = next((cell for cell in self.after if cell.failed), None)
        self.must(failed is None, f"a cell shows an error: {failed.source[:80] if failed else ''!r}")
        said = [_bare(cell.source) for cell in self.new]
        self.must(len(said) == len(set(said)), "the same new cell is there more than once")

    def added(self) -> None:
        """Code was added to what the person had, it ran, and all runs from the top."""
        self.must(any(cell.is_code for cell in self.new), "there is no new code cell")
        self.keeps()
        self.runs()

    def value(self, probe: str) -> object:
        """What a probe gave; not done if it could not be computed."""
        self.must(probe in self.rerun.values, f"{probe} cannot be computed in the notebook")
        return self.rerun.values[probe]

    def equals(self, probe: str, *values: object) -> None:
        """A probe gives one of these."""
        found = self.value(probe)
        self.must(found in values, f"{probe} is {found!r}")

    def shows(self, *texts: str) -> None:
        """Each is in what the new cells show."""
        shown = " ".join(self.shown.split())
        for text in texts:
            self.must(text in shown, f"no new cell shows {text!r}")

    def tells(self, *numbers: float, within: float = 0.006) -> None:
        """The numbers are told: in the answer, or by a new cell that the answer does not contradict."""
        quoted = " ".join(_FENCED.findall(self.answer))
        said, shown = _numbers(self.unquoted_answer), _numbers(f"{self.shown}\n{quoted}")
        backed = [*shown, *range(len(self.after) + 1)]
        contradicts = any(not _close(one, backed, within) for one in said)
        for number in numbers:
            told = _close(number, said, within) or (not contradicts and _close(number, shown, within))
            listed = ", ".join(f"{one:g}" for one in (said or shown)[:8]) or "nothing"
            self.must(told, f"{number:g} is not told, but {listed}")

    def says(self, *words: str) -> None:
        """At least one of these words is in the answer, or is shown by a new cell where there is no answer in words."""
        told = f"{self.answer}\n{self.shown}".casefold()
        self.must(any(word.casefold() in told for word in words), f"neither told nor shown: {' / '.join(words)}")


@dataclass(frozen=True)
class EvalTask:
    """One thing a person asks for. ``judge`` raises NotDone; any right way must pass it."""

    name: str
    kind: Kind
    prompt: str
    judge: Callable[[Outcome], None]
    right: EndState
    """A right one, for the judge's own test."""
    cells: Sequence[str] = ()
    files: Sequence[str] = ()
    """Files of ``data`` beside the notebook."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Other files beside it, with what they hold."""
    probes: Sequence[str] = ()
    """Expressions to compute after the notebook ran from the top."""
    ran: bool = True
    """Whether the person has run the cells."""
    at: int | None = None
    """The number of the cell the person is in."""
    means: int | None = None
    """The number of the cell the person means, if they are asked."""
    wrong: Sequence[EndState] = field(default_factory=tuple)
    """Endings that must not pass."""
    also_right: Sequence[EndState] = field(default_factory=tuple)


def _bare(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _close(number: float, among: Iterable[float], within: float) -> bool:
    return any(abs(number - one) <= within * max(1, abs(number)) for one in among)


def _bundles(outputs: Sequence[JsonObject]) -> list[JsonObject]:
    return [data for output in outputs if isinstance(data := output.get("data"), dict)]


def _texts(outputs: Sequence[JsonObject]) -> list[str]:
    found = [output.get("text") for output in outputs]
    found += [data.get(kind) for data in _bundles(outputs) for kind in ("text/plain", "text/html", "text/markdown")]
    return ["".join(map(str, one)) if isinstance(one, list) else str(one) for one in found if one is not None]


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text) if number.strip(",")]
