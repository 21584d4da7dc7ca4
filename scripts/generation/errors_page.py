"""``docs/reference/errors.md``: the codes of errors, of models' failures, and of what cannot be restored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from hdsp_agent.checkpoints.failure_codes import WhyCode
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.providers import ERROR_CLASSES, REMEDIES

from .markdown import code, header, one_line, table

__all__ = ["write_errors_page"]

_INTRODUCTION: Final = """
Every error has a stable code. Over REST and the channel it is `{code, message, params, field?}`: `message` is the English
sentence, `params` are what a translation fills in.
"""

_MODEL: Final = """
When a provider refuses a request, the agent sorts the refusal into one of these classes and acts on it.
`hdsp-agent explain-error` prints the class of any error text.
"""

_FAILURES: Final = """
When something cannot be saved or restored, the checkpoint says why by one of these codes. Pages show the reason in the
reader's language; the command line prints the English sentence.
"""


def write_errors_page() -> str:
    """The file's text, before prettier."""
    errors = sorted(_rows(HdspAgentError), key=lambda row: row[0])
    models = [(code(kind), one_line(REMEDIES[kind])) for kind in ERROR_CLASSES]
    parts = [
        header("Error codes", "hdsp_agent/errors.py, providers and checkpoints", _INTRODUCTION),
        table(("Code", "HTTP status", "What it means"), errors),
        "## Failures of a model",
        _MODEL.strip(),
        table(("Class", "What the agent or you can do"), models),
        "## Why something cannot be restored",
        _FAILURES.strip(),
        ", ".join(code(name) for name in get_args(WhyCode)) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _rows(error: type[HdspAgentError]) -> Iterator[tuple[str, str, str]]:
    if error.__module__ == HdspAgentError.__module__:
        yield code(error.code), str(error.status), one_line(error.__doc__ or "")
        for narrower in error.__subclasses__():
            yield from _rows(narrower)
