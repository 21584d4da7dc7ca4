"""How errors and notices are told to the page."""

from typing import Literal

from ..errors import HdspAgentError
from ._base import Message

__all__ = ["ErrorBody", "Notice", "NoticeLevel", "error_body"]

NoticeLevel = Literal["info", "warning", "error"]
Params = dict[str, str | int | float | bool | None]


class ErrorBody(Message):
    """What went wrong: a stable code, an English sentence, and what a translation of the code fills in."""

    code: str
    message: str
    params: Params
    field: str | None = None


class Notice(Message):
    """Something a person should know until it is mended or dismissed."""

    id: str
    level: NoticeLevel
    code: str
    message: str
    params: Params


def error_body(error: HdspAgentError) -> ErrorBody:
    """The error in the form in which it crosses the wire."""
    return ErrorBody(code=error.code, message=error.message, params=dict(error.params), field=error.field)
