"""Tables as people have them, made with a seed: columns in English, Korean or Japanese, and other numbers each time."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random
from typing import Final, TypeAlias

__all__ = ["VOCABULARIES", "DataSet", "Vocabulary", "data_set"]

Value: TypeAlias = str | int | float | None

_FIRST_DAY: Final = date(2024, 1, 3)
_MOST_DAYS: Final = 330


@dataclass(frozen=True)
class Vocabulary:
    """What a table is about. The columns: what names a row, a group, a count, a measure, and a day."""

    name: str
    """Of the variable, and of the file without its ending."""
    columns: tuple[str, str, str, str, str]
    labels: Sequence[str]
    groups: Sequence[str]
    counts: tuple[int, int]
    measures: tuple[float, float]
    spoken: Mapping[str, str]
    """What people call a column in English if not by its name."""
    rows: str
    """What people call the rows in English."""
    language: str = "en"
    """Whose people have such a table; English names are used by all."""


VOCABULARIES: Final = (
    Vocabulary(
        "flights",
        ("flight", "airline", "passengers", "delay_min", "flown_on"),
        [f"{line}{number}" for line, number in zip(("KE", "OZ", "LH", "BA") * 6, range(101, 900, 33), strict=False)],
        ("Korean Air", "Lufthansa", "British Airways", "Asiana"),
        (60, 340),
        (0.0, 95.0),
        {"delay_min": "delay", "flown_on": "date"},
        "flights",
    ),
    Vocabulary(
        "plants",
        ("plant", "species", "leaves", "height_cm", "planted"),
        [f"P-{number:02}" for number in range(1, 30)],
        ("basil", "mint", "tomato"),
        (4, 90),
        (6.0, 140.0),
        {"height_cm": "height", "planted": "planting date"},
        "plants",
    ),
    Vocabulary(
        "orders",
        ("order_id", "store", "quantity", "price", "ordered_on"),
        [f"A{number}" for number in range(1001, 1400, 13)],
        ("Oslo", "Madrid", "Vienna", "Dublin"),
        (1, 40),
        (3.0, 250.0),
        {"ordered_on": "order date", "order_id": "order"},
        "orders",
    ),
    Vocabulary(
        "runners",
        ("runner", "club", "laps", "minutes", "run_on"),
        [
            "Ingrid", "Mateo", "Yuna", "Haruto", "Selma", "Piotr", "Amara", "Luca", "Noor", "Tove", "Kofi", "Elin",
            "Rafael", "Mina", "Otto", "Saga", "Hugo", "Lena", "Ravi", "Zofia",
        ],
        ("Harriers", "Striders", "Milers"),
        (3, 28),
        (14.0, 118.0),
        {"run_on": "date", "minutes": "time in minutes"},
        "runners",
    ),
    Vocabulary(
        "homes",
        ("address", "district", "rooms", "rent", "listed_on"),
        [f"{street} {number}" for number, street in zip(range(2, 60, 3), ("Elm", "Oak", "Birch", "Cedar") * 5, strict=False)],
        ("North Side", "Harbour", "Old Town"),
        (1, 7),
        (420.0, 2900.0),
        {"listed_on": "listing date"},
        "homes",
    ),
    Vocabulary(
        "books",
        ("title", "genre", "pages", "rating", "published"),
        [
            "Tides", "Ember", "Glass Hill", "The Ninth Room", "Saltwind", "Low Sun", "Quiet Engines", "Orchard", "Paper Moons",
            "Ironwood", "Blue Hour", "Far Shore", "Lanterns", "Winter Bees", "Echo Lake", "Small Gods", "Red Thread", "Half Light",
        ],
        ("fantasy", "crime", "travel"),
        (90, 720),
        (1.0, 5.0),
        {"published": "publication date"},
        "books",
    ),
    Vocabulary(
        "매출",
        ("상품", "매장", "수량", "금액", "판매일"),
        [f"상품{number}" for number in range(1, 26)],
        ("강남점", "부산점", "대전점"),
        (1, 60),
        (1.5, 980.0),
        {},
        "",
        "ko",
    ),
    Vocabulary(
        "성적",
        ("이름", "반", "결석", "점수", "시험일"),
        [
            "민준", "서연", "도윤", "지우", "하은", "시우", "수아", "예준", "지호", "채원", "주원", "다은", "건우", "유나",
            "현우", "소율", "준서", "가은", "태윤", "나연",
        ],
        ("1반", "2반", "3반"),
        (0, 12),
        (38.0, 100.0),
        {},
        "",
        "ko",
    ),
    Vocabulary(
        "売上",
        ("商品", "店舗", "個数", "金額", "販売日"),
        [f"商品{number}" for number in range(1, 26)],
        ("渋谷店", "梅田店", "札幌店"),
        (1, 60),
        (1.5, 980.0),
        {},
        "",
        "ja",
    ),
    Vocabulary(
        "観測",
        ("地点", "地域", "回数", "気温", "観測日"),
        [
            "稚内", "旭川", "札幌", "函館", "青森", "盛岡", "仙台", "秋田", "山形", "福島", "水戸", "前橋", "千葉", "東京",
            "横浜", "新潟", "富山", "金沢", "福井", "甲府",
        ],
        ("北海道", "東北", "関東"),
        (2, 48),
        (-8.0, 31.0),
        {},
        "",
        "ja",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class DataSet:
    """A table with its rows."""

    words: Vocabulary
    rows: tuple[Mapping[str, Value], ...]

    @property
    def label(self) -> str:
        """The column that names a row."""
        return self.words.columns[0]

    @property
    def group(self) -> str:
        """The column with few values."""
        return self.words.columns[1]

    @property
    def amount(self) -> str:
        """The column of whole numbers."""
        return self.words.columns[2]

    @property
    def measure(self) -> str:
        """The column of numbers with decimals, all different."""
        return self.words.columns[3]

    @property
    def day(self) -> str:
        """The column of days."""
        return self.words.columns[4]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.words.name}.csv"

    @property
    def groups(self) -> list[str]:
        """The groups there are, in the order of the rows."""
        return list(dict.fromkeys(str(row[self.group]) for row in self.rows))

    def numbers(self, column: str, group: str | None = None) -> list[float]:
        """The numbers of a column that are there, of one group if it is named."""
        chosen = [row for row in self.rows if group is None or row[self.group] == group]
        return [float(value) for row in chosen if isinstance(value := row[column], (int, float))]

    def texts(self, column: str) -> list[str]:
        """The values of a column, as texts."""
        return [str(row[column]) for row in self.rows]

    def csv(self) -> str:
        """The file."""
        out = io.StringIO()
        writer = csv.DictWriter(out, self.words.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in self.rows)
        return out.getvalue()

    def with_gaps(self, rng: Random) -> DataSet:
        """The same, with measures that are missing."""
        gaps = set(rng.sample(range(len(self.rows)), rng.randint(2, 4)))
        return replace(
            self, rows=tuple({**row, self.measure: None} if at in gaps else row for at, row in enumerate(self.rows))
        )

    def with_repeats(self, rng: Random) -> DataSet:
        """The same, with rows that stand there twice."""
        again = rng.sample(self.rows, rng.randint(2, 4))
        return replace(self, rows=(*self.rows, *again))


def data_set(language: str, rng: Random) -> DataSet:
    """A table of people who speak this language: often, but not always, with columns in it."""
    own = [words for words in VOCABULARIES if words.language == language]
    english = [words for words in VOCABULARIES if words.language == "en"]
    words = rng.choice(own if language != "en" and rng.random() < 0.4 else english)
    labels = rng.sample(list(words.labels), rng.randint(12, min(18, len(words.labels))))
    low, high = words.measures
    measures = rng.sample(range(int(low * 10) + 1, int(high * 10)), min(len(labels), int((high - low) * 10) - 1))
    days = rng.sample(range(_MOST_DAYS), len(labels))
    rows: list[Mapping[str, Value]] = []
    for at, label in enumerate(labels):
        # Each group has at least three rows.
        group = words.groups[at % len(words.groups)] if at < 3 * len(words.groups) else rng.choice(words.groups)
        day = _FIRST_DAY + timedelta(days=days[at])
        values = (label, group, rng.randint(*words.counts), measures[at % len(measures)] / 10, day.isoformat())
        rows.append(dict(zip(words.columns, values, strict=True)))
    rng.shuffle(rows)
    return DataSet(words, tuple(rows))
