"""The base of what the page sends."""

from typing import Annotated

from pydantic import Field

from ._base import Message, RequestId, TaskIdField

__all__ = ["Request"]


class Request(Message):
    """A message of the page. It gets exactly one answer, named by ``request_id``."""

    request_id: Annotated[RequestId, Field(min_length=1, max_length=128)]
    task_id: TaskIdField | None = None
