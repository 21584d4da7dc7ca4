"""What the model sees: what is cut, what is sent, how much it is, and what is carried over when it is condensed.

All of this is computed from messages; nothing here asks a model, reads a file or knows a tool.
"""

from __future__ import annotations

from ._as_it_was import AsItWas
from ._blocks import IMAGE_OMITTED, NOTHING_SAID, has_thoughts, without_blanks
from ._calibration import Calibration
from ._carrying import CarryLimits, carried_from
from ._hand_over import (
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
from ._monitor import (
    ADVICE,
    ContextMonitor,
    ContextThresholds,
    DegradationWatch,
    Meter,
    Notice,
    NoticeKind,
    condense_percent,
    meter,
    room_of,
)
from ._outputs import ImageLimits, ImageNote, fitted_size, has_shape, outputs_told, pictures_told, texts_told
from ._pairing import without_messages
from ._picture_total import PICTURE_LEFT_OUT, within_picture_total
from ._progress import last_written
from ._pruning import Pruner, Pruning, PruningSettings
from ._sent_history import BEGINNING_HIDDEN, SentHistory, normalized
from ._stand_in import stand_in
from ._tokens import (
    APPROX_BYTES_PER_TOKEN,
    IMAGE_BYTES_ESTIMATE,
    Counting,
    Parts,
    TokenCounter,
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
from ._user_words import COMPACT_USER_MESSAGE_MAX_TOKENS, KeptWords, Speaker, is_hand_over, kept_words

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
    "AsItWas",
    "Budget",
    "Calibration",
    "Carried",
    "CarryLimits",
    "ContextMonitor",
    "ContextThresholds",
    "Counting",
    "Cut",
    "DegradationWatch",
    "ImageLimits",
    "ImageNote",
    "KeptWords",
    "Meter",
    "Notice",
    "NoticeKind",
    "Parts",
    "Pruner",
    "Pruning",
    "PruningSettings",
    "SentHistory",
    "Speaker",
    "SummaryCheck",
    "TokenCounter",
    "carried_from",
    "check_summary",
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
    "stand_in",
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
