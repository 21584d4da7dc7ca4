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
    StopHandler,
    StylesHandler,
    UsageFile,
    UsagePage,
)

__all__ = ["admin_routes"]


def admin_routes(service: HubService) -> list[tuple[str, Any, dict[str, Any]]]:
    """The address of each, and what it is given."""
    prefix, given = service.addresses.prefix, {"service": service}
    return [
        (prefix, UsagePage, given),
        (f"{prefix}usage\\.csv", UsageFile, given),
        (f"{prefix}person", PersonPage, given),
        (f"{prefix}policies", PoliciesPage, given),
        (f"{prefix}status", StatusPage, given),
        (f"{prefix}status/stop", StopHandler, given),
        (f"{prefix}audit", AuditPage, given),
        (f"{prefix}oauth_callback", OAuthCallbackHandler, given),
        (f"{prefix}static/(admin\\.css)", StylesHandler, {"path": str(STYLES)}),
    ]
