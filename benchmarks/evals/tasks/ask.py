"""Questions about variables and about the notebook itself. The notebook stays as it was, but for cells that were added."""

from __future__ import annotations

import re
from typing import Final

from .._eval_task import EndState, EvalTask, Outcome

__all__ = ["EVAL_TASKS"]

_AB: Final = "import pandas as pd\n\ndf = pd.DataFrame({'a': [1, 2, 3, 4], 'b': [2.5, 4.0, 7.5, 9.0]})"
_PEOPLE: Final = "import pandas as pd\n\ndf = pd.read_csv('people.csv')"
_PRICES: Final = (
    "import pandas as pd\n\nshop = pd.DataFrame({'product': ['Chair', 'Lamp', 'Table'], 'price': [45.0, 129.9, 88.0]})"
)
_WEATHER: Final = "import pandas as pd\n\ndf = pd.read_csv('weather.csv')"
_FAHRENHEIT: Final = (
    "readings = [50.0, 68.0, 86.0]  # in Fahrenheit",
    "def convert(f):\n    return (f - 32) * 5 / 9",
    "converted = [convert(f) for f in readings]\nprint(converted)",
)


def _asked(outcome: Outcome) -> None:
    outcome.must(outcome.answer.strip() or outcome.shown.strip(), "there is no answer")
    outcome.keeps()
    outcome.runs()


def _mean(outcome: Outcome) -> None:
    _asked(outcome)
    outcome.tells(5.75)


def _shape(outcome: Outcome) -> None:
    _asked(outcome)
    outcome.tells(7, 5)
    outcome.must(not re.search(r"\b(5 rows|7 col)", outcome.answer), "rows and columns are confused")


def _dearest(outcome: Outcome) -> None:
    _asked(outcome)
    told = f"{outcome.answer}\n{outcome.shown}"
    found = re.search("Chair|Lamp|Table", told)
    outcome.must(found and found[0] == "Lamp", f"the answer names {found[0] if found else 'none'} first")


def _purpose(outcome: Outcome) -> None:
    _asked(outcome)
    outcome.must("celsius" in outcome.answer.casefold(), "that it converts to Celsius is not told")


def _missing(outcome: Outcome) -> None:
    _asked(outcome)
    told = outcome.unquoted_answer
    if not ("temp" in told and "rain" in told):
        told = f"{outcome.shown}\n{outcome.answer}"
        outcome.must(re.search(r"temp\W+(2\b|True)", told) or re.search(r"\[[^]]*temp", told), "temp is not named")
    outcome.must("rain" in told, "rain is not named")
    # In words alone: a table of all columns names day as well. What is named may be said to have none.
    innocent = "day" not in outcome.unquoted_answer or "없" in outcome.unquoted_answer or "0" in outcome.unquoted_answer
    outcome.must(innocent, "day is named, too")


EVAL_TASKS: Final = (
    EvalTask(
        "ask-mean",
        "ask",
        "what is the mean of column b?",
        _mean,
        cells=[_AB],
        right=EndState(answer="The mean of column b is 5.75."),
        also_right=[EndState([_AB, "df['b'].mean()"], "The new cell shows it.")],
        wrong=[EndState(answer="The mean of column b is 6.0."), EndState([_AB, "df['b'].mean()"], "The mean is 4.5.")],
    ),
    EvalTask(
        "ask-shape",
        "ask",
        "how many rows and columns does df have",
        _shape,
        cells=[_PEOPLE],
        files=["people.csv"],
        right=EndState(answer="df has 7 rows and 5 columns."),
        also_right=[EndState([_PEOPLE, "df.shape"])],
        wrong=[EndState(answer="df has 5 rows and 3 columns."), EndState(answer="It has 5 rows and 7 columns.")],
    ),
    EvalTask(
        "ask-dearest",
        "ask",
        "which product has the highest price?",
        _dearest,
        cells=[_PRICES],
        right=EndState(answer="The Lamp, at 129.9."),
        also_right=[EndState([_PRICES, "shop.loc[shop['price'].idxmax(), 'product']"])],
        wrong=[EndState(answer="The Table has the highest price."), EndState([_PRICES, "shop['price'].max()"])],
    ),
    EvalTask(
        "ask-purpose",
        "ask",
        "What does this notebook do?",
        _purpose,
        cells=_FAHRENHEIT,
        right=EndState(answer="It converts temperatures from Fahrenheit to Celsius."),
        wrong=[EndState(answer="It defines a function and prints a list of numbers.")],
    ),
    EvalTask(
        "ask-missing-korean",
        "ask",
        "df에서 결측치가 있는 열이 뭐야?",
        _missing,
        cells=[_WEATHER],
        files=["weather.csv"],
        right=EndState(answer="결측치가 있는 열은 temp와 rain입니다."),
        also_right=[EndState([_WEATHER, "df.isna().sum()"], "새 셀을 보세요.")],
        wrong=[
            EndState([_WEATHER, "df.isna().sum()"], "day, temp, rain입니다.\n\n```text\nday     0\ntemp    2\n```"),
            EndState(answer="모든 열에 결측치가 있습니다: day, temp, rain"),
            EndState(answer="temp 열입니다."),
        ],
    ),
)
