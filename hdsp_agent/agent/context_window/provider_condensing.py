"""Condensing at the provider, where it offers that; in any other case the agent does it itself, and nobody notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import ApiMessage, JsonObject
from ...providers import (
    CompactingClient,
    Compaction,
    EncryptedItemRefused,
    ModelClient,
    ModelError,
    ModelRequest,
    UsageReport,
    classify,
    sealed_items,
)
from .summary_request import SECONDS, has_own_prompt, take_turn

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["reads_all", "sealed_by_provider"]


async def sealed_by_provider(
    state: TaskState, client: ModelClient, request: ModelRequest, taken: list[UsageReport]
) -> JsonObject | None:
    """The item that stands for the messages of this request, for this model alone; None if there is none to be had.

    What it took is added to ``taken``. An endpoint where it fails is left alone for a while, or for good. Raises
    EncryptedItemRefused: then the messages of this request are of no use for a summary either.
    """
    offers = state.services.offers
    endpoint = client.endpoint if isinstance(client, CompactingClient) else None
    if (
        not isinstance(client, CompactingClient)
        or endpoint is None
        or not state.settings.condense_at_provider
        or has_own_prompt(state)
    ):
        return None
    if not offers.may_be_asked(endpoint):
        return None
    await take_turn(state)
    try:
        done = await state.cancellation.run(_asked(client, request), f"Compaction of task {state.task_id}")
    except EncryptedItemRefused:
        raise
    except ModelError as error:
        offers.failed(endpoint, error)
        state.logger.info("The provider did not condense the conversation, so the agent does it: %s", error.message)
        return None
    if done.usage is not None:
        taken.append(done.usage)
    return done.item


def reads_all(client: ModelClient, messages: Sequence[ApiMessage]) -> bool:
    """Whether a model can read all that a provider sealed in these messages."""
    endpoint = client.endpoint if isinstance(client, CompactingClient) else None
    return all(
        endpoint is not None and len(sealed_items(message, endpoint)) == len(sealed)
        for message in messages
        if (sealed := sealed_items(message))
    )


async def _asked(client: CompactingClient, request: ModelRequest) -> Compaction:
    """Ask for it; whatever goes wrong is a ModelError."""
    provider = client.info.provider
    try:
        return await wait_at_most(client.compact(request), SECONDS)
    except ModelError:
        raise
    except TimeoutError:
        raise ModelError(f"It took longer than {SECONDS:.0f} seconds.", kind="timeout", provider=provider) from None
    except HdspAgentError as error:
        raise ModelError(error.message, provider=provider) from error
    except Exception as error:
        raise classify(provider=provider, exception=error) from error
