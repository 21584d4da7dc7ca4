"""How a browser logs in: JupyterHub's OAuth, and a session of our own that knows the token which came of it."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from urllib.parse import urlencode

from pydantic import SecretStr

from ..errors import Unavailable

if TYPE_CHECKING:
    import httpx2

__all__ = ["BrowserSession", "HubLogin", "OAuthClient"]

T = TypeVar("T")

_PENDING_SECONDS: Final = 600.0
_SESSION_SECONDS: Final = 12 * 3600.0
_MOST_PENDING: Final = 10_000
_MOST_SESSIONS: Final = 1_000


@dataclass(frozen=True)
class OAuthClient:
    """What JupyterHub tells a service of itself as an OAuth client."""

    id: str
    secret: SecretStr
    hub: str
    """Where browsers find the hub, with ``hub/`` at its end."""
    redirect: str

    @classmethod
    def of(cls, environ: Mapping[str, str], prefix: str) -> OAuthClient | None:
        """As the environment says; None where the hub gave no token."""
        secret = environ.get("JUPYTERHUB_API_TOKEN", "")
        if not secret:
            return None
        base = environ.get("JUPYTERHUB_BASE_URL") or "/"
        return cls(
            id=environ.get("JUPYTERHUB_CLIENT_ID") or f"service-{environ.get('JUPYTERHUB_SERVICE_NAME', 'hdsp-agent')}",
            secret=SecretStr(secret),
            hub=f"{environ.get('JUPYTERHUB_HOST', '')}{base.rstrip('/')}/hub/",
            redirect=environ.get("JUPYTERHUB_OAUTH_CALLBACK_URL") or f"{prefix}oauth_callback",
        )


@dataclass(frozen=True)
class BrowserSession:
    """A browser that is logged in. ``xsrf`` stands in each of its forms."""

    token: SecretStr
    xsrf: str


@dataclass(frozen=True)
class _Pending:
    browser: str
    verifier: str
    page: str


class HubLogin:
    """The log-ins of all browsers, in memory: after a restart, the hub lets each in again without a question."""

    def __init__(
        self, client: OAuthClient, api_url: str, http: httpx2.AsyncClient, now: Callable[[], float] = monotonic
    ) -> None:
        self.client: Final = client
        self._token_url = f"{api_url.rstrip('/')}/oauth2/token"
        self._http = http
        self._pending = _Expiring[_Pending](_PENDING_SECONDS, _MOST_PENDING, now)
        self._sessions = _Expiring[BrowserSession](_SESSION_SECONDS, _MOST_SESSIONS, now)

    def begin(self, browser: str, page: str) -> str:
        """Where to send a browser that wants this page. ``browser`` is a secret in its cookie."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        self._pending.put(state, _Pending(browser, verifier, page))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "client_id": self.client.id,
            "redirect_uri": self.client.redirect,
            "response_type": "code",
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.client.hub}api/oauth2/authorize?{urlencode(query)}"

    async def finish(self, browser: str, state: str, code: str) -> tuple[str, str] | None:
        """The token for a code, and the page that was wanted; None if this browser began no such log-in, or is late.

        Raises Unavailable.
        """
        import httpx2

        pending = self._pending.take(state)
        if pending is None or not browser or not secrets.compare_digest(pending.browser.encode(), browser.encode()):
            return None
        form = {
            "client_id": self.client.id,
            "client_secret": self.client.secret.get_secret_value(),
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.client.redirect,
            "code_verifier": pending.verifier,
        }
        try:
            answer = await self._http.post(self._token_url, data=form)
            if answer.status_code in (400, 401, 403):
                return None
            content = answer.json() if answer.status_code == 200 else None
        except (httpx2.HTTPError, ValueError) as error:
            raise Unavailable(f"JupyterHub could not be asked for a token ({type(error).__name__}).") from None
        token = content.get("access_token") if isinstance(content, dict) else None
        if not isinstance(token, str):
            raise Unavailable(f"JupyterHub answered {answer.status_code} when it was asked for a token.")
        return token, pending.page

    def open(self, token: str) -> str:
        """Let a browser in; what its cookie is to say."""
        name = secrets.token_urlsafe(32)
        self._sessions.put(_digest(name), BrowserSession(SecretStr(token), secrets.token_urlsafe(32)))
        return name

    def session(self, name: str) -> BrowserSession | None:
        """Whose cookie says this."""
        return self._sessions.get(_digest(name))

    def close(self, name: str) -> None:
        """Let it in no more."""
        self._sessions.take(_digest(name))


class _Expiring(Generic[T]):
    """Values that are known for a time; of too many the oldest go first."""

    def __init__(self, seconds: float, most: int, now: Callable[[], float]) -> None:
        self._seconds = seconds
        self._most = most
        self._now = now
        self._values: OrderedDict[str, tuple[float, T]] = OrderedDict()

    def put(self, key: str, value: T) -> None:
        self._values[key] = (self._now() + self._seconds, value)
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def get(self, key: str) -> T | None:
        ends, value = self._values.get(key, (0.0, None))
        return value if self._now() < ends else None

    def take(self, key: str) -> T | None:
        value = self.get(key)
        self._values.pop(key, None)
        return value


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
