"""Running code that is in no cell, and installing packages by it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field, StringConstraints

from ...config import ToolGroup
from ...messages import CellCode, ClineSayTool, JsonObject, OwnSayTool
from ...notebooks.kernels import CellRunSpec
from .._action import ActionRequest
from .._tool import Proposal, SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from .._tool_failed import ToolFailed
from ._cell_selection import as_list
from ._code_runner import MOST_SECONDS, USUAL_SECONDS, action_for, begun, language_of, result_of, waited_for
from ._notebook_location import NotebookLocation, NotebookPath, place_of, still_allowed
from ._outputs import RunReport

__all__ = ["InstallPackages", "InstallPackagesArguments", "RunCode", "RunCodeArguments"]

_INSTALL_SECONDS: Final = 600
_REQUIREMENT: Final = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
    r"(?:\[[A-Za-z0-9._, -]+\])?"
    r" *(?:(?:===|==|~=|!=|<=|>=|<|>) *[A-Za-z0-9.*+!_-]+(?: *, *(?:==|~=|!=|<=|>=|<|>) *[A-Za-z0-9.*+!_-]+)*)?"
)
_FILES: Final = (".whl", ".zip", ".tar", ".tgz", ".tbz", ".txz", ".tlz", ".gz", ".bz2", ".xz", ".lz", ".lzma")
"""What ends so is, for pip, first of all a file in the kernel's folder."""


class RunCodeArguments(ToolArguments):
    """The arguments of ``run_code``."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=200_000)]
    """The code, in the language of the notebook's kernel."""
    path: NotebookPath | None = None
    """The notebook whose kernel runs it, relative to the workspace; absent for the one the task is about."""
    timeout: Annotated[int, Field(ge=0, le=MOST_SECONDS)] = USUAL_SECONDS
    """How many seconds to wait. What still runs then goes on; wait_run tells how it ends."""


class RunCode(SimpleTool[RunCodeArguments]):
    """Runs code that is in no cell."""

    name: ClassVar[str] = "run_code"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Run a piece of code in a notebook's kernel without putting it into the notebook or its history: to look at data, "
        "or to try something. It sees and can change the notebook's variables. For what belongs to the work use cells."
    )
    Output = RunReport

    async def _run(self, arguments: RunCodeArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        return await _approved_and_run(
            self.name, "runCode", arguments.code, place, arguments.timeout, context, packages=None
        )

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        code, path = partial.get("code"), partial.get("path")
        if not isinstance(code, str):
            return None
        if not isinstance(path, str) or not path:
            path = context.notebook.path if context.notebook is not None else None
        return ClineSayTool(tool="runCode", path=path, cells=[CellCode(code=code)]).to_json()


class InstallPackagesArguments(ToolArguments):
    """The arguments of ``install_packages``."""

    packages: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]],
        BeforeValidator(as_list),
        Field(min_length=1, max_length=50),
    ]
    """Names, with versions if they matter: "pandas", "scikit-learn>=1.4", "jax[cpu]==0.4.30"."""
    path: NotebookPath | None = None
    """The notebook whose kernel they are for, relative to the workspace; absent for the one the task is about."""


class InstallPackages(SimpleTool[InstallPackagesArguments]):
    """Installs packages."""

    name: ClassVar[str] = "install_packages"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Install Python packages from the configured index into the environment of a notebook's kernel, with %pip. A "
        "package that was imported before in another version needs a restart of the kernel."
    )
    Output = RunReport

    async def _run(self, arguments: InstallPackagesArguments, context: ToolContext) -> ToolResult:
        wrong = [package for package in arguments.packages if not _names_a_package(package)]
        if wrong:
            raise ToolFailed(
                f"{', '.join(wrong)} cannot be installed this way: give names of packages, with versions if they matter, and "
                "no options, paths or addresses."
            )
        place = await place_of(arguments.path, context)
        words = " ".join(_quoted(package) for package in arguments.packages)
        return await _approved_and_run(
            self.name, "installPackages", f"%pip install {words}", place, _INSTALL_SECONDS, context, packages=words
        )


async def _approved_and_run(
    tool: str,
    kind: OwnSayTool,
    code: str,
    place: NotebookLocation,
    seconds: int,
    context: ToolContext,
    *,
    packages: str | None,
) -> ToolResult:
    """Ask about exactly this code, run it, and tell how it went."""
    snapshot = await place.document.snapshot()
    kernel = await context.notebooks.kernel(place.path)
    language = await language_of(snapshot, kernel, context)

    async def _action_of(code: str) -> ActionRequest:
        puts_back = context.vault.unmask(code) != code
        return await action_for(tool, [code], language, place, context, puts_back_masked=puts_back)

    def _shown(code: str) -> str:
        return ClineSayTool(
            tool=kind,
            path=place.shown,
            cells=[CellCode(code=context.mask(code))],
            is_outside_workspace=place.checked.is_outside or None,
        ).to_json()

    if packages is not None:
        if language is not None and not language.lower().startswith("python"):
            raise ToolFailed(
                f"The kernel of {place.shown} is for {language}, and %pip installs for Python only. Install with run_code, in "
                "the way of that language."
            )
        action = ActionRequest(
            risks=frozenset({"install"}),
            tool=tool,
            path=place.shown,
            cwd=place.folder,
            same_as=f"pip install {packages}",
        )
    else:
        action = await _action_of(code)

    async def judged(edited: Sequence[str]) -> tuple[ActionRequest, str]:
        return await _action_of(edited[0]), _shown(edited[0])

    # A line that installs is made from names that were checked.
    proposal = Proposal([("code", context.mask(code))], judged) if packages is None else None
    approval = await context.approve(action, "tool", _shown(code), proposal=proposal)
    if not approval.approved:
        return denied(approval)
    await still_allowed(place, context)
    code = code if approval.edited is None else approval.edited[0]
    specs = [CellRunSpec(None, context.vault.unmask(code) if approval.by_person else code)]
    known = await begun(specs, place, context, numbers={}, kernel_name=snapshot.kernel_name, in_history=False)
    await waited_for(known, seconds, context)
    return answered(approval, await result_of(known, context))


def _names_a_package(package: str) -> bool:
    if any(part.lower().endswith(_FILES) for part in (package, package.partition("[")[0])):
        return False
    return _REQUIREMENT.fullmatch(package) is not None


def _quoted(package: str) -> str:
    """As IPython hands it to a shell: comparisons would be redirections there."""
    return package if re.fullmatch(r"[\w.-]+", package) else f'"{package}"'
