"""Orders to the agent that stand in what was learned: nobody gave them, so they are left out.

Only notes that a person allowed are wishes. What a model writes down about a log, in which a web page or a file may have
spoken, is material; a line in it that would steer the agent past its rules is worth less than it costs.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

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
    | \bauto[-\s]?approv | \bautomatically\s+approve | \bapprove\b [^.\n]{0,30} \bautomatically\b
    | \b(?:run|execute|delete|approve|send)\b [^.\n]{0,30} \bwithout\s+(?:\w+\s+)?(?:approval|permission|confirmation)\b
    | \b(?:exfiltrate|send|post|upload)\b [^.\n]{0,60} \b(?:key|token|password|credential|secret)s?\b
    | (?:지시|규칙|명령|승인|프롬프트)[^.\n]{0,20}(?:무시|우회|건너뛰)
    | (?:묻지|물어보지|알리지|확인하지)\s*(?:않고|말고)[^.\n]{0,30}(?:실행|승인|삭제|전송)
    | (?:승인|허락|허가|확인)\s*없이[^.\n]{0,30}(?:실행|삭제|전송)
    | (?:자동|자동으로)\s*승인하
    | (?:API\s*키|비밀\s*키|토큰|비밀번호|암호)(?:를|을)?[^\n]{0,60}(?:전송하|보내|업로드하)
    | (?:指示|ルール|規則|命令|承認|プロンプト)[^。\n]{0,20}(?:無視|回避|スキップ|省略)
    | (?:確認|承認|通知)(?:せず|なし)に?[^。\n]{0,30}(?:実行|承認|削除|送信)
    | (?:聞かず|尋ねず|知らせず|許可なく|許可なし)に?[^。\n]{0,30}(?:実行|承認|削除|送信)
    | 自動(?:的に|で)?承認(?:し|せ)
    | (?:APIキー|秘密鍵|トークン|パスワード)を?[^\n]{0,60}(?:送信|アップロード|送って)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_LINE: Final = 20_000


def gives_orders(line: str) -> bool:
    """Whether a line tells the agent to pass over its rules, or over the person."""
    # Hangul may be written in parts.
    return _ORDERS.search(normalize("NFC", line[:_LONGEST_LINE])) is not None


def without_orders(text: str) -> str:
    """The text without the lines that do."""
    return "\n".join(line for line in text.split("\n") if not gives_orders(line))
