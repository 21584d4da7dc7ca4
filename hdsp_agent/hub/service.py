"""What the service is made of, and how it begins and ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from .._background_tasks import BackgroundTasks
from .._private_files import make_private_folder
from ..errors import InvalidSetting, StorageUnavailable
from ..persistence import AuditAction, AuditEntry, AuditLog
from .budget_book import BudgetBook
from .oauth_login import HubLogin, OAuthClient
from .people import HubPeople
from .policy_watch import PolicyWatch
from .reporting_servers import ReportingServers
from .seen_people import SeenPeople
from .service_metrics import ServiceMetrics
from .shared.link_store import LinkStore
from .shared.openings import LinkOpenings
from .shared.page_making import PageMaker
from .usage_store import UsageStore

if TYPE_CHECKING:
    import httpx2

__all__ = ["HubAddresses", "HubService"]

_END_SECONDS: Final = 5.0
_HUB_SECONDS: Final = 10.0
_OLD_LINKS_SECONDS: Final = 3600.0
_PREDECESSOR_SECONDS: Final = 20.0
"""So long the service of a hub that was killed may take to end."""


@dataclass(frozen=True)
class HubAddresses:
    """Where the service is, and where JupyterHub is: what JupyterHub tells its services in their environment."""

    listen: str
    prefix: str
    api: str
    oauth: OAuthClient | None = None
    is_managed: bool = False
    """Whether JupyterHub started the service itself."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> HubAddresses:
        """As the environment says. Raises InvalidSetting."""
        api = environ.get("JUPYTERHUB_API_URL", "")
        if not api:
            raise InvalidSetting(
                "JUPYTERHUB_API_URL is not set. Let JupyterHub start this command as a service, or set the variables "
                "that it sets for its services.",
                field="JUPYTERHUB_API_URL",
            )
        prefix = environ.get("JUPYTERHUB_SERVICE_PREFIX") or "/services/hdsp-agent/"
        listen = environ.get("JUPYTERHUB_SERVICE_URL") or "http://127.0.0.1:10101"
        if urlsplit(listen).scheme != "http" or not urlsplit(listen).hostname:
            raise InvalidSetting(
                f"JUPYTERHUB_SERVICE_URL must begin with http:// and name a host, and is {listen!a}.",
                field="JUPYTERHUB_SERVICE_URL",
            )
        prefix = "/" + prefix.strip("/") + "/"
        # Who starts the service in another way has no reason to set this one: nothing reads it.
        is_managed = "JUPYTERHUB_OAUTH_ACCESS_SCOPES" in environ
        return cls(listen, prefix, api, OAuthClient.of(environ, prefix), is_managed)


