"""Our server with what the official suite wants beyond our own tools: questions to the client, logs, subscriptions.

None of it is in the product. It is mounted on the same handler, so that Tornado, the bridge and the checks are tested with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import mcp_types as types
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.jsonrpc import MISSING_REQUIRED_CLIENT_CAPABILITY

from hdsp_agent.agent.external.port import ExternalAgents
from hdsp_agent.mcp.server._client_info import Context
from hdsp_agent.mcp.server.protocol_server import McpServer, protocol_server
from tests.mcp._helpers.port_agents import PIXEL

from .suite_inputs import INPUT_TOOLS, input_prompt, input_result

__all__ = ["suite_server"]

ToolAnswer = types.CallToolResult | types.InputRequiredResult
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_PROMPT_TEXT = "This is a simple prompt for testing."


def suite_server(agents: ExternalAgents) -> McpServer:
    """What the tests mount instead of the plain server."""
    server = protocol_server(agents)
    bus = InMemorySubscriptionBus()
    own_list, own_call = server.get_request_handler("tools/list"), server.get_request_handler("tools/call")
    assert own_list is not None and own_call is not None

    async def list_tools(context: Context, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        own = await own_list.handler(context, params)
        assert isinstance(own, types.ListToolsResult)
        return types.ListToolsResult(tools=[*own.tools, *(_tool(name) for name in (*_TOOLS, *_TRIGGERS, *INPUT_TOOLS))])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
        if params.name in _TRIGGERS:
            await bus.publish(_TRIGGERS[params.name]())
            return _said("changed")
        if params.name in INPUT_TOOLS:
            return input_result(context, params)
        if (tool := _TOOLS.get(params.name)) is not None:
            return await tool(context, params)
        answer = await own_call.handler(context, params)
        assert isinstance(answer, types.CallToolResult)
        return answer

    # One tool declares headers, so they are to be compared: by the list, as the SDK does it unless told otherwise.
    server.get_tool_input_schema = None
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.add_request_handler("prompts/list", types.PaginatedRequestParams, _list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, _get_prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, _complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _nothing)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, _nothing)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, _nothing)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(bus))
    return server


def _tool(name: str) -> types.Tool:
    return types.Tool(name=name, description=f"Fixture {name}.", input_schema={"type": "object"})


def _said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def _resource(uri: str, media_type: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=media_type, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


async def _audio(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    return types.CallToolResult(content=[types.AudioContent(type="audio", data=_WAV, mime_type="audio/wav")])


async def _embedded(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    text = "This is an embedded resource content."
    return types.CallToolResult(content=[_resource("test://embedded-resource", "text/plain", text)])


async def _mixed(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    data = '{"test":"data","value":123}'
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text="Multiple content types test:"),
            _image(),
            _resource("test://mixed-content-resource", "application/json", data),
        ]
    )


async def _log(context: Context, text: str) -> None:
    # As the SDK has it from 2026-07-28 on: only where the request asked for it.
    if context.protocol_version >= "2026":
        return
    await context.session.send_notification(
        types.LoggingMessageNotification(params=types.LoggingMessageNotificationParams(level="info", data=text)),
        context.request_id,
    )


async def _logging(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await _log(context, text)
        await asyncio.sleep(0.05)
    return _said("done")


async def _progress(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return _said("done")


async def _sampling(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    prompt = types.TextContent(type="text", text=str((params.arguments or {}).get("prompt", "")))
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=prompt)], max_tokens=100
        )
    )
    answer = await context.session.send_request(
        request, types.CreateMessageResult, metadata=ServerMessageMetadata(related_request_id=context.request_id)
    )
    assert isinstance(answer.content, types.TextContent)
    return _said(f"LLM response: {answer.content.text}")


async def _elicited(context: Context, message: str, schema: types.ElicitRequestedSchema, words: str) -> ToolAnswer:
    answer = await context.session.elicit_form(message, schema, context.request_id)
    return _said(f"{words}: action={answer.action}, content={answer.content}")


async def _elicitation(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    schema = {
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    }
    message = str((params.arguments or {}).get("message", ""))
    return await _elicited(context, message, schema, "User response")


async def _defaults(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    }
    return await _elicited(context, "Please fill this in", schema, "Elicitation completed")


async def _enums(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    plain = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    choices = [
        {"const": f"value{n}", "title": f"{word} Choice"} for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    schema = {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {"type": "string", **legacy},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": choices}},
        },
    }
    return await _elicited(context, "Please choose", schema, "Elicitation completed")


async def _missing(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY, "Sampling is needed", {"requiredCapabilities": {"sampling": {}}}
        )
    return _said("done")


async def _streaming(context: Context, params: types.CallToolRequestParams) -> ToolAnswer:
    await context.session.report_progress(1, 2)
    return _said("done")


_TOOLS: dict[str, Callable[[Context, types.CallToolRequestParams], Awaitable[ToolAnswer]]] = {
    "test_audio_content": _audio,
    "test_embedded_resource": _embedded,
    "test_multiple_content_types": _mixed,
    "test_tool_with_logging": _logging,
    "test_logging_tool": _logging,
    "test_tool_with_progress": _progress,
    "test_sampling": _sampling,
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _defaults,
    "test_elicitation_sep1330_enums": _enums,
    "test_missing_capability": _missing,
    "test_streaming_elicitation": _streaming,
}
_TRIGGERS: dict[str, Callable[[], ToolsListChanged | PromptsListChanged]] = {
    "test_trigger_tool_change": ToolsListChanged,
    "test_trigger_prompt_change": PromptsListChanged,
}


async def _nothing(context: Context, params: object) -> types.EmptyResult:
    return types.EmptyResult()


async def _complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def _list_prompts(context: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
    arguments = {
        "test_prompt_with_arguments": ("arg1", "arg2"),
        "test_prompt_with_embedded_resource": ("resourceUri",),
    }
    names = ("test_simple_prompt", *arguments, "test_prompt_with_image", "test_input_required_result_prompt")
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=f"Fixture {name}.",
                arguments=[types.PromptArgument(name=each, required=True) for each in arguments.get(name, ())],
            )
            for name in names
        ]
    )


async def _get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}

    def messages(*contents: types.ContentBlock) -> types.GetPromptResult:
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in contents])

    def text(words: str) -> types.TextContent:
        return types.TextContent(type="text", text=words)

    match params.name:
        case "test_simple_prompt":
            return messages(text(_PROMPT_TEXT))
        case "test_prompt_with_arguments":
            return messages(text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"))
        case "test_prompt_with_embedded_resource":
            embedded = _resource(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return messages(embedded, text("Please process the embedded resource above."))
        case "test_prompt_with_image":
            return messages(_image(), text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            return input_prompt(params)
    raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name}.")
