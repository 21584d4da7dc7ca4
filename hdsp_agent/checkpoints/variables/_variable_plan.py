"""What going back to a manifest would do to the variables there are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from ...errors import Unsupported
from ...wire import WireModel
from ._manifest import Environment, ManifestId, VariableEntry, VariableManifest
from ._rerun import Rerun

__all__ = ["ChosenVariables", "PlannedVariable", "VariablePlan", "refuse_other_environment", "variable_plan"]


@dataclass(frozen=True)
class ChosenVariables:
    """Which variables a restore is about."""

    leave: Collection[str] = ()
    """These stay as they are."""
    only: Collection[str] | None = None
    """All but these do."""
    overwrite: bool = False
    """Whether also what cannot be saved is replaced."""

    def leaves(self, name: str) -> bool:
        """Whether a variable stays as it is."""
        return name in self.leave or (self.only is not None and name not in self.only)


class PlannedVariable(WireModel):
    """One variable, and what would be done with it."""

    name: str
    type: str
    action: Literal["keep", "load", "import", "remove", "keep_live", "keep_unsaved", "lost", "leave"]
    """``keep``: it is right already. ``keep_live``: it has no bytes, but it is still the same object; what was done with it
    since is not undone. ``keep_unsaved``: it is another now, which has no bytes, so that an undo could not bring it back.
    ``lost``: it has no bytes and is gone; cells have to run again for it."""
    bytes: int = 0
    why: str | None = None
    assumed: bool = False
    """When it was saved it was not looked at, because no cell had named it."""


class VariablePlan(WireModel):
    """What ``restore`` would do, now."""

    target: ManifestId
    before: ManifestId
    """What the variables are now; going there undoes the restore."""
    kernel_id: str
    life: str
    run: int
    """Nothing may run between the plan and the restore."""
    cold: bool
    """Whether this is another life of the kernel than the one they were saved in."""
    variables: tuple[PlannedVariable, ...]
    bytes: int
    """How much would be read."""
    rerun: Rerun
    """Cells for what is lost; they run only if the person agrees."""

    def named(self, *actions: str) -> tuple[str, ...]:
        """The names with one of these actions."""
        return tuple(one.name for one in self.variables if one.action in actions)


def refuse_other_environment(target: VariableManifest, now: Environment) -> None:
    """Raise Unsupported where values could be read wrongly: another Python, or another major version of a library."""
    then = target.environment
    if (then.implementation, then.python) != (now.implementation, now.python):
        raise Unsupported(
            f"The variables were saved in {then.implementation} {then.python}, and this kernel is {now.implementation}"
            f" {now.python}. Choose a kernel with {then.python}, or run the cells again.",
            saved=f"{then.implementation} {then.python}",
            kernel=f"{now.implementation} {now.python}",
            why="other_python",
        )
    for library in sorted({library for group in target.groups for library in group.libraries}):
        saved, here = then.libraries.get(library), now.libraries.get(library)
        if saved is not None and here is None:
            raise Unsupported(
                f"The variables were saved with {library} {saved}, and this kernel has no {library}. Install it, or run the"
                " cells again.",
                library=library,
                saved=saved,
                why="library_missing",
            )
        if saved is not None and here is not None and saved.partition(".")[0] != here.partition(".")[0]:
            raise Unsupported(
                f"The variables were saved with {library} {saved}, and this kernel has {library} {here}: another major"
                f" version may read them wrongly. Choose a kernel with {library} {saved}, or run the cells again.",
                library=library,
                saved=saved,
                kernel=here,
                why="library_other",
            )


def variable_plan(
    target: VariableManifest, current: VariableManifest, chosen: ChosenVariables | None = None
) -> VariablePlan:
    """Compare two states of the variables, name by name; which cells make what is lost is not looked up.

    What has no bytes now stays where it is not what it was, unless it is to be overwritten.
    """
    same_life = target.life == current.life
    chosen = chosen or ChosenVariables()
    planned = [
        _leave(name, entry) if chosen.leaves(name) else _there(name, entry, target, current, same_life)
        for name, entry in target.variables.items()
    ]
    planned += [
        _leave(name, entry) if chosen.leaves(name) else _later(name, entry)
        for name, entry in current.variables.items()
        if name not in target.variables
    ]
    if not chosen.overwrite:
        unsaved = current.unsaved
        planned = [_kept(one, unsaved[one.name]) if one.name in unsaved else one for one in planned]
    loaded = {one.name for one in planned if one.action == "load"}
    return VariablePlan(
        target=target.id,
        before=current.id,
        kernel_id=current.kernel_id,
        life=current.life,
        run=current.run,
        cold=not same_life,
        variables=tuple(planned),
        bytes=sum(group.bytes for group in target.groups if not loaded.isdisjoint(group.names)),
        rerun=Rerun(),
    )


def _there(
    name: str, entry: VariableEntry, target: VariableManifest, current: VariableManifest, same_life: bool
) -> PlannedVariable:
    now = current.variables.get(name)
    if entry.status == "module":
        same = now is not None and now.status == "module" and now.why == entry.why
        return PlannedVariable(name=name, type=entry.type, action="keep" if same else "import", why=entry.why)
    group = target.group_of(name)
    if group is None:
        same = same_life and now is not None and now.number == entry.number and now.type == entry.type
        return PlannedVariable(name=name, type=entry.type, action="keep_live" if same else "lost", why=entry.why)
    known = current.group_of(name)
    same = known is not None and known.names == group.names and known.digest == group.digest
    # Their classes' attributes become other objects.
    same = same and all(target.classes[one] == current.classes.get(one) for one in group.aliases)
    return PlannedVariable(
        name=name,
        type=entry.type,
        action="keep" if same else "load",
        bytes=0 if same else group.bytes // len(group.names),
        assumed=group.assumed,
    )


def _later(name: str, entry: VariableEntry) -> PlannedVariable:
    if name.startswith("_"):
        return PlannedVariable(name=name, type=entry.type, action="leave", why="a tool may have made it")
    return PlannedVariable(name=name, type=entry.type, action="remove")


def _leave(name: str, entry: VariableEntry) -> PlannedVariable:
    return PlannedVariable(name=name, type=entry.type, action="leave")


def _kept(planned: PlannedVariable, now: VariableEntry) -> PlannedVariable:
    if planned.action not in ("load", "import", "remove", "lost"):
        return planned
    return PlannedVariable(name=planned.name, type=now.type, action="keep_unsaved", why=now.why)
