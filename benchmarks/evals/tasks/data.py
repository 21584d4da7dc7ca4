"""Loading files and looking at what is in them."""

from __future__ import annotations

import re
from typing import Final

from .._eval_task import EndState, EvalTask, Outcome
from .._rerun import FRAMES

__all__ = ["EVAL_TASKS"]

_LOADED: Final = "import pandas as pd\n\npeople = pd.read_csv('people.csv')"


def _has_frame(outcome: Outcome, rows: int, columns: int) -> None:
    outcome.added()
    frames = outcome.value(FRAMES)
    outcome.must(isinstance(frames, list) and [rows, columns] in frames, f"the data frames have these shapes: {frames}")


def _told(outcome: Outcome) -> str:
    return f"{outcome.shown}\n{outcome.answer}"


def _describe(outcome: Outcome) -> None:
    _has_frame(outcome, 8, 4)
    told = _told(outcome)
    in_words = re.search(r"\b8\b", told) and all(name in told for name in ("region", "product", "units", "revenue"))
    outcome.must("261.25" in told or in_words, "neither its statistics nor its size and columns are shown")


def _head(outcome: Outcome) -> None:
    outcome.runs()
    told = _told(outcome)
    missing = [name for name in ("Ana", "Ben", "Chloe", "Dan", "Eve") if name not in told]
    outcome.must(not missing, f"these rows are not shown: {missing}")
    outcome.must("Gita" not in told, "more than the first rows are shown")


def _missing(outcome: Outcome) -> None:
    outcome.runs()
    told = _told(outcome)
    outcome.must(re.search(r"temp\D{1,60}\b2\b", told), "that temp has 2 is not told")
    outcome.must(re.search(r"rain\D{1,60}\b1\b", told), "that rain has 1 is not told")
    outcome.must(not re.search(r"(temp|rain)[^\w\n]{1,30}[03-9]\b", told), "another number is told, too")


def _by_region(outcome: Outcome) -> None:
    outcome.runs()
    outcome.tells(570, 1040, 480)


def _older(outcome: Outcome) -> None:
    outcome.runs()
    outcome.keeps()
    told = _told(outcome)
    missing = [name for name in ("Ana", "Chloe", "Eve", "Gita") if name not in told]
    outcome.must(not missing, f"these are not shown: {missing}")
    others = [name for name in ("Ben", "Dan", "Finn") if name in told]
    outcome.must(not others, f"these are shown, too: {others}")


def _rows(outcome: Outcome) -> None:
    outcome.added()
    outcome.tells(12)


EVAL_TASKS: Final = (
    EvalTask(
        "load-describe",
        "data",
        "load sales.csv and describe it",
        _describe,
        files=["sales.csv"],
        probes=[FRAMES],
        right=EndState(["import pandas as pd\n\ndf = pd.read_csv('sales.csv')\ndf.describe()"]),
        also_right=[EndState(["import pandas as pd\nsales = pd.read_csv('sales.csv')", "sales.info()"])],
        wrong=[
            EndState(
                ["import pandas as pd\n\ndf = pd.read_csv('sales.csv')"], "I have loaded and described sales.csv."
            ),
            EndState(answer="The file sales.csv has 8 rows, and the columns region, product, units, revenue."),
        ],
    ),
    EvalTask(
        "load-head",
        "data",
        "show me the first 5 rows of people.csv",
        _head,
        files=["people.csv"],
        right=EndState([f"{_LOADED}\npeople.head()"], "These are the first rows."),
        wrong=[EndState([f"{_LOADED}\npeople"]), EndState([f"{_LOADED}\npeople.head()"], ran=False)],
    ),
    EvalTask(
        "missing-values",
        "data",
        "how many missing values does each column of weather.csv have?",
        _missing,
        files=["weather.csv"],
        right=EndState(["import pandas as pd\n\npd.read_csv('weather.csv').isna().sum()"], "See the new cell."),
        also_right=[
            EndState(answer="Column temp has 2 missing values and rain has 1, day has none."),
            EndState(
                ["import pandas as pd\n\ndf = pd.read_csv('weather.csv')\nprint(df.head())\nprint(df.isna().sum())"]
            ),
        ],
        wrong=[
            EndState(answer="Column temp has 1 missing value and rain has 2."),
            EndState(["import pandas as pd\n\npd.read_csv('weather.csv').notna().sum()"]),
        ],
    ),
    EvalTask(
        "revenue-by-region",
        "data",
        "total revenue per region in sales.csv pls",
        _by_region,
        files=["sales.csv"],
        right=EndState(["import pandas as pd\n\npd.read_csv('sales.csv').groupby('region')['revenue'].sum()"]),
        also_right=[EndState(answer="North: 570, South: 1,040, East: 480")],
        wrong=[EndState(["import pandas as pd\n\npd.read_csv('sales.csv').groupby('product')['revenue'].sum()"])],
    ),
    EvalTask(
        "people-older",
        "data",
        "show only the people older than 30",
        _older,
        cells=[_LOADED],
        files=["people.csv"],
        right=EndState([_LOADED, "people[people['age'] > 30]"]),
        also_right=[
            EndState([_LOADED, "older = people.query('age > 30')\nprint(older)"], "Four people are older than 30.")
        ],
        wrong=[EndState([_LOADED, "people[people['age'] >= 30]"]), EndState([_LOADED, "people"])],
    ),
    EvalTask(
        "rows-typo",
        "data",
        "lod weather.csv an tell me how many rows it has",
        _rows,
        files=["weather.csv"],
        right=EndState(["import pandas as pd\n\ndf = pd.read_csv('weather.csv')\nlen(df)"], "It has 12 rows."),
        also_right=[EndState(["import pandas as pd\n\ndf = pd.read_csv('weather.csv')\ndf.shape"], "It is loaded.")],
        wrong=[
            EndState(["import pandas as pd\n\ndf = pd.read_csv('weather.csv')\nlen(df)"], "It has 100 rows."),
            EndState(["import pandas as pd\n\ndf = pd.read_csv('weather.csv')"], "It has 10 rows."),
            EndState(
                ["import pandas as pd\n\ndf = pd.read_csv('weather.csv')\nlen(df)"], "It has 100.\n\n```text\n12\n```"
            ),
        ],
    ),
)
