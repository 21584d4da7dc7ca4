"""How many tokens go along with a message that is being written, before it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ..._threads import Stop, in_thread
from ...context import TokenCounter, without_images
from ...messages import ApiMessage, Attachment, JsonObject, attachments_text
from ...providers import KnownModel, model_info
from ..conversation.user_text import said
from ._attachment_reading import read_attachments
from ._draft_state import DraftState
from ._expanded_message import attached_text
from ._mentions import is_resource, mentions_in, read_mentions
from ._quiet_reader import QuietReader

__all__ = ["DraftTokens", "TokenCount", "draft_tokens"]


@dataclass(frozen=True)
class TokenCount:
    """How many tokens something is, as the model counts, or about."""

    tokens: int
    is_exact: bool


@dataclass(frozen=True)
class DraftTokens:
    """What goes along with a message, besides its words."""

    total: TokenCount
    attachments: Sequence[TokenCount | None]
    """None for what is not counted until it is read."""
    images: Sequence[TokenCount]
    is_partial: bool
    """Whether more is read when the message is sent: pages elsewhere and what changed since a checkpoint are not before."""


async def draft_tokens(
    state: DraftState, text: str, attachments: Sequence[Attachment], images: Sequence[str]
) -> DraftTokens:
    """Reads what would be read for the model, except from other machines; saves no checkpoint for it."""
    reader = QuietReader(state)
    here = [attachment for attachment in attachments if not _is_read_later(attachment)]
    named = mentions_in(text)
    named_here = [name for name in named if not is_resource(name, reader)]
    told = await read_attachments(here, state)
    mentioned = await read_mentions(named_here, reader)
    # The catalogue is a large module that is read at first use.
    info = KnownModel("", "") if state.provider is None else await asyncio.to_thread(model_info, state.provider)
    pictures = _pictures([*images, *mentioned.images], sees=info.supports_images)

    def masked(_stop: Stop) -> list[str]:
        return [state.masker.mask(each) for each in (attached_text(told, mentioned), *map(_alone, told))]

    texts = await in_thread(masked)
    counted = await _counts(state, info.id, [*texts, *pictures])
    whole, each, of_pictures = counted[0], counted[1 : len(texts)], counted[len(texts) :]
    known = iter(each)
    return DraftTokens(
        total=TokenCount(
            whole.tokens + sum(one.tokens for one in of_pictures), all(one.is_exact for one in (whole, *of_pictures))
        ),
        attachments=[None if _is_read_later(attachment) else next(known) for attachment in attachments],
        images=of_pictures[: len(images)],
        is_partial=len(here) < len(attachments) or len(named_here) < len(named),
    )


async def _counts(state: DraftState, model: str, parts: Sequence[str | JsonObject]) -> list[TokenCount]:
    """Of each text, and each block of an image: by the model itself if it is here and tells, else by an estimate."""
    services = state.services
    texts = [part for part in parts if isinstance(part, str)]
    exact = await services.count_tokens(state.profile, texts) if any(texts) else [0] * len(texts)
    counter, factor = TokenCounter.of(state.settings, model), services.calibration.factor(model)

    def about(part: str | JsonObject) -> int:
        return round(counter.text(part) * factor) if isinstance(part, str) else counter.blocks([part])

    # The size of an image is looked up.
    estimates = await in_thread(lambda _stop: [about(part) for part in parts])
    known = iter(exact or ())
    return [
        TokenCount(next(known), True) if exact is not None and isinstance(part, str) else TokenCount(tokens, False)
        for part, tokens in zip(parts, estimates, strict=True)
    ]


def _is_read_later(attachment: Attachment) -> bool:
    """What is on another machine, and what is told by a comparison, for which a checkpoint would be saved."""
    return attachment.kind in ("page", "checkpoint") and attachment.content is None


def _alone(attachment: Attachment) -> str:
    return attachments_text([attachment])


def _pictures(images: Sequence[str], *, sees: bool) -> list[str | JsonObject]:
    """As the model is told of them: a word for each in the place of one that it cannot see, or that is none."""
    message = ApiMessage(role="user", content=said(None, images), ts=0)
    blocks = (message if sees else without_images(message)).content
    assert not isinstance(blocks, str)
    return [str(block["text"]) if block["type"] == "text" else block for block in blocks]
