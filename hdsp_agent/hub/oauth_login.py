"""How a browser logs in: JupyterHub's OAuth, and a session of our own that knows the token which came of it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from pydantic import SecretStr
from tornado.web import create_signed_value, decode_signed_value

from ..errors import Unavailable

if TYPE_CHECKING:
    import httpx2

__all__ = ["BrowserSession", "BrowserSessions", "HubLogin", "OAuthClient"]

_PENDING_DAYS: Final = 600 / 86_400
_SESSION_SECONDS: Final = 12 * 3600.0
_MOST_ADMINISTRATORS: Final = 1_000
_MOST_READERS: Final = 20_000
_LONGEST_PAGE: Final = 500
"""The log-ins of some hubs keep the whole address in a cookie."""


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


class BrowserSessions:
    """Which browsers are logged in, in memory: after a restart, the hub lets each in again without a question."""

    def __init__(self, most: int, now: Callable[[], float]) -> None:
        self._most = most
        self._now = now
        self._sessions: OrderedDict[str, tuple[float, BrowserSession]] = OrderedDict()

    def open(self, token: str) -> str:
        """Let a browser in; what its cookie is to say."""
        name, now = secrets.token_urlsafe(32), self._now()
        for known, (ends, _) in list(self._sessions.items()):
            # The oldest come first.
            if now < ends and len(self._sessions) < self._most:
                break
            del self._sessions[known]
        session = BrowserSession(SecretStr(token), secrets.token_urlsafe(32))
        self._sessions[_digest(name)] = (now + _SESSION_SECONDS, session)
        return name

    def session(self, name: str) -> BrowserSession | None:
        """Whose cookie says this."""
        ends, session = self._sessions.get(_digest(name), (0.0, None))
        return session if self._now() < ends else None

    def close(self, name: str) -> None:
        """Let it in no more."""
        self._sessions.pop(_digest(name), None)


class HubLogin:
    """How browsers log in, and the sessions of those that did. Readers have their own, so that they push out no administrator.

    Anybody may begin to log in, so nothing is kept of that: the state that JupyterHub gives back is signed, and says all.
    """

    def __init__(
        self, client: OAuthClient, api_url: str, http: httpx2.AsyncClient, now: Callable[[], float] = time
    ) -> None:
        self.client: Final = client
        self._token_url = f"{api_url.rstrip('/')}/oauth2/token"
        self._http = http
        self._now = now
        self._secret: Final = secrets.token_bytes(32)
        self.administrators: Final = BrowserSessions(_MOST_ADMINISTRATORS, now)
        self.readers: Final = BrowserSessions(_MOST_READERS, now)

    def begin(self, browser: str, page: str) -> str:
        """Where to send a browser that wants this page. ``browser`` is a secret in its cookie."""
        wanted = page if len(page) <= _LONGEST_PAGE else ""
        value = f"{secrets.token_urlsafe(16)} {wanted}"
        state = create_signed_value(self._secret, _digest(browser), value, clock=self._now).decode()
        challenge = _encoded(hashlib.sha256(self._verifier(state).encode()).digest())
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
        """The token for a code, and the page that was wanted, or "" if its address was too long.

        None if this browser began no such log-in, or is late. Raises Unavailable.
        """
        import httpx2

        begun = decode_signed_value(
            self._secret, _digest(browser), state, max_age_days=_PENDING_DAYS, clock=self._now, min_version=2
        )
        if begun is None or not browser:
            return None
        form = {
            "client_id": self.client.id,
            "client_secret": self.client.secret.get_secret_value(),
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.client.redirect,
            "code_verifier": self._verifier(state),
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
        return token, begun.decode().partition(" ")[2]

    def _verifier(self, state: str) -> str:
        """What only this service can say of a state."""
        return _encoded(hmac.digest(self._secret, f"verifier {state}".encode(), "sha256"))


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
