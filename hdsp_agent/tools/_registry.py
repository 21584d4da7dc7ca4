"""All tools by name: which the model is offered, and what it must give them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache, cached_property

from pydantic import JsonValue, ValidationError

from ..config import GlobalSettings, ModeConfig, OperatorPolicy, ToolSet
from ..errors import InvalidInput, NotFound
from ..messages import JsonObject
from ..providers import ToolSpec
from ._edit_files import ApplyDiff, SearchReplace, WriteToFile
from ._fetch_url import FetchUrl
from ._mcp_port import MCP_PREFIX, McpOffer
from ._memory_tools import MEMORY_TOOLS, ReadMemory, SearchMemory
from ._read_file import ReadFile
from ._search_files import ListFiles, SearchFiles
from ._search_tasks import SearchTasks
from ._shell import ExecuteCommand, ReadCommandOutput
from ._task_tools import AskFollowupQuestion, AttemptCompletion, NewTask, SwitchMode, UpdateTodoList
from ._tool import Tool, ToolArguments
from .compound import (
    AddCell,
    AddText,
    AnswerTool,
    CompoundTool,
    DeleteCellTool,
    EditCell,
    RenameVariable,
    RunCell,
)
from .mcp import MCP_TOOLS, mcp_tool_specs, named_mcp_tool
from .notebook import (
    CreateNotebook,
    EditCells,
    InspectVariables,
    InstallPackages,
    ListKernels,
    ListNotebooks,
    ManageKernel,
    ReadNotebook,
    RunCells,
    RunCode,
    WaitRun,
)

__all__ = ["ToolRegistry", "built_in_tools", "file_tools", "program_tools"]

_MOST_PROBLEMS = 5
_LONGEST_NAME = 64
_SUGGESTION = "worth_remembering"


def built_in_tools(*, notebooks: bool = True, memory: bool = True, past: bool = True) -> list[Tool]:
    """Our own tools, in the order the model is told of them; without ``notebooks``, ``memory`` or a ``past`` none that needs it."""
    for_notebooks: list[Tool] = [
        ReadNotebook(),
        EditCells(),
        RunCells(),
        WaitRun(),
        RunCode(),
        InspectVariables(),
        CreateNotebook(),
        ListKernels(),
        ManageKernel(),
        InstallPackages(),
    ]
    compound: list[Tool] = [
        AddCell(),
        EditCell(),
        RunCell(),
        RenameVariable(),
        AddText(),
        DeleteCellTool(),
    ]
    return [
        *file_tools(),
        *(for_notebooks if notebooks else ()),
        ExecuteCommand(),
        ReadCommandOutput(),
        FetchUrl(),
        *(tool() for tool in (MEMORY_TOOLS if memory else ())),
        *((SearchTasks(),) if past else ()),
        *(tool() for tool in MCP_TOOLS),
        AskFollowupQuestion(),
        UpdateTodoList(),
        SwitchMode(),
        NewTask(),
        AttemptCompletion(),
        *(compound if notebooks else ()),
        AnswerTool(),
    ]


def program_tools(*, notebooks: bool = True, past: bool = True) -> list[Tool]:
    """What programs outside may call: nothing that steers a task of ours, and nothing that they have themselves."""
    for_notebooks: list[Tool] = [
        ListNotebooks(),
        ReadNotebook(),
        EditCells(),
        RunCells(),
        WaitRun(),
        RunCode(),
        InspectVariables(),
        CreateNotebook(),
        ListKernels(),
        ManageKernel(),
        InstallPackages(),
    ]
    return [
        *(for_notebooks if notebooks else ()),
        *file_tools(),
        ExecuteCommand(),
        ReadCommandOutput(),
        SearchMemory(),
        ReadMemory(),
        *((SearchTasks(),) if past else ()),
    ]


def file_tools() -> list[Tool]:
    """Those that reach the files of a folder and nothing else."""
    return [ReadFile(), ListFiles(), SearchFiles(), WriteToFile(), ApplyDiff(), SearchReplace()]


class ToolRegistry:
    """The tools there are. Their order is fixed, so that a conversation's requests begin alike."""

    def __init__(self, tools: Iterable[Tool] | None = None) -> None:
        self._tools = {tool.name: tool for tool in (built_in_tools() if tools is None else tools)}

    @property
    def names(self) -> list[str]:
        """The names of all tools, offered or not."""
        return list(self._tools)

    def specs(
        self,
        mode: ModeConfig,
        policy: OperatorPolicy,
        settings: GlobalSettings,
        *,
        tool_set: ToolSet = "full",
        mcp: McpOffer | None = None,
    ) -> list[ToolSpec]:
        """What the model is told of the tools it has in this mode, those of MCP servers last: they may change."""
        own = {
            name: self._spec(name, settings)
            for name, tool in self._tools.items()
            if isinstance(tool, CompoundTool) == (tool_set == "compound")
            and self.is_offered(name, mode, policy, settings)
        }
        specs = [spec for name, spec in own.items() if not isinstance(self._tools[name], MCP_TOOLS)]
        if mcp is None or tool_set == "compound" or not settings.mcp_enabled:
            return specs
        reaching = [spec for name, spec in own.items() if isinstance(self._tools[name], MCP_TOOLS)]
        return [*specs, *mcp_tool_specs(mcp, reaching, mode, policy, settings)]

    def is_offered(self, name: str, mode: ModeConfig, policy: OperatorPolicy, settings: GlobalSettings) -> bool:
        """Whether the tool may be used in this mode, under these settings and this operator."""
        tool = self._tools.get(name)
        if tool is None or name in settings.disabled_tools:
            return False
        if isinstance(tool, CompoundTool):
            # Whoever takes a part away takes the whole.
            return all(self.is_offered(part, mode, policy, settings) for part in tool.parts)
        if policy.allowed_tools is not None and name not in policy.allowed_tools:
            return False
        if isinstance(tool, FetchUrl) and not settings.fetch_url_enabled:
            return False
        if isinstance(tool, MEMORY_TOOLS) and not settings.memory_enabled:
            return False
        groups = {group if isinstance(group, str) else group[0] for group in mode.groups}
        return tool.group is None or tool.group in groups

    def get(self, name: str) -> Tool:
        """The tool of this name. Raises NotFound that names the nearest."""
        tool = self._tools.get(name)
        if tool is None and name.startswith(MCP_PREFIX) and len(name) <= _LONGEST_NAME:
            return named_mcp_tool(name)
        if tool is None:
            near = _nearest(name, self._tools, percent=60)
            hint = f"Did you mean {near}?" if near else f"The tools are: {', '.join(self._tools)}."
            raise NotFound(f"There is no tool {name!r}. {hint}", tool=name)
        return tool

    def validate(self, name: str, json_text: str) -> ToolArguments:
        """The arguments of a call. Raises InvalidInput that names every field that is wrong, and why."""
        tool = self.get(name)
        given = _parsed(name, json_text)
        try:
            return tool.Arguments.model_validate(given)
        except ValidationError as error:
            raise _invalid(tool, error) from None

    def _spec(self, name: str, settings: GlobalSettings) -> ToolSpec:
        suggests = settings.memory_enabled and settings.note_suggestions_enabled
        return self._completion_alone if name == AttemptCompletion.name and not suggests else self._specs[name]

    @cached_property
    def _completion_alone(self) -> ToolSpec:
        """``attempt_completion`` where it may suggest no note."""
        spec = self._specs[AttemptCompletion.name]
        properties = spec.parameters["properties"]
        assert isinstance(properties, dict)
        left = {key: value for key, value in properties.items() if key != _SUGGESTION}
        rest = {key: value for key, value in spec.parameters.items() if key != "$defs"}
        return ToolSpec(spec.name, spec.description, {**rest, "properties": left})

    @cached_property
    def _specs(self) -> Mapping[str, ToolSpec]:
        return {
            name: ToolSpec(name, tool.description, tool_schema(tool.Arguments)) for name, tool in self._tools.items()
        }


