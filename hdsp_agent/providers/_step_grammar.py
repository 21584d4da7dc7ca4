"""The grammar of one step: a JSON object that is a tool call, with its code below it as people write code.

Inside a JSON string a small model loses indentation, and ends the code at its first double quote. llama.cpp holds an
answer to such a grammar (GBNF); other servers know only JSON schemas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from ..messages import JsonObject
from ._constrained_request import CODE, CODE_BEGINS, CODE_ENDS, TOOL
from ._model import ToolSpec

__all__ = ["step_grammar"]

_RULES: Final = r"""
code ::= [^ \t\n\r`] rest line*
line ::= "\n" ([^\n\r`] rest)?
rest ::= [^\n\r]*
text ::= "\"" ([^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F]))* "\""
number ::= [1-9] [0-9]? [0-9]? [0-9]?
"""


def step_grammar(tools: Sequence[ToolSpec]) -> str:
    """The grammar of a call of one of these tools."""
    calls = [f"call{at} ::= {' '.join(_call(tool))}" for at, tool in enumerate(tools)]
    root = " | ".join(f"call{at}" for at in range(len(tools)))
    return "\n".join([f"root ::= {root}", *calls]) + _RULES


def _call(tool: ToolSpec) -> Iterator[str]:
    given = tool.parameters.get("properties")
    properties = given if isinstance(given, dict) else {}
    yield _literal(f'{{"{TOOL}": {json.dumps(tool.name)}')
    for name, schema in properties.items():
        if name != CODE:
            yield _literal(f", {json.dumps(name)}: ")
            yield _value(schema)
    yield _literal("}")
    if CODE in properties:
        yield f"{_literal(CODE_BEGINS)} code {_literal(CODE_ENDS)}"


def _value(schema: JsonValue) -> str:
    described: JsonObject = schema if isinstance(schema, dict) else {}
    choices = described.get("anyOf")
    if isinstance(choices, list):
        return "(" + " | ".join(_value(choice) for choice in choices) + ")"
    values = [described["const"]] if "const" in described else described.get("enum")
    if isinstance(values, list):
        return "(" + " | ".join(_literal(json.dumps(value, ensure_ascii=False)) for value in values) + ")"
    return "number" if described.get("type") == "integer" else "text"


def _literal(text: str) -> str:
    """The text in the grammar's own quotes."""
    return json.dumps(text, ensure_ascii=False)
