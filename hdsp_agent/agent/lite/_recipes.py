"""The usual way to do with a table what a person asks for: a small model knows it when it is reminded of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ...tools.compound import cells_in
from ._intent import intent_of
from ._mentioned_tables import Table, columns_named, meant_table, stem, tables_in

__all__ = ["reminder"]


def _words(pattern: str, others: str = "") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b" + (f"|{others}" if others else ""), re.IGNORECASE)


_NO_DATA: Final = _words(
    r"fix|repair|debug|renam\w*|explain|(?:add|new|make|create) (?:a |another )?(?:new )?column|delete|remove (?:the )?(?:last )?cell|function|(?:this|the) (?:notebook|code|cell)",
    r"고쳐|고치|오류|에러|이름|설명|직|삭제|修正|直し|エラー|名前|説明|削除",
)
_GROUP: Final = re.compile(
    r"(?<!divided )(?<!multiplied )\b(?:per|by|each|every|across)\s+(?:the\s+|each\s+|every\s+)?(\w+)|(\w+?)\s*별|(\w+?)\s*(?:ごと|別)",
    re.IGNORECASE,
)
_PLOT: Final = _words(
    r"plot|draw|chart|graph|bars?|visuali[sz]e|histogram|hist|scatter|diagram|pie|box ?plot",
    r"그래프|차트|그려|히스토그램|산점도|グラフ|描|ヒストグラム|散布図",
)
_SCATTER: Final = _words(r"scatter\w*|points|dots", r"산점도|散布図")
_HISTOGRAM: Final = _words(r"histogram|hist|distribution", r"히스토그램|분포|ヒストグラム|分布")
_PIE: Final = _words(r"pie", r"파이|円グラフ")
_BOX: Final = _words(r"box ?plots?", r"박스|箱ひげ")
_COUNT: Final = _words(
    r"how many|number of|count\w*|frequenc\w*|how often|most common", r"몇|개수|수를|빈도|いくつ|何人|何件|件数|数え"
)
_AGGREGATES: Final = (
    ("mean", _words(r"mean|average|avg", r"평균|平均")),
    ("median", _words(r"median", r"중앙값|中央値")),
    ("std", _words(r"standard deviation|std", r"표준 ?편차|標準偏差")),
    (
        "max",
        _words(r"max\w*|highest|largest|biggest|greatest", r"최대|가장 (?:높|큰)|最大|最も(?:高|大)|一番(?:高|大)"),
    ),
    ("min", _words(r"min|minimum|lowest|smallest|least", r"최소|가장 (?:낮|작)|最小|最も(?:低|小)|一番(?:低|小)")),
    ("sum", _words(r"total\w*|sum\w*|add\w* up|altogether", r"합계|합|총|合計|総")),
)
_MOST: Final = _words(
    r"highest|largest|most|max\w*|biggest|greatest|\w{3,}est", r"가장|최대|최고|최소|최저|最も|一番|最大|最小|最高|最低"
)
_FEWEST: Final = _words(
    r"lowest|smallest|least|min|minimum|fewest|cheapest|youngest|coldest|shortest|lightest|earliest|slowest|coolest",
    r"최소|최저|가장 (?:낮|작|적|싼|어린)|最小|最低|最も(?:低|小|安|若)|一番(?:低|小|安|若)",
)
_WHICH: Final = _words(
    r"which|who|whose|when|where|what|tell|name", r"어느|어떤|누구|언제|무엇|뭐|どの|どれ|誰|いつ|何"
)
_IMPLIED: Final = (
    (_words(r"old\w*|young\w*"), "age"),
    (_words(r"expensive|cheap\w*|costs?|dear\w*|pric\w+", r"비싼|싼|高い|安い"), "price|cost"),
    (_words(r"warm\w*|hot\w*|cold\w*|cool\w*"), "temp"),
    (_words(r"tall\w*|short\w*"), "height"),
    (_words(r"heav\w*|light\w*"), "weight"),
    (_words(r"long\w*"), "length|duration"),
    (_words(r"fast\w*|slow\w*"), "speed"),
    (_words(r"rich\w*|poor\w*|earns?"), "income|salary"),
)
_PEOPLE: Final = _words(r"people|persons?|who|every(?:one|body)|any(?:one|body)|adults?|customers?|users?")
_MISSING: Final = _words(
    r"missing|nulls?|nans?|n/?a|isna|blank|empty (?:values?|cells?|fields?)", r"결측|누락|빈 값|欠損|欠測"
)
_FILL: Final = _words(r"fill\w*|impute|replace", r"채우|채워|埋め|補完")
_DROP: Final = _words(r"drop\w*|remove|delete|without|get rid of", r"제거|삭제|빼|削除|除")
_WHICH_COLUMNS: Final = _words(
    r"(?:which|what|names? of|list)(?: of)?(?: the| all)? columns?", r"열이|열의 이름|어느 열|어떤 열|どの列|列名"
)
_DESCRIBE: Final = _words(
    r"describe|descriptive|statistics|stats|summar\w+|overview", r"기술 ?통계|요약|통계|統計|要約|概要"
)
_FIRST: Final = re.compile(
    r"\b(?:first|top|head|upper)\b\W*(\d+|\w+)?|\bhead\b|\bpreview\b|처음\s*(\d+)?|앞\s*(\d+)?|最初|先頭", re.IGNORECASE
)
_LAST: Final = re.compile(r"\b(?:last|bottom|tail)\s+(\d+|\w+)\s+(?:rows?|lines?|entries|records)", re.IGNORECASE)
_NUMBERS: Final = {name: at for at, name in enumerate(("two", "three", "four", "five", "six", "seven"), 2)} | {
    "ten": 10
}
_ROWS: Final = _words(r"rows?|lines?|records|entries|observations", r"행|줄|레코드|行")
_SHAPE: Final = _words(r"shape|dimensions?|size|how (?:big|large)", r"크기|차원|サイズ|大きさ|形状")
_COLUMN_WORD: Final = _words(r"columns?", r"열|列|カラム")
_TYPES: Final = _words(r"d?types?|data ?types?|kinds?", r"타입|자료형|データ型")
_CORRELATION: Final = _words(r"correlat\w*", r"상관|相関")
_UNIQUE: Final = _words(r"unique|distinct|different", r"고유|종류|ユニーク|種類")
_ARE_THERE: Final = re.compile(r"\b(?:which|what) (\w+) (?:are|exist|do|occur)\b", re.IGNORECASE)
_SORT: Final = _words(r"sort\w*|order(?:ed)?(?: by)?|rank\w*", r"정렬|並べ|ソート")
_DESCENDING: Final = _words(
    r"descending|desc|decreasing|(?:highest|largest|biggest|oldest|newest|latest|most \w+) first|high to low",
    r"내림차순|降順",
)
_DUPLICATES: Final = _words(r"duplicat\w*", r"중복|重複")
_COMPARED: Final = re.compile(
    r"\b(?P<than>older|younger|greater|more|less|fewer|higher|lower|bigger|smaller|larger|taller|shorter|heavier|lighter"
    r"|cheaper|warmer|colder|longer|above|below|over|under|at least|at most|exceed\w*)\b[^\d.;]{0,20}?(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<sign>[<>]=?)\s*(?P<signed>-?\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_LESS: Final = _words(r"younger|less|fewer|lower|smaller|shorter|lighter|cheaper|colder|below|under|at most")
_OVER: Final = re.compile(
    r"\b(\w+) (?:over|against|vs\.?|versus|by|as a function of)\s+(?:the\s+)?(\w+)", re.IGNORECASE
)
_FRAME: Final = _words(r"data ?frames?|pandas table|df", r"데이터 ?프레임|データ ?フレーム")
_MAKE: Final = _words(r"make|create|build|generate|give|construct|need|want|new|random", r"만들|생성|作|生成")
_RANDOM: Final = _words(r"random\w*", r"무작위|랜덤|난수|ランダム|乱数")
_MANY_ROWS: Final = re.compile(r"(\d+)\s*(?:rows?|행|行|x\s*\d)", re.IGNORECASE)
_CALLED: Final = re.compile(
    r"\b(?:columns?|named|called)\s+(?:named\s+|called\s+)?(\w+(?:\s*,\s*(?!and\b)\w+)*(?:\s*,?\s*(?:and|&)\s*\w+)?)",
    re.IGNORECASE,
)
_BEFORE: Final = "The usual way:\n"
_SHOW: Final = "plt.show()"


@dataclass(frozen=True)
class _Asked:
    """What is asked of a table."""

    words: str
    table: Table
    columns: Sequence[str]
    """Those named."""

    @property
    def numbers(self) -> list[str]:
        return self.table.numbers(self.columns)

    @property
    def group(self) -> str | None:
        """The column by whose values to group."""
        found = [stem(next(one for one in each if one)) for each in _GROUP.findall(self.words)]
        return next((column for column in self.table.columns if stem(column) in found), None)

    @property
    def measured(self) -> str | None:
        """The column of numbers that is meant, named or implied."""
        for implying, names in _IMPLIED:
            if implying.search(self.words):
                for column in self.table.numbers(self.table.columns):
                    if re.match(names, column, re.IGNORECASE):
                        return column
        return next(iter(self.numbers), None)

    def of(self, column: str) -> str:
        return f"{self.table.name}[{column!r}]"

    def aggregate(self) -> str | None:
        return next((name for name, said in _AGGREGATES if said.search(self.words)), None)


def reminder(words: str, surroundings: str) -> str | None:
    """Code that does what is asked with the tables there are, or something like it; None if that cannot be told."""
    tools = intent_of(words, cells_in(surroundings)).tools
    if _NO_DATA.search(words) or (tools is not None and "add_cell" not in tools):
        return None
    table = meant_table(words, tables_in(surroundings))
    if table is None:
        made = _made(words)
        return None if made is None else _BEFORE + made
    asked = _Asked(words, table, columns_named(words, table))
    way = next((code for one in _WAYS if (code := one(asked)) is not None), None)
    if table.file is not None:
        read = f"{table.name} = pd.read_csv({table.file!r})"
        way = read if way is None else f"{read}\n{way}"
    return None if way is None else _BEFORE + way


def _made(words: str) -> str | None:
    """A table that is to be made."""
    if not _FRAME.search(words) or not _MAKE.search(words):
        return None
    rows, called = _MANY_ROWS.search(words), _CALLED.search(words)
    names = [name for name in re.findall(r"\w+", called[1]) if name != "and"] if called is not None else ["a", "b"]
    values = f"np.random.rand({rows[1] if rows is not None else 5})" if _RANDOM.search(words) else "[1, 2, 3]"
    return f"df = pd.DataFrame({{{', '.join(f'{name!r}: {values}' for name in names)}}})\ndf"


def _missing(asked: _Asked) -> str | None:
    if not _MISSING.search(asked.words):
        return None
    table = asked.table.name
    if _FILL.search(asked.words) and asked.columns:
        column = asked.of(asked.columns[0])
        how = asked.aggregate()
        return f"{column} = {column}.fillna({f'{column}.{how}()' if how else '0'})"
    if _DROP.search(asked.words):
        return f"{table} = {table}.dropna()\n{table}"
    if _WHICH_COLUMNS.search(asked.words) and not _COUNT.search(asked.words):
        return f"{table}.columns[{table}.isna().any()].tolist()"
    return f"{table}.isna().sum()"


def _duplicates(asked: _Asked) -> str | None:
    if not _DUPLICATES.search(asked.words):
        return None
    table = asked.table.name
    return f"{table} = {table}.drop_duplicates()" if _DROP.search(asked.words) else f"{table}.duplicated().sum()"


def _grouped(asked: _Asked) -> str | None:
    by = asked.group
    if by is None or _SCATTER.search(asked.words):
        return None
    numbers = [column for column in asked.numbers if column != by]
    how = asked.aggregate()
    if numbers:
        code = f"{asked.table.name}.groupby({by!r})[{numbers[0]!r}].{how or 'sum'}()"
    elif how is None or _COUNT.search(asked.words):
        code = f"{asked.of(by)}.value_counts()"
    else:
        return None
    if not _PLOT.search(asked.words):
        return code
    return f"{code}.plot.{'pie' if _PIE.search(asked.words) else 'bar'}()\n{_SHOW}"


def _drawn(asked: _Asked) -> str | None:
    if not _PLOT.search(asked.words):
        return None
    numbers, table = asked.numbers, asked.table.name
    if _HISTOGRAM.search(asked.words) and asked.measured:
        return f"plt.hist({asked.of(asked.measured)})\n{_SHOW}"
    if _BOX.search(asked.words) and asked.measured:
        return f"plt.boxplot({asked.of(asked.measured)})\n{_SHOW}"
    if _SCATTER.search(asked.words):
        return f"plt.scatter({asked.of(numbers[0])}, {asked.of(numbers[1])})\n{_SHOW}" if len(numbers) > 1 else None
    others = [column for column in asked.columns if column not in numbers]
    if _COUNT.search(asked.words) and len(others) == 1 and not numbers:
        return f"{asked.of(others[0])}.value_counts().plot.bar()\n{_SHOW}"
    if len(numbers) > 1 and _OVER.search(asked.words):
        return f"plt.plot({asked.of(numbers[1])}, {asked.of(numbers[0])})\n{_SHOW}"
    return f"{table}[{numbers[0]!r}].plot()\n{_SHOW}" if len(numbers) == 1 else None


def _compared(asked: _Asked) -> str | None:
    found = _COMPARED.search(asked.words)
    column = asked.measured
    if found is None:
        return None
    if column is None and _PEOPLE.search(asked.words):
        column = next((one for one in asked.table.columns if stem(one) == "age"), None)
    if column is None:
        return None
    if found["sign"]:
        sign, number = found["sign"], found["signed"]
    else:
        number = found["number"]
        sign = "<" if _LESS.search(found["than"]) else ">"
        sign += "=" if found["than"].lower().startswith("at ") else ""
    some = f"{asked.table.name}[{asked.of(column)} {sign} {number}]"
    return f"len({some})" if _COUNT.search(asked.words) else some


def _extreme(asked: _Asked) -> str | None:
    """Which row has the most of something, or the least."""
    most = _MOST.search(asked.words)
    if most is None:
        return None
    behind = columns_named(asked.words[most.end() :], asked.table)
    column = next(iter(asked.table.numbers(behind)), None) or asked.measured
    others = [one for one in asked.columns if one != column]
    end = "min" if _FEWEST.search(asked.words) else "max"
    if column is None:
        return f"{asked.of(others[0])}.value_counts().idx{end}()" if len(others) == 1 else None
    if not others and not _WHICH.search(asked.words):
        return f"{asked.of(column)}.{end}()"
    if not others and asked.numbers and not re.search(r"\b(?:which|who|when|where)\b", asked.words, re.IGNORECASE):
        return f"{asked.of(column)}.{end}()"
    table = asked.table.name
    if others and asked.aggregate() == "sum":
        return f"{table}.groupby({others[0]!r})[{column!r}].sum().idx{end}()"
    row = f"{asked.of(column)}.idx{end}()"
    return f"{table}.loc[{row}, {others[0]!r}]" if others else f"{table}.loc[{row}]"


def _sorted(asked: _Asked) -> str | None:
    column = asked.measured or next(iter(asked.columns), None)
    if column is None or not _SORT.search(asked.words):
        return None
    down = ", ascending=False" if _DESCENDING.search(asked.words) else ""
    return f"{asked.table.name}.sort_values({column!r}{down})"


def _related(asked: _Asked) -> str | None:
    if not _CORRELATION.search(asked.words):
        return None
    if len(asked.numbers) > 1:
        return f"{asked.of(asked.numbers[0])}.corr({asked.of(asked.numbers[1])})"
    return f"{asked.table.name}.corr(numeric_only=True)"


def _ends(asked: _Asked) -> str | None:
    last, first = _LAST.search(asked.words), _FIRST.search(asked.words)
    if last is not None:
        return f"{asked.table.name}.tail({_number(last[1])})"
    if first is None or asked.columns:
        return None
    return f"{asked.table.name}.head({_number(next((one for one in first.groups() if one), ''), asked.words)})"


def _number(said: str, words: str = "") -> int:
    """The number in a word, or in the others."""
    for word in [said, *re.findall(r"\w+", words)]:
        if word.isascii() and word.isdigit():
            return int(word)
        if word.lower() in _NUMBERS:
            return _NUMBERS[word.lower()]
    return 5


def _values(asked: _Asked) -> str | None:
    there = _ARE_THERE.search(asked.words)
    named = [column for column in asked.columns if there is not None and stem(there[1]) == stem(column)]
    if not named and _UNIQUE.search(asked.words):
        named = list(asked.columns)
    if not named:
        return None
    return f"{asked.of(named[0])}.{'nunique' if _COUNT.search(asked.words) else 'unique'}()"


def _described(asked: _Asked) -> str | None:
    table = asked.table.name
    if _TYPES.search(asked.words) and _COLUMN_WORD.search(asked.words):
        return f"{table}.dtypes"
    if _DESCRIBE.search(asked.words):
        return f"{asked.of(asked.numbers[0]) if len(asked.numbers) == 1 else table}.describe()"
    rows, columns = _ROWS.search(asked.words), _COLUMN_WORD.search(asked.words)
    if not asked.columns and (_SHAPE.search(asked.words) or (_COUNT.search(asked.words) and rows and columns)):
        return f"{table}.shape"
    if not asked.columns and rows and _COUNT.search(asked.words):
        return f"len({table})"
    if not asked.columns and columns and _WHICH_COLUMNS.search(asked.words):
        return f"{table}.columns.tolist()"
    return None


def _aggregated(asked: _Asked) -> str | None:
    how = asked.aggregate()
    return f"{asked.of(asked.numbers[0])}.{how}()" if how and len(asked.numbers) == 1 else None


_WAYS: Final[tuple[Callable[[_Asked], str | None], ...]] = (
    _missing,
    _duplicates,
    _sorted,
    _grouped,
    _drawn,
    _related,
    _compared,
    _extreme,
    _values,
    _ends,
    _described,
    _aggregated,
)
