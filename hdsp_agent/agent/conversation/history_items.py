"""A task's line in the history, and what is set for it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue
from typing_extensions import TypedDict

from ...config import ApprovalPreset, GlobalSettings, OperatorPolicy, overridden
from ...messages import HistoryItem, HistoryStatus, JsonObject, NotebookRef, Rename
from ...persistence import TaskMetadata, parse_iso_time

__all__ = ["HistoryItemChange", "TaskConfig", "fresh_item"]

_EXTERNAL_AGENT: Final = "externalAgent"


class HistoryItemChange(TypedDict, total=False):
    """The fields of a history item that change while a task is worked on."""

    title: str | None
    is_favorited: bool | None
    memory_off: bool | None
    approval_preset: ApprovalPreset | None
    notebook: NotebookRef | None
    renames: list[Rename]
    pictures: int | None
    status: HistoryStatus
    mode: str
    api_config_name: str
    delegated_to_id: str | None
    child_ids: list[str]
    awaiting_child_id: str | None
    completed_by_child_id: str
    completion_result_summary: str


@dataclass(frozen=True)
class TaskConfig:
    """What ``metadata.json`` says of the task's own settings. A fork pays only for what came after ``forked_at``.

    ``external_agent`` is the name of the program outside whose calls it holds.
    """

    overrides: Mapping[str, JsonValue] = field(default_factory=dict)
    forked_at: int = 0
    external_agent: str | None = None

    @classmethod
    def of(cls, config: JsonObject) -> TaskConfig:
        """Read what ``to_json`` wrote; what others wrote there is not ours."""
        overrides, forked_at, program = config.get("settings"), config.get("forkedAt"), config.get(_EXTERNAL_AGENT)
        return cls(
            overrides if isinstance(overrides, dict) else {},
            forked_at if isinstance(forked_at, int) else 0,
            program if isinstance(program, str) else None,
        )

    def to_json(self) -> JsonObject:
        """What goes into the metadata. Keys never do: only settings have names here."""
        known = {info.alias for info in GlobalSettings.model_fields.values()}
        settings = {name: value for name, value in self.overrides.items() if name in known}
        return {
            **({"settings": settings} if settings else {}),
            **({"forkedAt": self.forked_at} if self.forked_at else {}),
            **({_EXTERNAL_AGENT: self.external_agent} if self.external_agent else {}),
        }

    def settings(self, base: GlobalSettings, policy: OperatorPolicy) -> GlobalSettings:
        """The person's settings with the task's own over them, and the operator's over those."""
        if not self.overrides:
            return base
        return overridden(base, self.overrides, policy)


def fresh_item(metadata: TaskMetadata) -> HistoryItem:
    """The line of a task that has none yet."""
    began = parse_iso_time(metadata.created_at)
    return HistoryItem(
        id=metadata.uuid,
        number=0,
        ts=int(began.timestamp() * 1000) if began else 0,
        task="",
        tokens_in=0,
        tokens_out=0,
        total_cost=0.0,
        status="active",
        parent_task_id=metadata.parent_task_id,
        root_task_id=metadata.root_task_id,
        forked_from=metadata.forked_from,
        workspace=metadata.workspace,
        notebook=metadata.notebook,
        mode=metadata.mode,
        external_agent=TaskConfig.of(metadata.config).external_agent,
    )
