"""The tables a person may mean, and their columns, as far as the surroundings tell of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Table", "columns_named", "meant_table", "stem", "tables_in"]

_VARIABLE: Final = re.compile(r"^(\w+): DataFrame of \S+ rows, columns: (.+)$", re.MULTILINE)
_FILE: Final = re.compile(r"^(\S.*\.[ct]sv): columns (.+)$", re.MULTILINE)
_READ: Final = re.compile(r"^(\w+) = pd\.read_\w+\(['\"]([^'\"]+)['\"]", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_ARTICLES: Final = frozenset({"a", "i"})
_SHORT: Final = 2
"""Characters of a name that is rather a word of the sentence, unless it is called a column."""


@dataclass(frozen=True)
class Table:
    """A data frame, or a file that can be read as one."""

    name: str
    """Of the variable that holds it, or would."""
    columns: Mapping[str, str]
    """Their types by their names."""
    file: str | None = None
    """What it has to be read from first."""

    def numbers(self, columns: Iterable[str]) -> list[str]:
        """Those of the columns that hold numbers."""
        return [column for column in columns if re.match(r"u?int|float|Int|Float", self.columns[column])]


def tables_in(surroundings: str) -> list[Table]:
    """The tables that are told of: data frames, then files nothing was read from."""
    frames = {found[1]: Table(found[1], _columns(found[2])) for found in _VARIABLE.finditer(surroundings)}
    read = {file.rpartition("/")[2]: name for name, file in _READ.findall(surroundings)}
    files = [
        Table(_name_for(found[1]), _columns(found[2]), found[1])
        for found in _FILE.finditer(surroundings)
        if read.get(found[1]) not in frames
    ]
    return [*frames.values(), *files]


def meant_table(words: str, tables: Sequence[Table]) -> Table | None:
    """The table that is spoken of; None if it could be several, or none."""
    by_file = [table for table in tables if table.file is not None and table.file.lower() in words.lower()]
    if by_file:
        return by_file[0]
    said = set(_WORD.findall(words))
    by_name = [table for table in tables if table.file is None and table.name in said - _ARTICLES]
    if by_name:
        return by_name[0]
    for among in ([one for one in tables if one.file is None], [one for one in tables if one.file is not None]):
        if len(among) == 1:
            return among[0]
        by_columns = [one for one in among if columns_named(words, one)]
        if len(by_columns) == 1:
            return by_columns[0]
    return None


def columns_named(words: str, table: Table) -> list[str]:
    """The columns that the words name, in their order."""
    plain = " ".join(stem(word) for word in _WORD.findall(words.replace("_", " ")))
    places: dict[str, int] = {}
    for column in table.columns:
        name = " ".join(stem(word) for word in _WORD.findall(column.replace("_", " ")))
        if not name:
            continue
        if len(name) <= _SHORT:
            pattern = rf"\bcolumns? (?:\w+ (?:and )?)?{re.escape(name)}\b"
            if name not in _ARTICLES:
                pattern += rf"|\b{re.escape(name)}\b"
        else:
            pattern = rf"\b{re.escape(name)}(?![a-z0-9])"
        found = re.search(pattern, plain)
        if found is not None:
            places[column] = found.start()
    return sorted(places, key=lambda column: places[column])


def stem(word: str) -> str:
    """The word in small letters, and one of it if it speaks of many."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _columns(told: str) -> dict[str, str]:
    return {name: kind for each in told.split(", ") for name, _, kind in [each.rpartition(" ")] if name}


def _name_for(file: str) -> str:
    name = file.rpartition("/")[2].rpartition(".")[0].lower()
    return name if name.isidentifier() else "df"
