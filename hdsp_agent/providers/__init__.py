"""Talking to models: one adapter a wire protocol, what is known of the models, and what their refusals mean.

Importing this package imports no SDK.
"""

from __future__ import annotations

from ._anthropic_stream import anthropic_usage
from ._cache_marks import cache_marks
from ._chat_usage import chat_usage
from ._error_classifier import classify, is_silently_truncated, refuses_thoughts
from ._factory import open_client
from ._fill_in import FillInClient, Filling, Gap, can_fill_in, open_fill_in
from ._key_check import KeyVerdict, check_key
from ._model import (
    KnownModel,
    ModelClient,
    ModelEvent,
    ModelRequest,
    Stop,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    ToolSpec,
    UsageReport,
    cost_of,
)
from ._model_answer import ModelAnswer, parsed_arguments
from ._model_catalogue import ModelEntry, known_models
from ._model_error import ERROR_CLASSES, PUBLIC_CLASSES, REMEDIES, ErrorClass, ModelError
from ._model_info import model_info
from ._model_listing import list_models
from ._provider_compaction import CompactingClient, Compaction, CompactionOffers, EncryptedItemRefused, sealed_items
from ._provider_connection import connection_of
from ._responses_usage import responses_usage
from ._scripted import ScriptedModel, call_tool, say
from ._token_counting import count_tokens
from ._transport import Timeouts

__all__ = [
    "ERROR_CLASSES",
    "PUBLIC_CLASSES",
    "REMEDIES",
    "CompactingClient",
    "Compaction",
    "CompactionOffers",
    "EncryptedItemRefused",
    "ErrorClass",
    "FillInClient",
    "Filling",
    "Gap",
    "KeyVerdict",
    "KnownModel",
    "ModelAnswer",
    "ModelClient",
    "ModelEntry",
    "ModelError",
    "ModelEvent",
    "ModelRequest",
    "ScriptedModel",
    "Stop",
    "TextDelta",
    "ThinkingDelta",
    "ThinkingDone",
    "Timeouts",
    "ToolCallDelta",
    "ToolCallDone",
    "ToolCallStart",
    "ToolSpec",
    "UsageReport",
    "anthropic_usage",
    "cache_marks",
    "call_tool",
    "can_fill_in",
    "chat_usage",
    "check_key",
    "classify",
    "connection_of",
    "cost_of",
    "count_tokens",
    "is_silently_truncated",
    "known_models",
    "list_models",
    "model_info",
    "open_client",
    "open_fill_in",
    "parsed_arguments",
    "refuses_thoughts",
    "responses_usage",
    "say",
    "sealed_items",
]
