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


BUILT_IN: Final = (
    BuiltinCommand(
        "explain",
        "Explain a cell, a notebook or code",
        "what to explain",
        "Explain what I name below, or else the notebook of this task, to somebody who has to work with it. Read it first, "
        "outputs included. Say what goes in and what comes out, what each step does to the data (columns, shapes, units), "
        "which cells depend on which, and what it takes for granted. Point out what is surprising, slow or probably wrong. "
        "Change nothing.\n\n$ARGUMENTS",
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
        "test",
        "Check results and write tests",
        "what to check",
        "Check what I name below, or else what the notebook of this task works out. For functions write tests with small, "
        "readable data, edge cases included: nothing at all, missing values, duplicates, wrong types. For results add cells "
        "that assert what must hold: row counts before and after joins, ranges, missing values, totals that must agree. "
        "Run them, and tell me which do not hold and why. Do not change the code under test without asking me.\n\n"
        "$ARGUMENTS",
    ),
    BuiltinCommand(
        "document",
        "Write down what a notebook or code does",
        "what to document",
        "Document what I name below, or else the notebook of this task. In a notebook put a Markdown cell in front of each "
        "part that says why it is there and what to see in its output, and one at the top with the question, the data and "
        "where it comes from, and the result. Give functions docstrings with arguments, returned values and units. "
        "Describe what is there, guess at nothing, and change no code.\n\n$ARGUMENTS",
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
)
