"""Which rules would spare a person the question that waits: asked for by the page, answered by the approval engine."""

from typing import Literal

from ._base import Message, Timestamp
from ._errors import ErrorBody
from ._webview_base import Request

__all__ = ["RuleSuggestion", "RuleSuggestionsMessage", "SuggestRulesRequest"]


class SuggestRulesRequest(Request):
    """Ask which rules would approve what the question ``messageTs`` is about."""

    type: Literal["suggestRules"] = "suggestRules"
    message_ts: Timestamp


class RuleSuggestion(Message):
    """One rule: words for ``allowedCommands``, or the name of a setting to switch on.

    ``command`` is the part of the command line that the words would allow; of several rules for one part one is enough,
    and the first allows least.
    """

    kind: Literal["command", "class"]
    value: str
    label: str | None = None
    command: str | None = None


class RuleSuggestionsMessage(Message):
    """The rules that are accepted: every setting, and one rule of each command, together approve it.

    Where no rule could approve it there are none, and ``reason`` says why.
    """

    type: Literal["ruleSuggestions"] = "ruleSuggestions"
    request_id: str
    task_id: str
    message_ts: int
    rules: list[RuleSuggestion]
    reason: ErrorBody | None = None
