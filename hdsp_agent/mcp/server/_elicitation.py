"""A question to the person in the program's own window, as the protocol calls elicitation."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession

from ..._background_tasks import BackgroundTasks

if TYPE_CHECKING:
    from ...agent.external.port import AskProgram

__all__ = ["asker", "can_be_asked"]

logger = logging.getLogger(__name__)

_DECISION: Final = "decision"
_ALLOW: Final = "allow"
_DENY: Final = "deny"
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        _DECISION: {
            "type": "string",
            "title": "Decision",
            # The first may be what a program has chosen already when it shows the form. No default, for the same reason.
            "enum": [_DENY, _ALLOW],
        }
    },
    "required": [_DECISION],
}


def can_be_asked(session: ServerSession) -> bool:
    """Whether the program shows forms, and a question can reach it while its call goes on.

    From 2026-07-28 on, a question ends the call and begins it again with the answer. Nothing could be taken back that is
    answered here first, so those programs are not asked.
    """
    capabilities = session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    # Before there were pages to open, there were only forms, and nobody said so.
    shows_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    return shows_forms and session.can_send_request


def asker(context: ServerRequestContext[Any, Any], held: BackgroundTasks) -> AskProgram:
    """Asks on the stream of this call. ``held`` keeps what is left to say when nobody waits for the answer any more."""

    async def ask(text: str) -> bool | None:
        question = asyncio.ensure_future(_answer(context, text))
        try:
            return await asyncio.shield(question)
        except asyncio.CancelledError:
            # The SDK tells the program, which may be slow to hear it.
            held.begin(_taken_back(question))
            raise

    return ask


async def _answer(context: ServerRequestContext[Any, Any], text: str) -> bool | None:
    """Yes or no, if it was filled in and is one of the two; whatever else comes is no answer."""
    given = await context.session.elicit_form(text, _FORM, context.request_id)
    content = given.content or {}
    decision = content.get(_DECISION) if given.action == "accept" and content.keys() == {_DECISION} else None
    return {_ALLOW: True, _DENY: False}.get(decision) if isinstance(decision, str) else None


async def _taken_back(question: asyncio.Task[bool | None]) -> None:
    question.cancel()
    await asyncio.wait({question})
    if not question.cancelled() and (error := question.exception()) is not None:
        logger.debug("HDSP Agent: a question in another agent's window ended with %r", error)
