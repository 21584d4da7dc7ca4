"""The slash commands that are always there. A file of the same name comes before them."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BUILT_IN", "BuiltinCommand"]


class BuiltinCommand(NamedTuple):
    """A command as it is written here."""

    name: str
    description: str
    argument_hint: str
    text: str
    cell_label: str | None = None
    """What it is called in the menus of cells; without it, it is in none."""


BUILT_IN: Final = (
    BuiltinCommand(
        "explain",
        "Explain a cell, a notebook or code",
        "what to explain",
        "Explain what I name below, or else the notebook of this task, to somebody who has to work with it. Read it first, "
        "outputs included. Say what goes in and what comes out, what each step does to the data (columns, shapes, units), "
        "which cells depend on which, and what it takes for granted. Point out what is surprising, slow or probably wrong. "
        "Change nothing.\n\n$ARGUMENTS",
        "Explain",
    ),
    BuiltinCommand(
        "fix",
        "Find out why something fails and fix it",
        "what fails",
        "Something is wrong with what I name below, or else with the cell that failed last in the notebook of this task. Find "
        "out why: read the traceback, the cells it depends on and the variables as they are now, before you change anything. "
        "Make the smallest change that cures the cause and not the symptom, then run the cell and those that depend on it, "
        "and show me that it works. Tell me in a sentence what was wrong.\n\n$ARGUMENTS",
    ),
    BuiltinCommand(
        "edit",
        "Change a cell the way you describe",
        "what to change",
        "Change what I name below, or else the current cell, as I say. Change only that: the selected lines if I selected "
        "some, else this one cell, and no other. If the cell is empty, write into it what I ask for. Keep its style, and every "
        "name that other cells use. Do not run it. Tell me in one short sentence what you changed.\n\n$ARGUMENTS",
    ),
    BuiltinCommand(
        "improve",
        "Improve code and keep its results",
        "what to improve",
        "Improve what I name below, or else the current cell, and keep its results: clearer names, simpler steps, the usual "
        "idioms of the libraries it uses, and nothing said twice. Keep its style, and every name that other cells use. Change "
        "only what gets better by it. Run it again, compare the results with those from before, and tell me in two or three "
        "sentences what you changed and why.\n\n$ARGUMENTS",
        "Improve",
    ),
    BuiltinCommand(
        "speed-up",
        "Make code faster and keep its results",
        "what is slow",
        "Make what I name below faster, or else the current cell. Measure first how long it takes and where, with less data "
        "if it takes longer than a minute. Then change what costs most: work in whole columns, do nothing twice, read less, use "
        "a better data structure. Keep every name that other cells use. Show me both times side by side, and that the results "
        "are equal. If there is little to gain, say so and change nothing.\n\n$ARGUMENTS",
        "Speed Up",
    ),
    BuiltinCommand(
        "document",
        "Write down what a notebook or code does",
        "what to document",
        "Document what I name below, or else the notebook of this task. In a notebook put a Markdown cell in front of each "
        "part that says why it is there and what to see in its output, and one at the top with the question, the data and "
        "where it comes from, and the result. Give functions docstrings with arguments, returned values and units. "
        "Describe what is there, guess at nothing, and change no code.\n\n$ARGUMENTS",
        "Document",
    ),
    BuiltinCommand(
        "add-types",
        "Add type hints",
        "what gets type hints",
        "Add type hints to what I name below, or else to the current cell: to parameters and returned values, and to "
        "variables only where a reader could not tell. Look at the variables as they are now instead of guessing. Change nothing "
        "that the code does, and run it again.\n\n$ARGUMENTS",
        "Add Types",
    ),
    BuiltinCommand(
        "test",
        "Check results and write tests",
        "what to check",
        "Check what I name below, or else what the notebook of this task works out. For functions write tests with small, "
        "readable data, edge cases included: nothing at all, missing values, duplicates, wrong types. For results add cells "
        "that assert what must hold: row counts before and after joins, ranges, missing values, totals that must agree. "
        "Run them, and tell me which do not hold and why. Do not change the code under test without asking me.\n\n"
        "$ARGUMENTS",
        "Add Tests",
    ),
    BuiltinCommand(
        "clean-up",
        "Clean up a notebook or code",
        "what to clean up",
        "Put in order what I name below, or else the notebook of this task, so that it runs from top to bottom in a new kernel "
        "with the same results. Bring imports and settings to the top, put cells into the order in which they depend on each "
        "other, take out what is dead, repeated or left over from trying things, make functions of code that is repeated, and "
        "give names that say what is meant. Tell me your plan first. In the end restart the kernel, run everything, and "
        "compare the results with those from before.\n\n$ARGUMENTS",
    ),
    BuiltinCommand(
        "to-function",
        "Turn code into a function",
        "what becomes a function",
        "Turn what I name below into a function, or else the current cell. Its name says what it does. What comes from other "
        "cells becomes a parameter, what later cells use is returned, and it gets a docstring and type hints. Call it in the same "
        "cell, so that the variables that later cells use are still there. Run it, and compare the results with those from "
        "before.\n\n$ARGUMENTS",
        "Turn into a Function",
    ),
    BuiltinCommand(
        "to-pandas",
        "Rewrite code with pandas",
        "what to rewrite",
        "Rewrite what I name below with pandas, or else the current cell. Look first at what the data is now: columns, types, "
        "missing values, order of rows. Keep every name that other cells use; if another type of table would break them, convert "
        "back at the end and say so. Run it, compare the result with the one from before, and name what differs.\n\n$ARGUMENTS",
        "Rewrite with pandas",
    ),
    BuiltinCommand(
        "to-polars",
        "Rewrite code with Polars",
        "what to rewrite",
        "Rewrite what I name below with Polars, or else the current cell, with expressions and, where it helps, lazily. If "
        "Polars is not installed, ask me before you install it. Look first at what the data is now: columns, types, missing values, "
        "order of rows, the index. Keep every name that other cells use; if another type of table would break them, convert back "
        "at the end and say so. Run it, compare the result with the one from before, and name what differs.\n\n$ARGUMENTS",
        "Rewrite with Polars",
    ),
    BuiltinCommand(
        "to-sql",
        "Rewrite code as SQL",
        "what to rewrite",
        "Rewrite what I name below as SQL, or else the current cell. Use the database connection that the notebook has; if it "
        "has none, use DuckDB on the tables in memory, and ask me before you install it. Pass values as parameters. Keep every name "
        "that other cells use. Run it, compare the result with the one from before, and name what differs, such as the order of "
        "rows or missing values.\n\n$ARGUMENTS",
        "Rewrite as SQL",
    ),
    BuiltinCommand(
        "to-plot",
        "Show data as a plot",
        "what to plot",
        "Show what I name below as a plot, or else the result of the current cell. Look at the data first, and choose the kind "
        "of plot that answers the question. Use the plotting library that the notebook uses already. Name the axes with "
        "their units, and give it a title. Put it into a new cell below, run it, look at the picture, and fix what is hard "
        "to read. Tell me in a sentence what it shows.\n\n$ARGUMENTS",
        "Show as a Plot",
    ),
)
