"""Where the pages for administrators are."""

from __future__ import annotations

from typing import Any

from ..service import HubService
from .pages import (
    STYLES,
    AuditPage,
    OAuthCallbackHandler,
    PersonPage,
    PoliciesPage,
    StatusPage,
    StylesHandler,
    UsageFile,
    UsagePage,
)
from .server_pages import RunningPage, StopRequestHandler, StopTaskHandler, StorageFile, StoragePage

__all__ = ["admin_routes"]


def admin_routes(service: HubService) -> list[tuple[str, Any, dict[str, Any]]]:
    """The address of each, and what it is given."""
    prefix, given = service.addresses.prefix, {"service": service}
    return [
        (prefix, UsagePage, given),
        (f"{prefix}usage\\.csv", UsageFile, given),
        (f"{prefix}person", PersonPage, given),
        (f"{prefix}running", RunningPage, given),
        (f"{prefix}running/stop-task", StopTaskHandler, given),
        (f"{prefix}running/stop-request", StopRequestHandler, given),
        (f"{prefix}storage", StoragePage, given),
        (f"{prefix}storage\\.csv", StorageFile, given),
        (f"{prefix}policies", PoliciesPage, given),
        (f"{prefix}status", StatusPage, given),
        (f"{prefix}audit", AuditPage, given),
        (f"{prefix}oauth_callback", OAuthCallbackHandler, given),
        (f"{prefix}static/(admin\\.css)", StylesHandler, {"path": str(STYLES)}),
    ]
