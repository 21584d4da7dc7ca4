"""Orders to the agent that stand in what was learned: nobody gave them, so they are left out.

Only notes that a person allowed are wishes. What a model writes down about a log, in which a web page or a file may have
spoken, is material; a line in it that would steer the agent past its rules is worth less than it costs.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["gives_orders", "without_orders"]

_ORDERS: Final = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass|skip)\b [^.\n]{0,60}
        \b(?:instruction|rule|guideline|polic(?:y|ies)|prompt|approval|permission|restriction|safeguard)s?\b
    | \b(?:system|developer)\s+(?:prompt|message)\b
    | \byou\s+are\s+now\b
    | \b(?:without|never|don't|do\s+not|no\s+need\s+to)\b [^.\n]{0,30}
        \b(?:ask(?:ing)?|tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|warn(?:ing)?)\b [^.\n]{0,30}
        \b(?:user|person|approval|permission|human|owner|them)\b
    | \bauto[-\s]?approv
    | \b(?:exfiltrate|send|post|upload)\b [^.\n]{0,60} \b(?:key|token|password|credential|secret)s?\b
    | (?:지시|규칙|명령|승인|프롬프트)[^.\n]{0,20}(?:무시|우회|건너뛰)
    | (?:묻지|알리지|확인하지)\s*(?:않고|말고)[^.\n]{0,30}(?:실행|승인|삭제|전송)
    | (?:指示|ルール|規則|命令|承認|プロンプト)[^。\n]{0,20}(?:無視|回避|スキップ|省略)
    | (?:確認|承認|通知)(?:せず|なし)に?[^。\n]{0,30}(?:実行|承認|削除|送信)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_LINE: Final = 20_000


def gives_orders(line: str) -> bool:
    """Whether a line tells the agent to pass over its rules, or over the person."""
    return _ORDERS.search(line[:_LONGEST_LINE]) is not None


def without_orders(text: str) -> str:
    """The text without the lines that do."""
    return "\n".join(line for line in text.split("\n") if not gives_orders(line))
