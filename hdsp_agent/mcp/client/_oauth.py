"""Logging in to remote servers by OAuth: the SDK does it, tokens go where keys are kept, the browser comes back to Jupyter."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from pydantic import AnyUrl, ValidationError

from ..._background_tasks import BackgroundTasks
from ..._timeouts import wait_at_most
from ...config import keys_in_use
from ...errors import HdspAgentError, InvalidInput, NotFound, SecretStorageUnavailable, Unavailable
from ._saved_secrets import SavedSecrets
from ._server_config import ServerConfig
from ._variables import FilledEntry, FilledOAuth

if TYPE_CHECKING:
    import httpx2
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

__all__ = ["LOGIN_SECONDS", "AskLogin", "LoginNeeded", "Logins"]

AskLogin: TypeAlias = Callable[[str], Awaitable[bool]]
"""Asks the person to log in at this page, in the middle of a call; whether they have."""

LOGIN_SECONDS: Final = 600.0
_URL_SECONDS: Final = 60.0
_NOWHERE: Final = "http://localhost/"
"""Where nobody has begun to log in, and so nobody comes back."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class LoginNeeded(HdspAgentError):
    """Only the person can log in, and they are not about to."""

    code = "unavailable"
    status = 503


@dataclass
class _Login:
    """One that is under way: the page to open, and what comes back from it."""

    redirect_uri: str
    url: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answer: asyncio.Future[AuthorizationCodeResult] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    state: str | None = None

    def end(self) -> None:
        """Nobody is at it any more."""
        for waiting in (self.url, self.answer):
            if not waiting.done():
                waiting.set_exception(LoginNeeded("This server wants you to log in."))
                # Perhaps nobody waits for it.
                waiting.exception()


