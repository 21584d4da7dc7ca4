"""Whether the agent is well, and its API's description of itself."""

from __future__ import annotations

from dataclasses import asdict
from time import monotonic

from ..identity import owner_of
from ._rest_bodies import ClientStats, Health, JsonDocument
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["HealthHandler", "OpenApiHandler"]


class HealthHandler(RestHandler):
    """`GET health`"""

    # Monitoring must not keep an idle server alive.
    _track_activity = False

    @endpoint("Whether all is well, and what is not", answer=Health)
    async def get(self) -> Health:
        """Answer from memory alone, so that a sick disk or keyring still gets an answer."""
        services = self.services
        notices = services.notices.standing
        tabs = services.channels.channel(owner_of(self)).clients
        return Health(
            status="degraded" if any(notice.level == "error" for notice in notices) else "ok",
            version=services.version,
            uptime_seconds=round(monotonic() - services.started_at, 3),
            storage_dir=str(services.config.home),
            clients=[ClientStats.model_validate(asdict(tab)) for tab in tabs],
            secret_storage=services.config.secrets.status.storage.kind or "none",
            notices=notices,
        )


class OpenApiHandler(RestHandler):
    """`GET openapi.json`"""

    _track_activity = False

    @endpoint("The OpenAPI description of this API", answer=JsonDocument)
    async def get(self) -> JsonDocument:
        """Derived from the handlers that run."""
        return JsonDocument.model_validate(self.services.describe_api(self.services.version))
