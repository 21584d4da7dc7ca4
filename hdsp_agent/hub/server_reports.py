"""Where people's servers tell which tasks run and what is stored, and hear which tasks to stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ..telemetry import ServerReport, StopAnswer
from .hub_handler import HubHandler
from .refusals import Refusal

if TYPE_CHECKING:
    from .service import HubService

__all__ = ["ServerReportHandler"]

_KNOWN_SECONDS = 300.0
"""JupyterHub is not asked about each report: a token that was taken back can tell of its own tasks for so long."""


class ServerReportHandler(HubHandler):
    """Reports of one person's servers. The token says whose they are."""

    known_seconds = _KNOWN_SECONDS

    def initialize(self, service: HubService) -> None:
        """What all handlers share."""
        super().initialize(service)
        self._gone = asyncio.Event()

    async def post(self) -> None:
        """Take a report; the answer may wait until an administrator wants something."""
        person = await self.user()
        try:
            report = ServerReport.model_validate_json(self.request.body)
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
            field = ".".join(str(part)[:50] for part in wrong["loc"])
            raise Refusal(400, "invalid_request_error", f"{field or 'The report'}: {wrong['msg'][:200]}") from None
        service = self.service
        service.seen.add(person, service.time())
        server = service.servers.told(person.name, report)
        orders = await service.servers.next_orders(server, self._gone)
        if not self._gone.is_set():
            self.answer(StopAnswer(stop=tuple(orders)).model_dump(mode="json"))

    def on_connection_close(self) -> None:
        """Nobody waits any more."""
        self._gone.set()
