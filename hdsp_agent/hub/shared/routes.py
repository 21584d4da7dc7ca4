"""Where links are, and where they are shared and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..admin.pages import StylesHandler
from ..service import HubService
from .link_pages import AllLinksPage, EndAnyLinkHandler, EndLinkHandler, OwnLinksPage, SharedPage
from .link_requests import AdminLinkHandler, AdminLinksHandler, LinkHandler, LinksHandler

__all__ = ["shared_routes"]

_STYLES = Path(__file__).parent / "static"


def shared_routes(service: HubService) -> list[tuple[str, Any, dict[str, Any]]]:
    """The address of each, and what it is given."""
    prefix, given = service.addresses.prefix, {"service": service}
    number = "([0-9]{1,15})"
    return [
        (f"{prefix}api/shared", LinksHandler, given),
        (f"{prefix}api/shared/{number}", LinkHandler, given),
        (f"{prefix}api/admin/shared", AdminLinksHandler, given),
        (f"{prefix}api/admin/shared/{number}", AdminLinkHandler, given),
        (f"{prefix}shared", OwnLinksPage, given),
        # Before the next one, whose pattern it fits; no link is called that.
        (f"{prefix}shared/end", EndLinkHandler, given),
        (f"{prefix}shared/([^/]+)", SharedPage, given),
        (f"{prefix}links", AllLinksPage, given),
        (f"{prefix}links/end", EndAnyLinkHandler, given),
        (f"{prefix}static/(shared\\.css)", StylesHandler, {"path": str(_STYLES)}),
    ]
