"""What the official suite asks a server for and the port can say: its plain tools and resources."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from hdsp_agent.agent.external.port import (
    AskProgram,
    ExternalClient,
    ExternalResult,
    OfferedResource,
    OfferedTool,
    Progress,
    ResourceContent,
)
from hdsp_agent.errors import InvalidInput, NotFound
from hdsp_agent.messages import JsonObject
from tests.mcp._helpers.port_agents import PIXEL, PortAgents, offered_tool

__all__ = ["SuiteAgents"]

_TEMPLATE = re.compile(r"test://template/([^/]+)/data")
_SCHEMA_2020: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


_SCHEMA_WITH_HEADER: JsonObject = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}


class SuiteAgents(PortAgents):
    """Answers through the port, so that our own way to the wire is what is tested."""

    async def tools(self, client: ExternalClient) -> Sequence[OfferedTool]:
        return [
            offered_tool("test_simple_text"),
            offered_tool("test_image_content"),
            offered_tool("test_error_handling"),
            offered_tool("json_schema_2020_12_tool", schema=_SCHEMA_2020),
            offered_tool("test_custom_headers", schema=_SCHEMA_WITH_HEADER),
        ]

    async def call(
        self,
        client: ExternalClient,
        name: str,
        arguments: JsonObject,
        progress: Progress,
        ask: AskProgram | None = None,
    ) -> ExternalResult:
        match name:
            case "test_simple_text":
                return ExternalResult([{"type": "text", "text": "This is a simple text response for testing."}])
            case "test_image_content":
                source: JsonObject = {"type": "base64", "media_type": "image/png", "data": PIXEL}
                return ExternalResult([{"type": "image", "source": source}])
            case "test_error_handling":
                raise InvalidInput("This tool intentionally returns an error for testing")
        return ExternalResult([{"type": "text", "text": json.dumps(arguments)}])

    async def resources(self, client: ExternalClient) -> Sequence[OfferedResource]:
        return [
            OfferedResource("test://static-text", "static-text", "Text", "A text.", "text/plain"),
            OfferedResource("test://static-binary", "static-binary", "Image", "An image.", "image/png"),
            OfferedResource("test://template/{id}/data", "template", "Template", "By id.", "application/json"),
        ]

    async def read_resource(self, client: ExternalClient, uri: str) -> Sequence[ResourceContent]:
        if uri == "test://static-text":
            return [ResourceContent(uri, "text/plain", "This is the content of the static text resource.")]
        if uri == "test://static-binary":
            return [ResourceContent(uri, "image/png", data=PIXEL)]
        if (found := _TEMPLATE.fullmatch(uri)) is not None:
            told = {"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}
            return [ResourceContent(uri, "application/json", json.dumps(told))]
        raise NotFound(f"There is no resource {uri}.")
