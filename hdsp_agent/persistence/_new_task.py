"""What is written of a task before anything happens in it, wherever it is kept."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from .._iso_time import iso_time
from ..messages import NotebookRef, TaskId
from ._records import StoredTaskState, TaskKey, TaskMetadata

__all__ = ["NewTaskRecord", "first_records"]


@dataclass(frozen=True)
class NewTaskRecord:
    """What is known of a task before it begins. ``task_id`` is given only by who brings a task from elsewhere."""

    task_key: TaskKey = field(default_factory=TaskKey)
    config: Mapping[str, JsonValue] = field(default_factory=dict)
    user: str | None = None
    parent_task_id: TaskId | None = None
    root_task_id: TaskId | None = None
    forked_from: TaskId | None = None
    workspace: str | None = None
    notebook: NotebookRef | None = None
    mode: str | None = None
    task_id: TaskId | None = None


def first_records(new: NewTaskRecord) -> tuple[TaskMetadata, StoredTaskState]:
    """The metadata and the state the task begins with."""
    now = iso_time()
    task_id = new.task_id or TaskId(str(uuid.uuid4()))
    key = new.task_key if new.task_key.task_id else new.task_key.model_copy(update={"task_id": task_id})
    metadata = TaskMetadata(
        uuid=task_id, task_key=key, created_at=now,
        process_id=os.getpid(), hostname=socket.gethostname(), config=dict(new.config), user=new.user,
        parent_task_id=new.parent_task_id, root_task_id=new.root_task_id, forked_from=new.forked_from,
        workspace=new.workspace, notebook=new.notebook, mode=new.mode,
    )  # fmt: skip
    return metadata, StoredTaskState(status="initializing", started_at=now, updated_at=now)
