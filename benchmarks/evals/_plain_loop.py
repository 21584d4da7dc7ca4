"""The plain loop: the same weights in the same process, with what any agent would do and nothing more.

- The model is asked through Chat Completions with native tools, temperature 0 and at most 512 tokens an answer. Its own chat
  template tells it of the tools.
- The tools are elementary: read the notebook, insert, edit, delete and run one cell, list the variables, answer. A result is
  what the tool has to say, outputs and errors included; a wrong call is told what is wrong with it.
- The system prompt is a few sentences, with an example of inserting, running and answering. With the person's words come all
  cells with their outputs, the number of the cell the person is in, and the names of the files.
- To be fair to a model that writes its calls as text, as this one does, they are read from text as well: any JSON object with
  a name and arguments, fenced, tagged or bare. An answer is cut behind its first call, because this model, once it has made
  two, makes dozens. Calls go back to it as it wrote them, and results as messages that ask for the next call or the answer:
  told in the form of native calls, it did nothing but repeat itself.
- The tool for it, or words without a call, are the answer and the end. Nothing is constrained, checked, repeated, refused or
  run on the model's behalf.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import CellId, DeleteCell, InsertCell, JsonObject, ReplaceSource, TaskId
from hdsp_agent.notebooks import Cell, NotebookSnapshot, new_cell_id
from hdsp_agent.notebooks.kernels import CellRunSpec

from ._eval_task import SeenCell
from ._notebook_fixture import NOTEBOOK, NotebookFixture
from ._runner import MOST_REQUESTS, MOST_TOKENS, Attempt, ReadyModel

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

__all__ = ["run_plain_loop"]

_SYSTEM: Final = (
    "You are an assistant inside a Jupyter notebook. Do what the user asks by calling tools. Cells are named by their "
    "number, from 1. Code you insert or edit does not run until you call run_cell. When you are done, or when you know what "
    "the user asked, call answer. For example, to show 2 + 3 in an empty notebook, call, one after the other:\n"
    '{"name": "insert_cell", "arguments": {"source": "2 + 3"}}\n'
    '{"name": "run_cell", "arguments": {"cell": 1}}\n'
    '{"name": "answer", "arguments": {"text": "Cell 1 shows 5."}}'
)
_ANSWER_TOKENS: Final = 512
_GO_ON: Final = "If something is left to do, call the next tool. Otherwise call answer."
_RUN_SECONDS: Final = 60
_MOST_TEXT: Final = 2000
_TASK: Final = TaskId("the-plain-loop")
_NUMBER: Final[JsonObject] = {"type": "integer", "description": "The number of the cell, from 1."}
_ANSWER: Final[JsonObject] = {"type": "string", "description": "One or two sentences."}
_CODE: Final[JsonObject] = {"type": "string", "description": "The whole source of the cell."}


class _Wrong(Exception):
    """What is wrong with a call, for the model."""


def _tool(
    name: str, description: str, required: Mapping[str, JsonObject], **optional: JsonObject
) -> ChatCompletionFunctionToolParam:
    properties = {**required, **optional}
    parameters: dict[str, object] = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_TOOLS: Final = (
    _tool("read_notebook", "Show all cells with their outputs.", {}),
    _tool(
        "insert_cell",
        "Insert a new cell. It is not run.",
        {"source": _CODE},
        cell={"type": "integer", "description": "The number the new cell gets; absent for the end."},
        cell_type={"type": "string", "enum": ["code", "markdown"]},
    ),
    _tool("edit_cell", "Replace the source of a cell. It is not run.", {"cell": _NUMBER, "source": _CODE}),
    _tool("delete_cell", "Delete a cell.", {"cell": _NUMBER}),
    _tool("run_cell", "Run a cell and show its output.", {"cell": _NUMBER}),
    _tool("list_variables", "Show the variables of the kernel with their types and first values.", {}),
    _tool("answer", "Tell the user what was done or asked. This ends your work.", {"text": _ANSWER}),
)
_NAMES: Final = ("read_notebook", "insert_cell", "edit_cell", "delete_cell", "run_cell", "list_variables", "answer")


@dataclass(frozen=True)
class _Call:
    id: str
    name: str
    arguments: JsonObject


async def run_plain_loop(fixture: NotebookFixture, ready: ReadyModel) -> Attempt:
    """Do the task, or as much of it as comes of the plain loop."""
    from openai import AsyncOpenAI, OpenAIError

    attempt = Attempt()
    models = ready.models
    file = await models.file_of(ready.settings)
    words = await _first_prompt(fixture)
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": words},
    ]
    attempt.transcript.append(f"USER: {words}")
    async with models.runtime.turn(file) as endpoint, AsyncOpenAI(base_url=endpoint.url, api_key=endpoint.key) as model:
        while True:
            try:
                said, call, tokens = await _said(model, file.id, messages, attempt.requests)
            except OpenAIError as error:
                attempt.ended = f"the model failed: {error}"
                return attempt
            attempt.requests += 1
            attempt.tokens += tokens
            attempt.transcript.append(f"MODEL: {said}")
            if call is None or call.name == "answer":
                attempt.answer = said if call is None else str(call.arguments.get("text") or "")
                # It has no other ending.
                attempt.claim = "checked"
                return attempt
            result = await _result(call, fixture)
            attempt.transcript += [f"  CALL {call.name} {json.dumps(call.arguments)}", f"  RESULT {result}"]
            messages += _as_turns(call, result)
            if attempt.requests >= MOST_REQUESTS or attempt.tokens >= MOST_TOKENS:
                attempt.ended = f"no answer after {attempt.requests} requests and {attempt.tokens} tokens"
                return attempt


async def _first_prompt(fixture: NotebookFixture) -> str:
    snapshot = await fixture.notebooks.access.document(NOTEBOOK).snapshot(outputs="full")
    facts = [fixture.task.prompt, "", f"The notebook has {len(snapshot.cells)} cells.", _all_cells(snapshot)]
    if fixture.task.at is not None:
        facts.append(f"The user is in cell {fixture.task.at}.")
    if files := [*fixture.task.files, *fixture.task.tables]:
        facts.append(f"Files in the folder: {', '.join(files)}")
    return "\n".join(facts)


async def _said(
    model: AsyncOpenAI, name: str, messages: list[ChatCompletionMessageParam], number: int
) -> tuple[str, _Call | None, int]:
    """What it says, up to the end of its first call; the call; and how many tokens it wrote."""
    text, native_name, native_arguments, tokens = "", "", "", 0
    stream = await model.chat.completions.create(
        model=name,
        messages=messages,
        tools=_TOOLS,
        parallel_tool_calls=False,
        temperature=0,
        max_tokens=_ANSWER_TOKENS,
        stream=True,
    )
    async with stream:
        async for chunk in stream:
            for choice in chunk.choices:
                tokens += 1
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or ():
                    if piece.index == 0 and piece.function is not None:
                        native_name += piece.function.name or ""
                        native_arguments += piece.function.arguments or ""
            if "}" in text and _written(text):
                break
    if native_name:
        return text, _Call(f"call{number}", native_name, _object(native_arguments)), tokens
    written = _written(text)
    return text, _Call(f"call{number}", *written[0]) if written else None, tokens


def _written(text: str) -> list[tuple[str, JsonObject]]:
    found: list[tuple[str, JsonObject]] = []
    decoder, at = json.JSONDecoder(strict=False), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            value, end = None, at + 1
        at = text.find("{", end)
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            flat = {key: given for key, given in value.items() if key != "name"} if value["name"] in _NAMES else None
            arguments = value.get("arguments", value.get("parameters", flat))
            if isinstance(arguments, dict):
                found.append((value["name"], arguments))
    return found


def _object(arguments: str) -> JsonObject:
    try:
        value = json.loads(arguments or "{}", strict=False)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _as_turns(call: _Call, result: str) -> list[ChatCompletionMessageParam]:
    """The call and its result, in the form this model writes."""
    written = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return [
        {"role": "assistant", "content": f"```json\n{written}\n```"},
        {"role": "user", "content": f"Result of {call.name}: {result}\n{_GO_ON}"},
    ]


async def _result(call: _Call, fixture: NotebookFixture) -> str:
    try:
        text = await _done(call, fixture)
    except (_Wrong, HdspAgentError) as error:
        text = f"Error: {error}"
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


async def _done(call: _Call, fixture: NotebookFixture) -> str:
    document = fixture.notebooks.access.document(NOTEBOOK)
    snapshot = await document.snapshot(outputs="full")
    match call.name:
        case "read_notebook":
            return _all_cells(snapshot) or "It is empty."
        case "list_variables":
            report = await fixture.notebooks.executor.inspect(NOTEBOOK)
            return (
                "\n".join(f"{one.name}: {one.type} {one.head or ''}" for one in report.variables) or "There are none."
            )
        case "insert_cell":
            return await _insert(call, fixture, snapshot)
        case "edit_cell":
            cell = _cell(call, snapshot)
            await document.apply([ReplaceSource(cell_id=cell.id, source=_source(call))])
            return "The cell was changed. It was not run."
        case "delete_cell":
            await document.apply([DeleteCell(cell_id=_cell(call, snapshot).id)])
            return "The cell was deleted."
        case "run_cell":
            return await _run(_cell(call, snapshot), fixture)
        case _:
            raise _Wrong(f"There is no tool {call.name}. There are: {', '.join(_NAMES)}.")


async def _insert(call: _Call, fixture: NotebookFixture, snapshot: NotebookSnapshot) -> str:
    wanted = call.arguments.get("cell")
    last = len(snapshot.cells)
    at = max(1, min(_number(wanted), last + 1)) if wanted is not None else last + 1
    after = snapshot.cells[at - 2].id if at > 1 else None
    kind = "markdown" if call.arguments.get("cell_type") == "markdown" else "code"
    new = InsertCell(
        cell_id=CellId(new_cell_id({cell.id for cell in snapshot.cells})),
        after=after,
        cell_type="markdown" if kind == "markdown" else "code",
        source=_source(call),
    )
    await fixture.notebooks.access.document(NOTEBOOK).apply([new])
    return f"It is cell {at} now." + (" It was not run." if kind == "code" else "")


async def _run(cell: Cell, fixture: NotebookFixture) -> str:
    if cell.cell_type != "code":
        raise _Wrong("That is no code cell.")
    run = await fixture.notebooks.run(NOTEBOOK, [CellRunSpec(cell.id, cell.source)], task_id=_TASK)
    await run.wait(_RUN_SECONDS)
    await fixture.notebooks.live_outputs.settled(run)
    return _printed(run.cells[0].outputs.outputs) or "It ran. No output."


def _all_cells(snapshot: NotebookSnapshot) -> str:
    return "\n".join(_shown(number, cell) for number, cell in enumerate(snapshot.cells, 1))


def _shown(number: int, cell: Cell) -> str:
    printed = _printed(list(cell.outputs))
    return f"[{number}] {cell.cell_type}\n{cell.source}" + (f"\nOutput: {printed}" if printed else "")


def _printed(outputs: list[JsonObject]) -> str:
    seen = SeenCell("", "", True, [output for output in outputs if output.get("output_type") != "error"])
    errors = [f"{one.get('ename')}: {one.get('evalue')}" for one in outputs if one.get("output_type") == "error"]
    image = ["[a picture]"] if seen.has_image else []
    return "\n".join(part for part in (seen.text.strip(), *image, *errors) if part)


def _cell(call: _Call, snapshot: NotebookSnapshot) -> Cell:
    number = _number(call.arguments.get("cell"))
    if not 1 <= number <= len(snapshot.cells):
        raise _Wrong(f"There is no cell {number}. There are {len(snapshot.cells)}.")
    return snapshot.cells[number - 1]


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise _Wrong("cell must be the number of a cell.") from None


def _source(call: _Call) -> str:
    source = call.arguments.get("source")
    if not isinstance(source, str):
        raise _Wrong("source must be the source of the cell, as a string.")
    return source
