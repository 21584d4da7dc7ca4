"""A Python kernel's variables, looked at without changing anything in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ...errors import NotFound, Unavailable, Unsupported
from ...messages import JsonObject
from ._client import KernelClient

__all__ = [
    "InspectionLimits",
    "TableColumn",
    "Variable",
    "VariableTable",
    "VariablesReport",
    "ask_probe",
    "inspect",
    "load_probe",
    "look_into",
]

ModelT = TypeVar("ModelT", bound=BaseModel)

_MODULES: Final = {
    "_hdsp_agent_database_kinds": "_database_kinds_probe.py",
    "_hdsp_agent_temporary_tables": "_temporary_tables_probe.py",
    "_hdsp_agent_sqlalchemy": "_sqlalchemy_probe.py",
    "_hdsp_agent_databases": "_databases_probe.py",
    "_hdsp_agent_variables": "_variables_probe.py",
}
"""What is put into the kernel; the last one answers, with what the others know."""
_KEY: Final = "hdsp_agent"
_EXTRA_SECONDS: Final = 5.0


@dataclass(frozen=True)
class InspectionLimits:
    """How much of the variables is told, and how long looking may take."""

    seconds: float = 3.0
    each_seconds: float = 0.5
    variables: int = 100
    head_characters: int = 600
    rows: int = 5
    columns: int = 30
    items: int = 8


class Variable(BaseModel):
    """One variable. ``memory`` is in bytes, of a container without what it contains."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    type: str
    shape: tuple[int | None, ...] | None = None
    dtype: str | None = None
    device: str | None = None
    length: int | None = None
    memory: int | None = None
    columns: tuple[tuple[str, str], ...] = ()
    """Names and dtypes of a frame's columns."""
    has_text_columns: bool = True
    """Whether all of these are named by texts, and not by numbers or tuples."""
    head: str | None = None
    is_database: bool = False
    """Whether it is connected to a database, of which the kernel can tell the tables; known of what is asked for by name."""
    error: str | None = None
    """Why there is no more to tell: its repr failed or took too long."""


class VariablesReport(BaseModel):
    """The newest variables first."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    variables: tuple[Variable, ...] = ()
    missing: tuple[str, ...] = ()
    """Names that were asked for and do not exist."""
    unseen: tuple[str, ...] = ()
    """Names there was no time or room for."""


class TableColumn(NamedTuple):
    """A column of a table; that of a list has no name."""

    name: str
    dtype: str
    missing: int | None
    """How many values it lacks; None if they were not counted."""


class VariableTable(Variable):
    """Some rows of a variable. What is no table has only its head, which may be long."""

    fields: tuple[TableColumn, ...] = ()
    index: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    """None stands for a value that is missing."""


async def inspect(
    link: KernelClient, *, names: Sequence[str] | None = None, limits: InspectionLimits
) -> VariablesReport:
    """The variables of these names, or all, also while a cell runs."""
    question: JsonObject = {
        "seconds": limits.seconds,
        "each": limits.each_seconds,
        "most": limits.variables,
        "head": limits.head_characters,
        "rows": limits.rows,
        "columns": limits.columns,
        "items": limits.items,
    }
    if names is not None:
        question["names"] = list(names)
    told = await ask_probe(link, question, limits.seconds)
    if "error" in told:
        raise Unavailable(f"The kernel could not tell its variables: {told['error']}.", kernel=link.kernel_id)
    return _read(VariablesReport, told)


async def look_into(link: KernelClient, name: str, start: int, limits: InspectionLimits) -> VariableTable:
    """Rows of a variable from one on, also while a cell runs. NotFound if there is none of this name."""
    question: JsonObject = {
        "table": name,
        "start": start,
        "seconds": limits.seconds,
        "head": limits.head_characters,
        "rows": limits.rows,
        "columns": limits.columns,
        "items": limits.items,
    }
    told = await ask_probe(link, question, limits.seconds)
    if "gone" in told:
        raise NotFound(f"There is no variable {name}.", name=name)
    if "name" not in told:
        raise Unavailable(f"The kernel could not show {name}: {told.get('error')}.", kernel=link.kernel_id)
    return _read(VariableTable, told)


async def ask_probe(link: KernelClient, question: JsonObject, limit: float) -> JsonObject:
    """What the kernel answers to a question of ours; ``error`` in it says why it could not."""
    if link.language != "python":
        language = link.language or "an unknown language"
        raise Unsupported(f"Only Python kernels can list their variables; this one is for {language}.")
    seconds = limit + _EXTRA_SECONDS
    if not link.probed:
        await load_probe(link, seconds)
    reply = await link.ask("comm_info_request", {_KEY: question}, seconds=seconds)
    told = reply.get(_KEY)
    return told if isinstance(told, dict) else {"error": "it did not understand the question"}


def _read(model: type[ModelT], told: JsonObject) -> ModelT:
    try:
        return model.model_validate(told)
    except ValidationError as error:
        raise Unavailable("The kernel's variables came in a form that cannot be read.") from error


async def load_probe(link: KernelClient, seconds: float) -> None:
    """Put what answers our questions into the kernel."""
    value = await link.evaluate(_expression(), seconds)
    if value.get("status") != "ok":
        raise Unsupported("This kernel cannot list its variables; only IPython's own kernel can.")
    link.probed = True


@cache
def _expression() -> str:
    sources = {name: files(__package__).joinpath(file).read_text(encoding="utf-8") for name, file in _MODULES.items()}
    return (
        "(lambda b, ms: ([(__import__('sys').modules.__setitem__(m.__name__, m),"
        " b.exec(b.compile(source, '<hdsp-agent>', 'exec'), m.__dict__)) for m, source in ms],"
        " ms[-1][0].install())[-1])"
        "(__import__('builtins'),"
        f" [(__import__('types').ModuleType(name), source) for name, source in {sources!r}.items()])"
    )
