"""What a call gave, as the protocol says it."""

from __future__ import annotations

import mcp_types as types
from pydantic import JsonValue

from ...agent.external.port import ExternalResult, OfferedResource, OfferedTool, ResourceContent
from ...messages import JsonObject

__all__ = ["as_contents", "as_resource", "as_result", "as_template", "as_tool", "error_result"]


def as_tool(tool: OfferedTool) -> types.Tool:
    """A tool as it is listed."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def as_result(result: ExternalResult) -> types.CallToolResult:
    """A result with its blocks, and its data beside them."""
    return types.CallToolResult(
        content=[_block(block) for block in result.content],
        structured_content=result.structured,
        is_error=result.is_error,
    )


def error_result(sentence: str) -> types.CallToolResult:
    """A refusal that the model reads."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)


def as_resource(resource: OfferedResource) -> types.Resource:
    """A resource as it is listed."""
    return types.Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.media_type,
    )


def as_template(resource: OfferedResource) -> types.ResourceTemplate:
    """The same of one whose address has something to fill in."""
    return types.ResourceTemplate(
        uri_template=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.media_type,
    )


def as_contents(part: ResourceContent) -> types.TextResourceContents | types.BlobResourceContents:
    """A part of a resource."""
    if part.data is not None:
        return types.BlobResourceContents(uri=part.uri, mime_type=part.media_type, blob=part.data)
    return types.TextResourceContents(uri=part.uri, mime_type=part.media_type, text=part.text or "")


def _block(block: JsonObject) -> types.ContentBlock:
    match block:
        case {"type": "text", "text": str(text)}:
            return types.TextContent(type="text", text=text)
        case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            return types.ImageContent(type="image", data=data, mime_type=kind)
    kind_: JsonValue = block.get("type")
    raise TypeError(f"a block of the type {kind_!r} has no form in the protocol")
