"""The same tasks with prompts written blind: on 2026-11-22, by someone who had not seen the harness.

Its code and tests were not read, nor what was said while doing tasks; of its design only the paragraph on the lite profile in
``docs/architecture.md``, which quotes no prompts. The first prompts and the reworded ones were read, so as not to repeat them.
Nobody may tune the harness to these. Once they, or what was said in doing them, were looked at, new ones have to be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["BLIND_PROMPTS"]

BLIND_PROMPTS: Final[Mapping[str, str]] = {
    "add-squares": "hey can u do a quick cell listing n squared for n from 1 to 10",
    "add-fibonacci": "i need a function called fib(n) for the nth fibonacci number. let me see what fib(10) gives",
    "add-total": "ok next compute the sum of the prices and display it",
    "add-frame": "generate a random dataframe for me, five rows, cols a and b, i want to look at it",
    "add-sum-korean": "1~100 전부 더하면 얼마인지 코드 셀 하나 만들어서 돌려줄래?",
    "load-describe": "get sales.csv into a dataframe, then a statistical overview of it pls",
    "load-head": "can i get a peek at people.csv? just the top 5 rows",
    "missing-values": "i think weather.csv has gaps. per column, how many values are empty?",
    "revenue-by-region": "using sales.csv, how much revenue did each region make in total?",
    "people-older": "filter for age above 30 pls, i want to see who is left",
    "rows-typo": "can you get weather.csv into pandas nad give me the nubmer of rows",
    "fix-name": "i keep getting an error when i run this cell, could you please debug it?",
    "fix-column": "sorry, why it is not running? please solve it",
    "fix-import": "it says name 'np' is not defined, what am i missing? please get it running",
    "fix-average": "think theres a bug in average(), for 1 to 5 i should get 3.0 and not 2.5. could you resolve it",
    "fix-index-japanese": "このセルを実行すると落ちるんだけど、ちゃんと動くようにしてもらえる？",
    "ask-mean": "quick question, whats the average value in column b",
    "ask-shape": "how big is df? rows x cols",
    "ask-dearest": "which of the products costs the most?",
    "ask-purpose": "i just got this notebook from a colleague, can you summarize what it's for?",
    "ask-missing-korean": "df에 값이 비어 있는 컬럼이 어떤 것들인지 궁금해요",
    "change-n": "n should be 100 now, pls update and recompute",
    "change-title": 'please update the chart, its title should read "Monthly sales"',
    "delete-last": "pls remove the final cell, i dont need that one anymore",
    "add-heading": "could you insert a 'Sales report' heading as the very first thing in the notebook",
    "round-average": "too many digits! 2 decimals is enough for the average",
    "plot-sine": "can you graph sin(x) for me",
    "plot-temperature": "i'd like to see how temp changes from day to day in weather.csv, as a graph",
    "plot-cities": "can you visualise the number of people in each city with a bar plot",
    "plot-scatter": "is weight related to height? make me a scatterplot",
    "plot-labels": "can the x axis say time (s) and the y axis voltage (V)?",
    "rename-variable": "d is a terrible variable name lol, change it to data wherever its used",
    "rename-frame": "can we have sales as the name instead of df? in every cell",
    "rename-function": "i want my calc function to be named total_price, also where its called",
    "rename-column": "change column name amt into amount pls",
    "extract-function": "same formula twice is ugly. could you refactor it to a function to_celsius(f) that both lines call",
}
