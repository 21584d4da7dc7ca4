"""Who sends a request: JupyterHub says whose token it brings, and what that token may be used for."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from ..errors import Unavailable

if TYPE_CHECKING:
    import httpx2

__all__ = ["ADMIN_SCOPE", "KNOWN_SECONDS", "USE_SCOPE", "HubPeople", "HubPerson"]

USE_SCOPE: Final = "custom:hdsp-agent:use"
ADMIN_SCOPE: Final = "custom:hdsp-agent:admin"

KNOWN_SECONDS: Final = 30.0
"""A token that was taken back, or a person who left a group, is noticed after this time."""
_UNKNOWN_SECONDS: Final = 5.0
_MOST_KNOWN: Final = 20_000


@dataclass(frozen=True)
class HubPerson:
    """Whoever a token belongs to: a person, or one of the hub's services."""

    name: str
    is_service: bool
    groups: tuple[str, ...]
    scopes: frozenset[str]

    @property
    def may_use(self) -> bool:
        """Whether the token may be used for requests to models. Services have no budget."""
        everywhere = {USE_SCOPE, f"{USE_SCOPE}!user={self.name}"}
        here = f"{USE_SCOPE}!server={self.name}/"
        return not self.is_service and any(scope in everywhere or scope.startswith(here) for scope in self.scopes)

    @property
    def is_admin(self) -> bool:
        """Whether the token may be used to look at what others used."""
        return ADMIN_SCOPE in self.scopes


class HubPeople:
    """The people of one JupyterHub, asked for at its API. Answers are remembered for a short time."""

    def __init__(self, api_url: str, http: httpx2.AsyncClient, now: Callable[[], float] = monotonic) -> None:
        self._url = f"{api_url.rstrip('/')}/user"
        self._http = http
        self._now = now
        # By their digest: a token is not kept longer than the request that brought it.
        self._known: OrderedDict[bytes, tuple[float, HubPerson | None]] = OrderedDict()
        self._asking: dict[bytes, asyncio.Task[HubPerson | None]] = {}

    async def of_token(self, token: str, known_seconds: float = KNOWN_SECONDS) -> HubPerson | None:
        """Whose it is; None if the hub does not know it. Raises Unavailable if the hub does not answer.

        What the hub said no longer than ``known_seconds`` ago is not asked again.
        """
        if not token.isascii() or not token.isprintable() or " " in token:
            return None
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None:
            asked_at, person = known
            if self._now() < asked_at + (_UNKNOWN_SECONDS if person is None else known_seconds):
                return person
        if digest not in self._asking:
            self._asking[digest] = asyncio.create_task(self._ask(token, digest), name="hdsp-agent hub person")
        return await asyncio.shield(self._asking[digest])

    async def _ask(self, token: str, digest: bytes) -> HubPerson | None:
        import httpx2

        try:
            answer = await self._http.get(self._url, headers={"Authorization": f"token {token}"})
            if answer.status_code not in (200, 401, 403, 404):
                raise Unavailable(f"JupyterHub answered {answer.status_code} when it was asked whose token this is.")
            person = _person(answer.json()) if answer.status_code == 200 else None
        except (httpx2.HTTPError, ValueError) as error:
            raise Unavailable(f"JupyterHub could not be asked whose token this is ({type(error).__name__}).") from None
        finally:
            del self._asking[digest]
        self._known[digest] = (self._now(), person)
        self._known.move_to_end(digest)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return person


def _person(content: object) -> HubPerson | None:
    if not isinstance(content, dict) or not isinstance(name := content.get("name"), str):
        return None
    return HubPerson(
        name=name,
        is_service=content.get("kind") != "user",
        groups=tuple(group for group in content.get("groups") or () if isinstance(group, str)),
        scopes=frozenset(scope for scope in content.get("scopes") or () if isinstance(scope, str)),
    )