class HubService:
    """Everything the handlers share, started and stopped as one."""

    def __init__(
        self, addresses: HubAddresses, policies: Path, folder: Path, *, now: Callable[[], float] = time.time
    ) -> None:
        self.addresses: Final = addresses
        self.time: Final = now
        self.folder: Final = folder
        self._lock = FileLock(folder / "service.lock", mode=0o600, thread_local=False)
        self.metrics: Final = ServiceMetrics()
        self.policies: Final = PolicyWatch(policies, self.metrics.policies_valid.set)
        record = folder / "usage.db"
        self.store: Final = UsageStore(record)
        self.metrics.stored_bytes.set_function(lambda: record.stat().st_size)
        self.budgets: Final = BudgetBook(self.store)
        self.links: Final = LinkStore(folder / "shared.db")
        self.pages: Final = PageMaker()
        self.showing: Final = asyncio.Semaphore(1)
        """Shared pages may be long: they are made one after the other, and leave threads for all else."""
        self.openings: Final = LinkOpenings(now)
        self.sharing: Final[set[str]] = set()
        """Who is sharing a conversation just now."""
        self._old_links: asyncio.Task[None] | None = None
        self.audit: Final = AuditLog(folder / "audit.jsonl")
        self.seen: Final = SeenPeople()
        self.servers: Final = ReportingServers(now)
        self.held: Final = BackgroundTasks()
        self.requests: Final[set[asyncio.Task[None]]] = set()
        """The answers that are being passed on."""
        self.body_bytes = 0
        """How much room the bodies of requests under way may take."""
        self._http: httpx2.AsyncClient | None = None
        self._hub: httpx2.AsyncClient | None = None
        self._people: HubPeople | None = None
        self.login: HubLogin | None = None
        """Who is logged in with a browser; None where JupyterHub gave the service no token."""
        self.started = now()

    @property
    def http(self) -> httpx2.AsyncClient:
        """What providers are asked with."""
        assert self._http is not None
        return self._http

    @property
    def people(self) -> HubPeople:
        """Who is who."""
        assert self._people is not None
        return self._people

    async def start(self) -> None:
        """Read the policies and open the store. Raises PolicyFileError and StorageUnavailable."""
        await asyncio.to_thread(self._take)
        await self.policies.start()
        await self.store.open()
        await self.links.open()
        self._old_links = asyncio.create_task(self._end_old_links(), name="hdsp-agent hub old links")
        self._http, self._hub = _, hub = await asyncio.to_thread(_clients)
        self._people = HubPeople(self.addresses.api, hub)
        if self.addresses.oauth is not None:
            self.login = HubLogin(self.addresses.oauth, self.addresses.api, hub)

    def _take(self) -> None:
        # What each of two had counted the other would not know.
        make_private_folder(self.folder)
        try:
            self._lock.acquire(_PREDECESSOR_SECONDS if self.addresses.is_managed else 0)
        except Timeout:
            raise StorageUnavailable(
                f"Another hub service uses {self.folder}. End it first, or name another folder with --data.",
                path=str(self.folder), action="use", reason="locked",
            ) from None  # fmt: skip

    async def record_access(self, user: str, what: str, action: AuditAction = "read") -> None:
        """Leave a line in the audit log. Raises StorageUnavailable."""
        await asyncio.to_thread(self.audit.append, [AuditEntry.now(user, action, what)])

    async def _end_old_links(self) -> None:
        # What nobody can open any more is not kept.
        while True:
            with suppress(StorageUnavailable):
                await self.links.end_old(self.time())
            await asyncio.sleep(_OLD_LINKS_SECONDS)

    async def hub_version(self) -> str | None:
        """The version of JupyterHub; None if it does not answer."""
        import httpx2

        assert self._hub is not None
        try:
            content = (await self._hub.get(self.addresses.api.rstrip("/") + "/")).json()
        except (httpx2.HTTPError, ValueError):
            return None
        return str(content.get("version", "")) if isinstance(content, dict) else None

    async def stop(self) -> None:
        """Let answers come to their end for a moment, count what the others used, and let go of everything."""
        self.servers.close()
        if under_way := tuple(self.requests):
            _, late = await asyncio.wait(under_way, timeout=_END_SECONDS)
            for request in late:
                request.cancel()
            await asyncio.wait(under_way)
        await self.held.drain()
        if self._old_links is not None:
            self._old_links.cancel()
            await asyncio.wait([self._old_links])
        await self.policies.stop()
        for client in (self._http, self._hub):
            if client is not None:
                await client.aclose()
        await self.store.close()
        await self.links.close()
        await asyncio.to_thread(self._lock.release)


def _clients() -> tuple[httpx2.AsyncClient, httpx2.AsyncClient]:
    """What providers are asked with, and what JupyterHub is. Reads the machine's certificates, which takes its time."""
    import httpx2

    providers = httpx2.AsyncClient(
        timeout=httpx2.Timeout(600.0, connect=15.0, pool=None),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=256),
        follow_redirects=False,
    )
    # The hub is near: its tokens go through no proxy that the environment names for what is far.
    hub = httpx2.AsyncClient(timeout=_HUB_SECONDS, trust_env=False, follow_redirects=False)
    return providers, hub
