"""Who is at the other end of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._person import running_person
from ._owner import Owner

if TYPE_CHECKING:
    from jupyter_server.base.handlers import JupyterHandler

__all__ = ["Owner", "owner_of", "server_owner"]


def owner_of(handler: JupyterHandler) -> Owner:
    """The person whose settings and conversations an authenticated request is about.

    Jupyter's own token and password providers know only "someone who has the token" and give every browser a random
    name; there the owner is whoever runs the server, so that a second browser sees the same conversation. A subclass
    may know better, hence the exact classes.
    """
    from jupyter_server.auth.identity import IdentityProvider, PasswordIdentityProvider

    if type(handler.identity_provider) in (IdentityProvider, PasswordIdentityProvider):
        return server_owner()
    return Owner(handler.current_user.username)


def server_owner() -> Owner:
    """Whoever runs the server."""
    return Owner(running_person())
