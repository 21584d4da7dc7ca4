"""Who is at a server of the stories that belongs to a hub."""

from __future__ import annotations

from jupyter_server.auth import IdentityProvider, User
from tornado.web import RequestHandler


class HubIdentity(IdentityProvider):
    """Everybody who comes in is Ada, as JupyterHub says."""

    async def get_user(self, handler: RequestHandler) -> User:
        """Ada."""
        return User("ada", "ada", "Ada")
