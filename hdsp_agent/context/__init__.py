"""What the model sees: what is cut, what is sent, how much it is, and what is carried over when it is condensed.

All of this is computed from messages; nothing here asks a model, reads a file or knows a tool.
"""

from __future__ import annotations

from ._calibration import Calibration
from ._call_pairs import without_messages
from ._carried_facts import CarryLimits, carried_from
from ._compaction_placeholder import compaction_placeholder
from ._content_blocks import IMAGE_OMITTED, NOTHING_SAID, has_thoughts, without_blanks
from ._handover import (
    COMPACTION_PROMPT,
    SECTIONS,
    SUMMARY_PREFIX,
    Carried,
    SummaryCheck,
    check_summary,
    hand_over,
    hand_over_message,
    parsed_hand_over,
)
from ._history_snapshot import HistorySnapshot
from ._image_total import PICTURE_LEFT_OUT, within_picture_total
from ._notebook_outputs import (
    ImageNote,
    ModelImageLimits,
    fitted_size,
    has_shape,
    outputs_told,
    pictures_told,
    texts_told,
)
from ._progress_bars import last_written
from ._pruning import Pruner, Pruning, PruningSettings
from ._sent_history import BEGINNING_HIDDEN, SentHistory, normalized
from ._token_estimate import (
    APPROX_BYTES_PER_TOKEN,
    IMAGE_BYTES_ESTIMATE,
    Counting,
    TokenCounter,
    TokenParts,
    used_tokens,
    utf8_length,
)
from ._truncation import (
    DEFAULT_TOOL_OUTPUT,
    TOOL_OUTPUT_FACTOR,
    Budget,
    Cut,
    cut,
    room_for_output,
    truncated,
    truncated_items,
    truncated_output,
    truncation_header,
)
from ._user_messages import COMPACT_USER_MESSAGE_MAX_TOKENS, KeptWords, Speaker, is_hand_over, kept_words
from ._window_monitor import (
    ADVICE,
    ContextMonitor,
    ContextThresholds,
    DegradationWatch,
    Meter,
    NoticeKind,
    WindowNotice,
    condense_percent,
    meter,
    room_of,
)

__all__ = [
    "ADVICE",
    "APPROX_BYTES_PER_TOKEN",
    "BEGINNING_HIDDEN",
    "COMPACTION_PROMPT",
    "COMPACT_USER_MESSAGE_MAX_TOKENS",
    "DEFAULT_TOOL_OUTPUT",
    "IMAGE_BYTES_ESTIMATE",
    "IMAGE_OMITTED",
    "NOTHING_SAID",
    "PICTURE_LEFT_OUT",
    "SECTIONS",
    "SUMMARY_PREFIX",
    "TOOL_OUTPUT_FACTOR",
    "Budget",
    "Calibration",
    "Carried",
    "CarryLimits",
    "ContextMonitor",
    "ContextThresholds",
    "Counting",
    "Cut",
    "DegradationWatch",
    "HistorySnapshot",
    "ImageNote",
    "KeptWords",
    "Meter",
    "ModelImageLimits",
    "NoticeKind",
    "Pruner",
    "Pruning",
    "PruningSettings",
    "SentHistory",
    "Speaker",
    "SummaryCheck",
    "TokenCounter",
    "TokenParts",
    "WindowNotice",
    "carried_from",
    "check_summary",
    "compaction_placeholder",
    "condense_percent",
    "cut",
    "fitted_size",
    "hand_over",
    "hand_over_message",
    "has_shape",
    "has_thoughts",
    "is_hand_over",
    "kept_words",
    "last_written",
    "meter",
    "normalized",
    "outputs_told",
    "parsed_hand_over",
    "pictures_told",
    "room_for_output",
    "room_of",
    "texts_told",
    "truncated",
    "truncated_items",
    "truncated_output",
    "truncation_header",
    "used_tokens",
    "utf8_length",
    "within_picture_total",
    "without_blanks",
    "without_messages",
]
