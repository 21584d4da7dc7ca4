"""What a text is about, in words that differ: who asks "when" may mean "due on March 5". A thesaurus of data work, in three languages.

A concept is one word of its own in the index. It is in a passage that names it, or has what answers it: a date, a path, a score.
"""

from __future__ import annotations

import re
from typing import Final

from ..persistence import fold

__all__ = ["CHANGED", "QUESTION", "TELLING_CONCEPTS", "concepts_of", "passage_concepts"]

_FIRST_WORD: Final = 0xE010
"""Of the characters that nobody can type, from here on one is a concept's word."""

# English words are found from their beginning; words of languages without spaces between them anywhere.
_ENGLISH: Final[dict[str, str]] = {
    "place": r"where|paths?|files?|folders?|director(?:y|ies)|locat\w*|stored?|bucket|(?:[\w.-]+/)+[\w.-]+|[\w-]+\.(?:csv|parquet|feather|ipynb|py|json|xlsx?|sql|db|pkl|yaml|txt)",
    "time": r"when|dates?|deadlines?|due|until|schedul\w*|postpon\w*|by (?:when|monday|friday|the end)|(?:january|february|march|april|june|july|august|september|october|november|december) \d+|\d{4}-\d\d-\d\d",
    "person": r"who|whom|whose|contact|owns?|owners?|responsible|maintain\w*|dr\.|in charge|ask (?:him|her|them)",
    "score": r"scor\w*|results?|perform\w*|accura\w*|how (?:good|well)|got|reach\w*|0\.\d+|\d+(?:\.\d+)? ?%",
    "metric": r"metrics?|evaluat\w*|judg\w*|measur\w*|criteri\w*|auc|f1|f2|mape|rmse|mae|mse|r2|recall|precision|log loss|brier|pinball",
    "model": r"models?|algorithms?|classifier\w*|regressor\w*|train\w*|lightgbm|xgboost|catboost|random forest|(?:logistic |linear )?regression|mlp|svm|neural net\w*|transformers?|elasticnet|gradient boosting",
    "missing": r"missing|nans?|nulls?|empty|gaps?|blanks?|imput\w*|fill\w*|not available",
    "split": r"splits?|hold-?outs?|validat\w*|test set|train and test|folds?|cross-validat\w*|stratif\w*",
    "left out": r"drop\w*|exclud\w*|remov\w*|leave \S+ out|left out|not among|isn't among|don't use|must not|omit\w*|ignor\w*|without",
    "threshold": r"threshold\w*|cut-?offs?|above which|from which",
    "decision": r"decid\w*|decision|choos\w*|chose\w*|agree\w*|go with|went with|settl\w*|pick\w*|select\w*|opt(?:ed)? for",
    "cause": r"why|reasons?|because|since|due to|therefore",
    "meaning": r"mean\w*|stands? for|defin\w*|describ\w*|is called|tells? (?:us|me)|says? (?:whether|how|what|when)",
    "column": r"columns?|fields?|features?|variables?|attribut\w*",
    "chart": r"plot\w*|charts?|graphs?|figures?|histograms?|palette|seaborn|matplotlib|draw\w*",
}  # fmt: skip
_UNSPACED: Final[dict[str, str]] = {
    "place": "어디|경로|파일|폴더|위치|저장|どこ|パス|ファイル|フォルダ|場所|保存|置い|置き",
    "time": "언제|마감|기한|날짜|일정|까지|\\d+월 ?\\d+일|いつ|締め切り|締切|期限|日付|日程|まで|\\d+月\\d+日",
    "person": "누구|누가|담당|님|연락|물어|誰|担当|さん|連絡|聞け|聞い",
    "score": "점수|성능|결과|정확도|나왔|얼마|スコア|精度|結果|性能|いくつ",
    "metric": "평가|지표|기준|재현율|정밀도|정확도|손실|오차|評価|指標|基準|再現率|適合率|正解率|損失|誤差",
    "model": "모델|알고리즘|학습|회귀|포레스트|신경망|モデル|アルゴリズム|学習|回帰|フォレスト|ニューラル",
    "missing": "결측|비어|빈칸|빈 칸|누락|없는 값|欠損|空欄|空の|空なら|補完|埋め",
    "split": "분할|검증|나누|나눠|나눌|폴드|겹으로|分割|検証|分け|交差",
    "left out": "빼|빠졌|제외|제거|쓰지 않|넣지|안 쓰|外し|外す|除外|除い|使わない|入れない|入れては",
    "threshold": "임계|기준값|넘으면|しきい値|閾値|基準値|超えたら",
    "decision": "정했|정하|결정|하기로|기로 했|선택|골랐|決め|決定|選ん|選び|ことにし",
    "cause": "왜|이유|때문|거든|なぜ|どうして|理由|からです|ため",
    "meaning": "뜻|의미|나타내|말하는|意味|表す|表し|わかる|のこと",
    "column": "컬럼|칼럼|열은|열이|필드|변수|カラム|列|項目|特徴量|変数",
    "chart": "그래프|그려|그리|히스토그램|차트|グラフ|描い|描き|ヒストグラム|チャート",
}  # fmt: skip
CHANGED: Final = "\ue001"
"""The word of passages that sound as if something is no longer as it was. Nobody asks for it."""
QUESTION: Final = "\ue002"
"""The word of passages that only ask. Nobody asks for it."""
_ONLY_ASKS: Final = re.compile(r"[^.!?。]{1,200}[?？]\s*")
_CHANGE: Final = re.compile(
    r"\b(?:now|instead|no longer|from now on|anymore|any more|after all|chang\w*|switch\w*|moved|replac\w*|forget|updated?|"
    r"actually|postponed|new home|from today|rebuild|not any more)\b"
    "|이제|앞으로|대신|더 이상|바꾸|바꿉|바꿨|바뀌|바뀐|변경|옮겼|미뤄|다시|새로|말고|오늘부터|결국"
    "|今後|今は|これから|代わり|変更|切り替え|やめて|変わ|移し|延び|もう使わ|新しく|やはり|今日から|直して",
)

_PATTERNS: Final = tuple(re.compile(f"(?<!\\w)(?:{_ENGLISH[name]})(?!\\w)|{_UNSPACED[name]}") for name in _ENGLISH)

TELLING_CONCEPTS: Final = frozenset(
    chr(_FIRST_WORD + number) for number, name in enumerate(_ENGLISH) if name not in ("decision", "cause", "column")
)
"""Those that tell one statement from another: all are decided, and for some reason."""


def concepts_of(text: str) -> list[str]:
    """The words of the concepts that a text is about, each once."""
    folded = fold(text)
    return [chr(_FIRST_WORD + number) for number, pattern in enumerate(_PATTERNS) if pattern.search(folded)]


def passage_concepts(text: str) -> list[str]:
    """The same for a passage, and whether it sounds as if it changed something, and whether it only asks."""
    concepts = concepts_of(text)
    if _CHANGE.search(fold(text)):
        concepts.append(CHANGED)
    if _ONLY_ASKS.fullmatch(text):
        concepts.append(QUESTION)
    return concepts
