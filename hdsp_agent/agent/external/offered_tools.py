"""Which tools programs outside are offered, and what is said of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ...config import GlobalSettings, ModeConfig, OperatorPolicy
from ...messages import JsonObject
from ...providers import ToolSpec
from ...tools import Tool, ToolRegistry, output_schema
from .port import OfferedTool

__all__ = ["ANNOTATIONS", "Annotation", "ExternalTools"]


@dataclass(frozen=True)
class Annotation:
    """What a program may tell its own person of a tool. ``destructive``: it may change or take away what is there."""

    title: str
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


def _reads(title: str) -> Annotation:
    return Annotation(title, read_only=True, idempotent=True)


ANNOTATIONS: Final[Mapping[str, Annotation]] = {
    "list_notebooks": _reads("List notebooks"),
    "read_notebook": _reads("Read a notebook"),
    "edit_cells": Annotation("Edit cells", destructive=True),
    "run_cells": Annotation("Run cells", destructive=True, open_world=True),
    "wait_run": Annotation("Wait for cells", idempotent=True),
    "run_code": Annotation("Run code", destructive=True, open_world=True),
    "inspect_variables": _reads("Look at variables"),
    "create_notebook": Annotation("Create a notebook"),
    "list_kernels": _reads("List kernels"),
    "manage_kernel": Annotation("Start, interrupt or restart a kernel", destructive=True),
    "install_packages": Annotation("Install packages", destructive=True, idempotent=True, open_world=True),
    "read_file": _reads("Read a file"),
    "list_files": _reads("List files"),
    "search_files": _reads("Search files"),
    "write_to_file": Annotation("Write a file", destructive=True, idempotent=True),
    "apply_diff": Annotation("Edit a file", destructive=True),
    "search_replace": Annotation("Replace text in a file", destructive=True),
    "execute_command": Annotation("Run a shell command", destructive=True, open_world=True),
    "read_command_output": _reads("Read a long output"),
    "search_memory": _reads("Search memory"),
    "read_memory": _reads("Read memory"),
    "search_tasks": _reads("Search past conversations"),
    "checkpoint_list": _reads("List checkpoints"),
    "checkpoint_diff": _reads("Compare checkpoints"),
    "checkpoint_restore": Annotation("Restore a checkpoint", destructive=True, idempotent=True),
    "checkpoint_undo": Annotation("Undo a restore", destructive=True),
}
"""All that may be offered, by its name."""

_PATH: Final = "; absent for the one the task is about."
_SHELL: Final = "execute_command"


class ExternalTools(ToolRegistry):
    """The tools of programs outside. A notebook is always named: there is none that such a conversation is about."""

    def is_offered(self, name: str, mode: ModeConfig, policy: OperatorPolicy, settings: GlobalSettings) -> bool:
        """The same, and shell commands only where the person wants that: most such programs have a shell of their own."""
        if name == _SHELL and not settings.mcp_server_commands:
            return False
        return super().is_offered(name, mode, policy, settings)

    def offered(self, mode: ModeConfig, policy: OperatorPolicy, settings: GlobalSettings) -> list[OfferedTool]:
        """What may be called in this mode, in an order that stays."""
        return [self._offers[spec.name] for spec in self.specs(mode, policy, settings)]

    @cached_property
    def _offers(self) -> Mapping[str, OfferedTool]:
        return {name: _offer(self.get(name), self._specs[name]) for name in self.names}


def _offer(tool: Tool, spec: ToolSpec) -> OfferedTool:
    about = ANNOTATIONS[tool.name]
    return OfferedTool(
        name=tool.name,
        title=about.title,
        description=spec.description,
        input_schema=_with_path(spec.parameters),
        output_schema=None if tool.Output is None else output_schema(tool.Output),
        read_only=about.read_only,
        destructive=about.destructive,
        idempotent=about.idempotent,
        open_world=about.open_world,
    )


def _with_path(schema: JsonObject) -> JsonObject:
    """The schema of arguments in which a notebook that may be left out elsewhere must be named."""
    properties = schema.get("properties")
    path = properties.get("path") if isinstance(properties, dict) else None
    described = path.get("description") if isinstance(path, dict) else None
    if not isinstance(properties, dict) or not isinstance(described, str) or not described.endswith(_PATH):
        return schema
    named: JsonObject = {
        "type": "string",
        "minLength": 1,
        "maxLength": 4096,
        "description": f"{described.removesuffix(_PATH)}.",
    }
    required = schema.get("required")
    others = required if isinstance(required, list) else []
    return {**schema, "properties": {**properties, "path": named}, "required": [*others, "path"]}