@cache
def tool_schema(arguments: type[ToolArguments]) -> JsonObject:
    """The JSON schema of a tool's arguments, with nothing in it a model does not need. It is for reading."""
    schema: JsonObject = arguments.model_json_schema()
    schema.pop("description", None)
    _drop_titles(schema)
    return schema


def _drop_titles(node: JsonValue) -> None:
    if isinstance(node, list):
        for each in node:
            _drop_titles(each)
    elif isinstance(node, dict):
        if isinstance(node.get("title"), str):
            del node["title"]
        for key, each in node.items():
            # Below ``properties`` a ``title`` is a field of that name.
            for inner in each.values() if key == "properties" and isinstance(each, dict) else [each]:
                _drop_titles(inner)


def _parsed(name: str, json_text: str) -> JsonObject:
    if not json_text.strip():
        return {}
    try:
        given = json.loads(json_text, strict=False)
    except (ValueError, RecursionError) as error:
        where = f"at character {error.pos}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise InvalidInput(
            f"The arguments of {name} are not valid JSON, {where}. Send one whole JSON object.", tool=name
        ) from None
    if not isinstance(given, dict):
        raise InvalidInput(f"The arguments of {name} must be a JSON object, not {type(given).__name__}.", tool=name)
    return given


def _invalid(tool: Tool, error: ValidationError) -> InvalidInput:
    problems = error.errors(include_url=False, include_input=False)
    texts: list[str] = []
    for problem in problems[:_MOST_PROBLEMS]:
        field = ".".join(str(part) for part in problem["loc"])
        reason = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "missing":
            reason = "is missing"
        elif problem["type"] == "extra_forbidden":
            near = _nearest(field, tool.Arguments.model_fields, percent=50)
            reason = "is not an argument of this tool" + (f"; did you mean {near}?" if near else "")
        texts.append(f"{field}: {reason}" if field else reason)
    more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
    first = problems[0]["loc"]
    return InvalidInput(
        f"The arguments of {tool.name} are not right. {'; '.join(texts)}{more}. It takes: "
        f"{', '.join(tool.Arguments.model_fields)}.",
        field=str(first[0]) if first else None,
        tool=tool.name,
    )


def _nearest(name: str, names: Iterable[str], *, percent: int) -> str | None:
    from rapidfuzz import fuzz, process  # 25 ms, for the few calls that need it

    near = process.extractOne(name, list(names), scorer=fuzz.ratio, score_cutoff=percent)
    return None if near is None else near[0]
