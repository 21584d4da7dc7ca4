"""What is written of a task before anything happens in it, wherever it is kept."""

from __future__ import annotations

import os
import socket
import uuid

from .._iso_time import iso_time
from ..messages import TaskId
from ._protocol import NewTaskRecord
from ._records import StoredTaskState, TaskMetadata

__all__ = ["first_records"]


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
