"""What the model sees: what is cut, what is sent, how much it is, and what is carried over when it is condensed.

All of this is computed from messages; nothing here asks a model, reads a file or knows a tool.
"""

from __future__ import annotations

from ._calibration import Calibration
from ._carried_facts import CarryLimits, carried_from
from ._compaction_placeholder import compaction_placeholder
from ._content_blocks import (
    has_thoughts,
    without_blanks,
    without_images,
)
from ._handover import (
    COMPACTION_PROMPT,
    SUMMARY_PREFIX,
    Carried,
    check_summary,
    hand_over,
)
from ._image_total import within_picture_total
from ._notebook_outputs import (
    fair_share,
    has_shape,
    texts_told,
)
from ._progress_bars import last_written
from ._pruning import Pruner, PruningSettings
from ._sent_history import (
    SentHistory,
)
from ._token_estimate import (
    APPROX_BYTES_PER_TOKEN,
    TokenCounter,
    TokenParts,
    used_tokens,
    utf8_length,
)
from ._truncation import (
    TOOL_OUTPUT_FACTOR,
    Budget,
    room_for_output,
    truncated,
    truncated_items,
    truncation_header,
)
from ._user_messages import COMPACT_USER_MESSAGE_MAX_TOKENS, KeptWords, Speaker, is_hand_over, kept_words
from ._window_monitor import (
    ContextMonitor,
    DegradationWatch,
    Meter,
    NoticeKind,
    condense_percent,
    meter,
    room_of,
)

__all__ = [
    "APPROX_BYTES_PER_TOKEN",
    "COMPACTION_PROMPT",
    "COMPACT_USER_MESSAGE_MAX_TOKENS",
    "SUMMARY_PREFIX",
    "TOOL_OUTPUT_FACTOR",
    "Budget",
    "Calibration",
    "Carried",
    "CarryLimits",
    "ContextMonitor",
    "DegradationWatch",
    "KeptWords",
    "Meter",
    "NoticeKind",
    "Pruner",
    "PruningSettings",
    "SentHistory",
    "Speaker",
    "TokenCounter",
    "TokenParts",
    "carried_from",
    "check_summary",
    "compaction_placeholder",
    "condense_percent",
    "fair_share",
    "hand_over",
    "has_shape",
    "has_thoughts",
    "is_hand_over",
    "kept_words",
    "last_written",
    "meter",
    "room_for_output",
    "room_of",
    "texts_told",
    "truncated",
    "truncated_items",
    "truncation_header",
    "used_tokens",
    "utf8_length",
    "within_picture_total",
    "without_blanks",
    "without_images",
]