class _Writes:
    """What is written of log-ins, one after the other."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self._renewing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._held = BackgroundTasks()

    async def to_the_end(self, work: Coroutine[object, object, None]) -> None:
        """Do it whole, even if whoever waits for it goes away."""
        await self._held.finish(work)

    async def renew(self, server: ServerConfig, work: Coroutine[object, object, None]) -> None:
        """Renew the tokens of a server, whole."""

        async def renew() -> None:
            async with self._renewing[server.key]:
                await work

        await self.to_the_end(renew())

    async def renewed(self, server: ServerConfig) -> None:
        """Wait for the tokens that a connection from before is about to get."""
        async with self._renewing[server.key]:
            pass

    async def drain(self, seconds: float) -> None:
        """Wait for what is under way, but no longer than ``seconds``."""
        await self._held.drain(seconds)


class Logins:
    """The log-ins of one person."""

    def __init__(self, secrets: SavedSecrets) -> None:
        self._secrets = secrets
        self._under_way: dict[str, _Login] = {}
        self._logged_in: dict[str, bool] = {}
        self._forgotten: Counter[str] = Counter()
        """How often the tokens of each server were forgotten."""
        self._writes = _Writes()

    def is_under_way(self, server: ServerConfig) -> bool:
        """Whether the person is at it."""
        return server.key in self._under_way

    def is_logged_in(self, server: ServerConfig) -> bool:
        """Whether there are tokens, as far as is known."""
        return self._logged_in.get(server.key, False)

    async def auth(self, server: ServerConfig, entry: FilledEntry, ask: AskLogin) -> httpx2.Auth | None:
        """What logs a connection in; None where there are no tokens, and nobody is about to get some."""
        login = self._under_way.get(server.key)
        await self._writes.renewed(server)
        try:
            tokens = await self._secrets.login(server, "tokens")
        except SecretStorageUnavailable:
            if login is None:
                return None
            raise
        self._logged_in[server.key] = tokens is not None
        if login is None and tokens is None:
            return None
        return await self._provider(server, entry, ask)

    async def begin(self, server: ServerConfig, redirect_uri: str, connect: Callable[[], None]) -> str:
        """The page at which the person logs in; ``connect`` begins to. Raises Unavailable, InvalidInput."""
        _check_redirect(redirect_uri)
        await self._forget(server)
        self.give_up(server)
        login = self._under_way[server.key] = _Login(redirect_uri)
        connect()
        try:
            return await wait_at_most(asyncio.shield(login.url), _URL_SECONDS)
        except (TimeoutError, LoginNeeded):
            self.give_up(server)
            raise Unavailable(
                f"{server.name} did not say where to log in. Look at its log, or add a key to its entry."
            ) from None

    def come_back(self, state: str, code: str | None, issuer: str | None, error: str | None) -> None:
        """The browser is back. Raises NotFound if nobody waits for it."""
        from mcp.shared.auth import AuthorizationCodeResult

        login = next((one for one in self._under_way.values() if one.state is not None and one.state == state), None)
        if login is None or login.answer.done():
            raise NotFound("Nobody waits for this log-in any more. Begin again.")
        if code is None:
            login.answer.set_exception(
                Unavailable(f"The log-in was refused: {(error or 'no reason was given')[:200]}.")
            )
        else:
            login.answer.set_result(AuthorizationCodeResult(code=code, state=state, iss=issuer))

    async def drain(self, seconds: float) -> None:
        """Wait for what is being written, but no longer than ``seconds``."""
        await self._writes.drain(seconds)

    def give_up(self, server: ServerConfig) -> None:
        """Nobody is at it any more."""
        login = self._under_way.pop(server.key, None)
        if login is not None:
            login.end()

    def _done(self, server: ServerConfig) -> None:
        """There are tokens now."""
        self._under_way.pop(server.key, None)
        self._logged_in[server.key] = True

    async def _provider(self, server: ServerConfig, entry: FilledEntry, ask: AskLogin) -> httpx2.Auth:
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata

        from ._renewed_auth import RenewedAuth

        kept = _kept(await self._secrets.login(server, "metadata"))
        login = self._under_way.get(server.key)
        redirect = login.redirect_uri if login is not None else str(kept.get("redirect") or _NOWHERE)
        times = self._forgotten[server.key]
        storage = _Tokens(
            self._secrets,
            server,
            entry.oauth,
            redirect,
            writes=self._writes,
            on_tokens=lambda: self._done(server),
            is_wanted=lambda: self._forgotten[server.key] == times,
        )

        async def open_page(page: str) -> None:
            await self._open_page(server, redirect, page, ask)

        provider = OAuthClientProvider(
            server_url=entry.url or "",
            client_metadata=OAuthClientMetadata(
                client_name="HDSP Agent",
                redirect_uris=[AnyUrl(redirect)],
                application_type="native" if urlsplit(redirect).hostname in _LOOPBACK else "web",
            ),
            storage=storage,
            redirect_handler=open_page,
            callback_handler=lambda: self._came_back(server),
            client_metadata_url=entry.oauth.metadata_url,
        )
        storage.provider = provider
        _remember(provider, kept)
        return RenewedAuth(provider, lambda work: self._writes.renew(server, work))

    async def _open_page(self, server: ServerConfig, redirect: str, page: str, ask: AskLogin) -> None:
        """Somebody has to log in at this page: whoever began to, or who is asked in the middle of a call."""
        state = next(iter(parse_qs(urlsplit(page).query).get("state", [])), None)
        login = self._under_way.get(server.key)
        if login is not None and not login.url.done():
            login.state = state
            login.url.set_result(page)
            return
        if redirect == _NOWHERE:
            raise LoginNeeded("This server wants you to log in.")
        login = self._under_way[server.key] = _Login(redirect, state=state)
        login.url.set_result(page)
        if not await ask(page):
            self.give_up(server)
            raise LoginNeeded("This server wants you to log in again.")

    async def _came_back(self, server: ServerConfig) -> AuthorizationCodeResult:
        login = self._under_way.get(server.key)
        if login is None:
            raise LoginNeeded("This server wants you to log in.")
        return await wait_at_most(asyncio.shield(login.answer), LOGIN_SECONDS)

    async def log_out(self, server: ServerConfig) -> None:
        """Forget the tokens."""
        self.give_up(server)
        self._logged_in.pop(server.key, None)
        await self._forget(server)

    async def _forget(self, server: ServerConfig) -> None:
        """Forget the tokens, and those too that a connection from before is about to get."""
        self._forgotten[server.key] += 1
        async with self._writes.lock:
            await self._secrets.forget_login(server)


class _Tokens:
    """Where the SDK keeps what it is given. It keeps for one life only what is needed to renew tokens in the next one."""

    def __init__(
        self,
        secrets: SavedSecrets,
        server: ServerConfig,
        registered: FilledOAuth,
        redirect: str,
        *,
        writes: _Writes,
        on_tokens: Callable[[], None],
        is_wanted: Callable[[], bool],
    ) -> None:
        self._secrets = secrets
        self._server = server
        self._registered = registered
        self._redirect = redirect
        self._writes = writes
        self._on_tokens = on_tokens
        self._is_wanted = is_wanted
        self.provider: OAuthClientProvider | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens."""
        from mcp.shared.auth import OAuthToken

        found = await self._secrets.login(self._server, "tokens")
        tokens = None if found is None else OAuthToken.model_validate_json(found)
        if tokens is not None:
            keys_in_use.add(tokens.access_token, tokens.refresh_token)
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep them, unless the person has signed out since this connection began."""
        keys_in_use.add(tokens.access_token, tokens.refresh_token)
        # A connection that is stopped meanwhile writes all of it, or nothing.
        await self._writes.to_the_end(self._keep(tokens))

    async def _keep(self, tokens: OAuthToken) -> None:
        async with self._writes.lock:
            if self._is_wanted():
                await self._secrets.keep_login(self._server, "tokens", tokens.model_dump_json(exclude_none=True))
                await self._secrets.keep_login(self._server, "metadata", json.dumps(self._metadata(tokens)))
                self._on_tokens()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """What we are called there; not if we would come back to another address now."""
        from mcp.shared.auth import OAuthClientInformationFull

        registered = self._registered
        if registered.client_id is not None:
            return OAuthClientInformationFull(
                client_id=registered.client_id,
                client_secret=registered.client_secret,
                redirect_uris=[AnyUrl(self._redirect)],
                token_endpoint_auth_method="client_secret_basic" if registered.client_secret else "none",
            )
        found = await self._secrets.login(self._server, "client")
        info = None if found is None else OAuthClientInformationFull.model_validate_json(found)
        redirects = [str(one) for one in (info.redirect_uris or ())] if info is not None else []
        return info if not redirects or str(AnyUrl(self._redirect)) in redirects else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep it."""
        await self._secrets.keep_login(self._server, "client", client_info.model_dump_json(exclude_none=True))

    def _metadata(self, tokens: OAuthToken) -> dict[str, object]:
        kept: dict[str, object] = {"redirect": self._redirect}
        if tokens.expires_in is not None:
            kept["expires"] = time.time() + tokens.expires_in
        context = None if self.provider is None else self.provider.context
        if context is not None and context.oauth_metadata is not None:
            kept["server"] = context.oauth_metadata.model_dump(mode="json", exclude_none=True)
        if context is not None and context.protected_resource_metadata is not None:
            kept["resource"] = context.protected_resource_metadata.model_dump(mode="json", exclude_none=True)
        return kept


def _remember(provider: OAuthClientProvider, kept: Mapping[str, object]) -> None:
    """What is known from another life, so that tokens can be renewed."""
    from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

    try:
        if (found := kept.get("server")) is not None:
            provider.context.oauth_metadata = OAuthMetadata.model_validate(found)
        if (found := kept.get("resource")) is not None:
            provider.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(found)
    except ValidationError:
        provider.context.oauth_metadata = None
    expires = kept.get("expires")
    provider.context.token_expiry_time = float(expires) if isinstance(expires, (int, float)) else None


def _kept(text: str | None) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _check_redirect(uri: str) -> None:
    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidInput("This is no address that a browser can come back to.", field="redirectUri")
