"""What a server answered, as the model and the person get it: masked, bounded, and marked as a stranger's words."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import Final

from ...messages import JsonObject
from .._image_file import DamagedImage, TooManyPixels, image_for_model
from .._mcp_port import McpAnswer, McpImage
from .._output_buffer import middle_left_out
from .._tool import ToolContext, ToolResult, image_block

__all__ = ["answer_blocks", "shown_answer"]

_MOST_CHARACTERS: Final = 60_000
_MOST_SHOWN: Final = 20_000
_LARGEST_IMAGE: Final = 5_000_000
_NOTHING: Final = "It answered with nothing."


async def shown_answer(answer: McpAnswer, context: ToolContext) -> ToolResult:
    """Show the person an answer; what the model is told of it."""
    masked, images = await _content(answer, context)
    text, artifact = await _fitted(masked, context)
    shown = masked if len(masked) <= _MOST_SHOWN else middle_left_out(masked, _MOST_SHOWN, "[…]")
    await context.say("mcp_server_response", f"Error: {shown}" if answer.is_error else shown, images=images)
    return ToolResult(_blocks(text, images), is_error=answer.is_error, artifact=artifact, shown=True)


async def answer_blocks(answer: McpAnswer, context: ToolContext) -> Sequence[JsonObject]:
    """An answer as content blocks, shown to nobody."""
    return _blocks(*await _content(answer, context))


async def _content(answer: McpAnswer, context: ToolContext) -> tuple[str, Sequence[str]]:
    """The text, masked, and the pictures as they may be sent."""
    texts = [part for part in answer.parts if isinstance(part, str)]
    images: list[str] = []
    for part in answer.parts:
        if isinstance(part, McpImage):
            image = await _image(part, context)
            if image is None:
                texts.append("[A picture that cannot be shown: it is damaged, or too large.]")
            else:
                images.append(image)
    text = "\n\n".join(texts) or ("" if images else _NOTHING)
    return await asyncio.to_thread(context.mask, text), images


def _blocks(text: str, images: Sequence[str]) -> list[JsonObject]:
    words: list[JsonObject] = [{"type": "text", "text": text}] if text else []
    return [*words, *(image_block(image) for image in images)]


async def _fitted(text: str, context: ToolContext) -> tuple[str, str | None]:
    if len(text) <= _MOST_CHARACTERS:
        return text, None
    artifact = await context.put_artifact(text.encode())
    note = f"[… the middle of {len(text):,} characters is left out: read_command_output with artifact_id {artifact} …]"
    return middle_left_out(text, _MOST_CHARACTERS, note), artifact


async def _image(image: McpImage, context: ToolContext) -> str | None:
    most = min(_LARGEST_IMAGE, int(context.settings.max_image_file_size * 1_000_000))
    try:
        fit = await asyncio.to_thread(image_for_model, image.data, image.media_type, most)
    except (DamagedImage, TooManyPixels):
        return None
    if len(fit.data) > most:
        return None
    return f"data:{fit.media_type};base64,{base64.b64encode(fit.data).decode('ascii')}"
