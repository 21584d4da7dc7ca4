"""Several people in one server: whoever a request says it is from, and what each of them may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.auth.identity import IdentityProvider, User

from tests.comm.channel._helpers.channel_panel import Panel

__all__ = ["ADA", "BOB", "READER", "KnownPeople", "OnlyReading", "OpenPage", "server_of"]

OpenPage = Callable[[Mapping[str, str]], AbstractAsyncContextManager[Panel]]

ADA = {"X-Person": "ada"}
BOB = {"X-Person": "bob"}
READER = {"X-Person": "reader"}


class KnownPeople(IdentityProvider):
    """Knows people by a header, as a proxy before the server would tell it."""

    def get_user(self, handler) -> User | None:  # type: ignore[no-untyped-def]
        name = handler.request.headers.get("X-Person")
        return User(username=name) if name else None


class OnlyReading(Authorizer):
    """Everybody may do everything but the reader, who may only look."""

    async def is_authorized(self, handler, user, action, resource) -> bool:  # type: ignore[no-untyped-def]
        return bool(user.username != "reader" or action == "read")


def server_of(config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """The configuration of a server with several people."""
    people = {"identity_provider_class": KnownPeople, "authorizer_class": OnlyReading, "disable_check_xsrf": True}
    return {**config, "ServerApp": {**config["ServerApp"], **people}}
