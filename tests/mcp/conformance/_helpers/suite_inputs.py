"""Tools that ask for something first, as 2026-07-28 has it: a result that says what is missing, and the same call again."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from hdsp_agent.mcp.server._client_info import Context

__all__ = ["INPUT_TOOLS", "input_prompt", "input_result"]

INPUT_TOOLS = tuple(
    f"test_input_required_result_{name}"
    for name in (
        "elicitation",
        "sampling",
        "list_roots",
        "request_state",
        "multiple_inputs",
        "multi_round",
        "tampered_state",
        "capabilities",
    )
)
_KEY = secrets.token_bytes(32)
Answer = types.CallToolResult | types.InputRequiredResult


def _signed(state: str) -> str:
    return f"{state}.{hmac.new(_KEY, state.encode(), hashlib.sha256).hexdigest()}"


def _state(signed: str | None) -> str | None:
    """What was signed. Raises for what was not, or not by us."""
    if signed is None:
        return None
    state = signed.rpartition(".")[0]
    if not hmac.compare_digest(_signed(state).encode(), signed.encode()):
        raise MCPError(types.INVALID_PARAMS, "The request's state was changed.")
    return state


def _question(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens))


def _asked(requests: types.InputRequests, state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=None if state is None else _signed(state))


def _said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def _answers(params: types.CallToolRequestParams | types.GetPromptRequestParams) -> Mapping[str, types.InputResponse]:
    return params.input_responses or {}


def _content(answer: types.InputResponse | None, name: str) -> object:
    if isinstance(answer, types.ElicitResult) and answer.content is not None:
        return answer.content.get(name)
    return None


def input_result(context: Context, params: types.CallToolRequestParams) -> Answer:
    """One round of a tool."""
    answers, state = _answers(params), _state(params.request_state)
    match params.name.removeprefix("test_input_required_result_"):
        case "elicitation":
            name = _content(answers.get("user_name"), "name")
            return _said(f"Hello, {name}!") if name else _asked({"user_name": _question("What is your name?", "name")})
        case "sampling":
            answer = answers.get("capital_question")
            if isinstance(answer, types.CreateMessageResult) and isinstance(answer.content, types.TextContent):
                return _said(answer.content.text)
            return _asked({"capital_question": _sample("What is the capital of France?", 100)})
        case "list_roots":
            roots = answers.get("client_roots")
            if isinstance(roots, types.ListRootsResult):
                return _said("Roots: " + ", ".join(str(root.uri) for root in roots.roots))
            return _asked({"client_roots": types.ListRootsRequest()})
        case "request_state":
            if state is not None and answers.get("confirm") is not None:
                return _said("state-ok")
            return _asked({"confirm": _question("Please confirm", "ok", "boolean")}, "asked")
        case "tampered_state":
            if state is not None:
                return _said("state-ok")
            return _asked({"confirm": _question("Please confirm", "ok", "boolean")}, "asked")
        case "multiple_inputs":
            return _several(answers)
        case "multi_round":
            return _rounds(answers, state)
    return _allowed(context)


def _several(answers: Mapping[str, types.InputResponse]) -> Answer:
    requests: types.InputRequests = {
        "user_name": _question("What is your name?", "name"),
        "greeting": _sample("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    return _said("all there") if requests.keys() <= answers.keys() else _asked(requests, "asked")


def _rounds(answers: Mapping[str, types.InputResponse], state: str | None) -> Answer:
    if state == "second" and "step2" in answers:
        return _said(f"Your color is {_content(answers['step2'], 'color')}.")
    if state == "first" and "step1" in answers:
        return _asked({"step2": _question("Step 2: What is your favorite color?", "color")}, "second")
    return _asked({"step1": _question("Step 1: What is your name?", "name")}, "first")


def _allowed(context: Context) -> Answer:
    capabilities = context.session.client_capabilities
    requests: types.InputRequests = {}
    if capabilities is not None and capabilities.sampling is not None:
        requests["greeting"] = _sample("Generate a greeting", 50)
    if capabilities is not None and capabilities.elicitation is not None:
        requests["user_name"] = _question("What is your name?", "name")
    return _asked(requests, "asked")


def input_prompt(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    """The same for a prompt."""
    found = _content(_answers(params).get("user_context"), "context")
    if found is None:
        return _asked({"user_context": _question("What context should the prompt use?", "context")})
    message = types.PromptMessage(
        role="user", content=types.TextContent(type="text", text=f"Use this context: {found}")
    )
    return types.GetPromptResult(messages=[message])
