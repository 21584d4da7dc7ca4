"""Numbers of an answer that are no results: names of cells, dates, versions, what a test goes by, numbers of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["NO_COUNT", "NO_LABEL_BEFORE", "without_code", "without_mentions"]

_FENCED: Final = re.compile(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1[`~]*+[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE_SPAN: Final = re.compile(r"`([^`\n]{1,300})`")
_IS_CODE: Final = re.compile(
    r"\w[(\[]|\w=[^=\s]|[A-Za-z_]\w{0,99}\s?(?:[<>]=?|[!=]=)|(?<!\S)--?[A-Za-z]|(?<!\S)[.~]{0,2}/\w|[A-Za-z_]\.[a-z_]|\w\*\*"
)
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
NO_LABEL_BEFORE: Final = "".join(
    rf"(?<!\b{word}\s)" for word in ("this", "that", "each", "per", "every", "any", "same", "whole", "single")
)
"""Whatever is between a word such as day and these has no number for a name: On that day 842 orders came."""
NO_COUNT: Final = r"(?!\s[a-z]{2,20}s\s(?:are|were|have|had|remain|stay|come|came|go|went|fall|fell|rise|rose|left|do|did|get|got)(?![a-z]))"
"""After a number that is a name comes no noun in the plural: In case 1234 rows were dropped."""
_LABEL: Final = (
    r"(?:(?<![A-Za-z])"
    + NO_LABEL_BEFORE
    + r"(?:cell|line|row|column|col|index|step|part|section|chapter|figure|fig\.|table|question|item|page|port|error|code|HTTP"
    r"|status|issue|exercise|week|day|room|route|bus|gate|lane)|(?:셀|줄|행|열|인덱스|단계|장|절|그림|표|질문|항목|쪽|페이지|포트|오류|코드)"
    r"|(?:セル|行|列|インデックス|ステップ|パート|章|節|図|表|質問|項目|ページ|ポート|エラー|コード))"
)
_LABELS: Final = (
    r"(?:(?<![A-Za-z])(?:cells|lines|rows|columns|steps|parts|figures|tables|questions|items|pages)|셀|セル)"
)
_ONE_MORE: Final = r"\s{0,2}(?:,|and|to|[-–~〜]|[와과]|と|から)\s{0,2}\d{1,5}(?![\d.,]*\d|\s?[%％])"
_SHARE: Final = r"(?:80|90|95|98|99(?:\.\d)?)\s?(?:[%％]|percent(?![A-Za-z])|퍼센트|パーセント)"
_LEVEL: Final = r"0?\.(?:10?|0{0,3}[15]0?)(?!\d)"
_LIBRARY: Final = (
    r"(?:Python|pandas|numpy|polars|scipy|matplotlib|seaborn|scikit-learn|sklearn|statsmodels|torch|PyTorch|TensorFlow|Keras"
    r"|XGBoost|LightGBM|JupyterLab|Jupyter|CUDA)"
)
_KINDS: Final[Sequence[str]] = (
    r"https?://\S+",
    # Cells, lines, figures, error codes: what has a number for a name. Of several rows that is known only of ranges.
    _LABEL
    + r"\s{0,2}(?:no\.?|number|번호|번|番号)?\s{0,2}\#?\[?\d{1,5}\]?(?![\d.,]*\d|\s?[%％]|\s?[개건명個件])"
    + NO_COUNT,
    r"(?:(?<![A-Za-z])cells|셀|セル)\s{0,2}\#?\[?\d{1,5}(?:" + _ONE_MORE + r")*+\]?",
    _LABELS + r"\s{0,2}\d{1,5}(?:" + _ONE_MORE + r")++",
    r"(?<![A-Za-z])(?:in|out)\s{0,2}\[\d{1,9}\]",
    r"(?<!\d)\d{1,5}\s{0,2}(?:번째?|番目?)\s{0,2}の?\s{0,2}(?:셀|セル)",
    # What is so many in a row.
    r"(?<!\d)\d{1,5}(?:\s?번째|[위등]|番目|[行列回日週年]目|[位等]|호실|호선|号室|号線|번\s버스|番の|주차|\s?(?:일|주|개월|년)\s?[차째])",
    r"(?<![가-힣])제\s?\d{1,5}\s?[회차장절호항조과부권편대기분단위]|第\s?\d{1,5}",
    r"(?<![\d.])\d{1,9}(?:\.\d+)?(?:st|nd|rd|th)(?![A-Za-z])",
    # Dates and times.
    r"(?<!\d)\d{4}(?:s(?![A-Za-z])|년대|年代|年度)|(?<![A-Za-z])(?:Q[1-4]|H[12]|FY)[ -]?'?\d{2,4}(?!\d)",
    r"(?<!\d)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|(?<!\d)\d{1,2}/\d{1,2}/\d{2,4}(?!\d)",
    r"(?<!\d)\d{4}\s?[년年](?:\s?\d{1,2}\s?[월月](?:\s?\d{1,2}\s?[일日])?)?|(?<!\d)\d{1,2}\s?[월月]\s?\d{1,2}\s?[일日]",
    r"(?<![A-Za-z])(?:\d{1,2}\s)?" + _MONTH + r"\s(?:\d{4}|\d{1,2}(?:,?\s\d{4})?)(?![\d.,]*\d)",
    r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)|(?<![\d.])\d{1,2}\s?(?:[ap]\.?m(?![A-Za-z])|noon|o'clock)",
    r"(?<![\d.])\d{1,2}(?:시(?!간)(?:\s?\d{1,2}분)?|時(?!間)(?:\s?\d{1,2}分)?)",
    # Versions, and names of models.
    r"(?<![\d.])\d{1,9}(?:\.\d{1,9}){2,}",
    r"(?:(?<![A-Za-z])(?:version|v|" + _LIBRARY + r")|버전|バージョン)\s?\d{1,5}(?:\.\d{1,5}){0,3}",
    r"(?<![\d.])\d{1,5}\.\d{1,5}\s?(?:버전|バージョン)",
    r"(?<![A-Za-z])(?:Llama|Qwen|Gemma|Mistral|Phi|GPT|Claude|Gemini|DeepSeek)[- ]?\d{1,4}(?:\.\d{1,2})?[A-Za-z]?(?![A-Za-z])",
    r"(?<![A-Za-z])(?:Windows|macOS|Ubuntu|Debian|Android|iOS|iPhone|iPad|Pixel|Galaxy|RTX|GTX|Ryzen|Excel|Office)\s\d{1,5}(?![\d.,]*\d)",
    # What a test goes by.
    r"(?:(?<![A-Za-z])p(?:[- ]?values?|값|値)?[은이는がは]?\s?(?:[<>≤≥]=?|(?:is|are|was|were)?\s?(?:below|above|under|over|less\sthan))?\s?"
    r"|(?:significance\slevel|alpha|α|유의\s?수준|有意水準)[은이는がは]?\s?(?:of|is|=|:)?\s?)" + _LEVEL,
    r"(?<![\d.,])"
    + _SHARE
    + r"(?:의|の)?\s?(?:confidence|credible|prediction|interval|CI(?![A-Za-z])|신뢰|구간|信頼|区間)",
    r"(?:confidence|신뢰도|신뢰수준|信頼度|信頼水準)\s?(?:level\s)?(?:of\s)?" + _SHARE,
    # Over what something is computed, how large a picture is, and on what it runs.
    r"(?:top|bottom|upper|lower|highest|lowest|상위|하위|上位|下位)\s?\d{1,3}(?:\.\d{1,3})?\s?(?:[%％]|percent(?![A-Za-z])|퍼센트|パーセント)",
    r"(?<![\d.,])\d{1,3}(?:\.\d{1,3})?\s?[%％]?\s?(?:quantile|percentile|백?분위|分位|パーセンタイル)",
    r"(?<![\d.,])\d{1,5}\s?[x×]\s?(?!10\s?[\^*⁻⁰¹²³⁴⁵⁶⁷⁸⁹])\d{1,5}(?![\d.,]*\d)|(?<![\d.,])\d{1,5}\s?(?:dpi|px|pixels|픽셀|ピクセル)",
    r"(?<![\d.,])\d{1,4}\s?(?:cores?(?![A-Za-z])|코어|コア|bits?(?![A-Za-z])|비트|ビット)|코어\s?\d{1,4}개",
    r"(?<![\d.,])\d{1,5}-(?:fold\s(?:cross|CV)|(?!fold)[A-Za-z])",
    r"(?<![\d.,])\d{1,5}(?:일|주|개월|시간|분)(?:간)?의?\s?(?:이동|평균|창|간격)|(?<![\d.,])\d{1,5}겹",
    r"(?<![\d.,])\d{1,5}(?:日|週|[かヶカ]月|時間|分)(?:間)?の?(?:移動|平均|窓|間隔)|(?<![\d.,])\d{1,5}分割",
    # Works that are cited.
    r"(?<=[A-Za-z.]\s)\((?:1[89]|20)\d{2}[a-z]?\)|(?-i:(?<![A-Za-z])[A-Z][a-z]{1,30}),\s(?:1[89]|20)\d{2}(?!\d|[.,]\d)",
    r"(?<![A-Za-z0-9_\])])\[\d{1,3}\](?!\()",
    # The numbers of a list.
    r"^[ \t>*+-]{0,20}\(?\d{1,9}[.)][ \t]|^\#{1,6}[ \t]+\d{1,5}(?:\.\d{1,5}){0,5}",
)
_MENTION: Final = re.compile("|".join(_KINDS), re.IGNORECASE | re.MULTILINE)


def without_code(answer: str) -> str:
    """The answer without blocks of code, and with blanks in the place of what is code in a line."""
    return _CODE_SPAN.sub(_blank_if_code, _FENCED.sub("", answer))


def without_mentions(plain: str) -> str:
    """An answer without code, with blanks in the place of numbers that are no results."""
    return _MENTION.sub(_blank, plain)


def _blank_if_code(found: re.Match[str]) -> str:
    """Values are set as code, too; what is called, or given to something, is no result."""
    return _blank(found) if _IS_CODE.search(found[1]) else found[0]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
