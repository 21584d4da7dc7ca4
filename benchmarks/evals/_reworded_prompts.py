"""The same tasks with other prompts, whose failures are counted and not fixed one by one.

They tell how much of the rate comes from the prompts that were tried. Since 2026-11-22 they are no blind check any more: these
prompts, not what was said in doing them, were read before the harness was improved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["REWORDED_PROMPTS"]

REWORDED_PROMPTS: Final[Mapping[str, str]] = {
    "add-squares": "i need the numbers 1 through 10 squared, in a new cell please",
    "add-fibonacci": "Could you implement fib(n), the n-th Fibonacci number, and try it with n = 10?",
    "add-total": "what do the prices come to altogether? put it in a cell",
    "add-frame": "give me a little pandas table: columns a and b, 5 rows, random values",
    "add-sum-korean": "새 셀에서 1에서 100까지 모두 더한 값을 출력해줘",
    "load-describe": "open sales.csv with pandas and give me the summary statistics",
    "load-head": "what do the first five lines of people.csv look like",
    "missing-values": "any NaNs in weather.csv? count them by column",
    "revenue-by-region": "from sales.csv: sum up revenue by region",
    "people-older": "list everybody over 30",
    "rows-typo": "read in weather.csv, how mnay rows are there",
    "fix-name": "this cell crashes, repair it",
    "fix-column": "I get a KeyError here, can you sort it out?",
    "fix-import": "this gives a NameError. make it work",
    "fix-average": "average() returns 2.5 for 1..5 but that's wrong, correct it",
    "fix-index-japanese": "エラーになります。修正をお願いします",
    "ask-mean": "b's average?",
    "ask-shape": "what's the size of df?",
    "ask-dearest": "tell me the most expensive product",
    "ask-purpose": "explain in one sentence what is going on in this notebook",
    "ask-missing-korean": "결측값이 들어 있는 df의 열 이름을 알려줘",
    "change-n": "make n 100 instead of 10, then rerun everything",
    "change-title": "the plot should be called Monthly sales",
    "delete-last": "the last cell can go",
    "add-heading": "I want the title 'Sales report' as a heading above everything",
    "round-average": "only print the average with two decimal places",
    "plot-sine": "show me a sine wave",
    "plot-temperature": "line chart of the daily temp in weather.csv",
    "plot-cities": "how many people per city? as bars",
    "plot-scatter": "draw weight against height as points",
    "plot-labels": "the plot has no axis labels. x is time (s), y is voltage (V)",
    "rename-variable": "call d data instead, in all cells",
    "rename-frame": "df should be named sales throughout",
    "rename-function": "calc is a bad name, use total_price for that function",
    "rename-column": "in df, amt should be called amount",
    "extract-function": "avoid the repeated formula: make it a function to_celsius(f)",
}
