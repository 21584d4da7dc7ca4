"""What all pages for administrators have in common: who looks, in which language, and what browsers may do with them."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from tornado.web import HTTPError

from ..._page_language import PageLanguage, page_language
from ...errors import HdspAgentError
from ..hub_handler import HubHandler
from ..refusals import Refusal
from .usage_summaries import PAGE_ROWS

if TYPE_CHECKING:
    from ..oauth_login import BrowserSession, BrowserSessions, HubLogin
    from ..people import HubPerson

__all__ = ["PageHandler", "PageRefusal"]

_SESSION_COOKIE: Final = "hdsp-agent-hub"
_READER_COOKIE: Final = "hdsp-agent-hub-reader"
_READER_PAGES: Final = "shared"
"""How the addresses of pages begin that are not for administrators alone."""
_BROWSER_COOKIE: Final = "hdsp-agent-hub-login"
_TEMPLATES: Final = tuple(Path(__file__).parents[1] / name / "templates" for name in ("admin", "shared"))
_LONGEST_SEARCH: Final = 200
_ENGLISH: Final = PageLanguage("en", {})


class PageRefusal(Exception):
    """A page that is not shown: a status, and a sentence in the person's language."""

    def __init__(self, status: int, text: Markup) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class PageHandler(HubHandler):
    """A page for administrators, who log in through JupyterHub. Cookies say who they are, and only where a browser shows
    the page itself. Scripts on the same host can read it nonetheless: browsers tell them apart only by subdomains."""

    page = ""
    """Which one the navigation marks, and the audit log names."""
    for_readers = False
    """Whether everybody who may log in has a session for it, and not administrators alone."""
    images = "'none'"
    """Where its images may come from."""
    language = _ENGLISH

    async def prepare(self) -> None:
        """See which language they read, and who they are."""
        self.language = await asyncio.to_thread(page_language, self.request.headers.get("Accept-Language", ""))

    async def enter(self, whose: str = "") -> HubPerson | None:
        """The administrator whose browser this is; None once it was sent to log in. Raises PageRefusal.

        ``whose`` is the person whom the page is about, for the audit log.
        """
        person = await self.signed_in()
        if person is None:
            return None
        if not person.is_admin:
            raise PageRefusal(403, self._no_scope())
        await self.service.record_access(person.name, f"hub page {self.page} {whose}".rstrip())
        return person

    async def signed_in(self) -> HubPerson | None:
        """Whoever it is whose browser this is; None once it was sent to log in. Raises PageRefusal."""
        login = self.login()
        headers = self.request.headers
        if headers.get("Sec-Fetch-Mode", "navigate") != "navigate" or headers.get("Sec-Fetch-Dest") in (
            "iframe",
            "frame",
        ):
            raise PageRefusal(403, self.translated("Open this page in a tab of its own."))
        cookie, sessions = _sessions(login, for_readers=self.for_readers)
        name = self.get_cookie(cookie) or ""
        session = sessions.session(name)
        person = await self.service.people.of_token(session.token.get_secret_value()) if session else None
        if session is None or person is None:
            sessions.close(name)
            if self.request.method != "GET":
                raise PageRefusal(
                    403, self.translated("You are signed out. Go back, load the page again, and try again.")
                )
            self._send_to_log_in(login)
            return None
        if self.request.method == "POST":
            self._check_form(session)
        self.session = session
        return person

    async def come_back(self) -> None:
        """Let a browser in that JupyterHub sent back. Raises PageRefusal and Unavailable."""
        login = self.login()
        state, code = self.get_query_argument("state", ""), self.get_query_argument("code", "")
        found = await login.finish(self.get_cookie(_BROWSER_COOKIE) or "", state, code) if code else None
        if found is None:
            raise PageRefusal(403, self.translated("This sign-in is over. Open the page again from JupyterHub."))
        token, page = found
        person = await self.service.people.of_token(token)
        for_readers = page.startswith(f"{self.service.addresses.prefix}{_READER_PAGES}")
        if person is None or not (person.is_admin or for_readers):
            # Nobody else's browser is remembered there, so that they cannot crowd out those of administrators.
            raise PageRefusal(403, self._no_scope())
        cookie, sessions = _sessions(login, for_readers=for_readers)
        self._set_cookie(cookie, sessions.open(token))
        self.redirect(page or self.service.addresses.prefix)

    def text(self, name: str) -> str:
        """A short text of the address."""
        return self.get_query_argument(name, "")[:_LONGEST_SEARCH]

    def first_row(self) -> tuple[int, int]:
        """The number of the part of a long table that is wanted, from 1 on, and its first row."""
        number = self.get_query_argument("part", "1")
        part = max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 7 else 1
        return part, (part - 1) * PAGE_ROWS

    def login(self) -> HubLogin:
        """The log-ins. Raises PageRefusal where there are none."""
        if self.service.login is None:
            raise PageRefusal(
                503,
                self.translated("Nobody can sign in here, because the service has no token. Set JUPYTERHUB_API_TOKEN."),
            )
        return self.service.login

    def translated(self, text: str, *values: object) -> Markup:
        """A text in the language of the page, with each %1 filled in. All of it is escaped."""
        # Every second part is a place. One after the other would fill places that are in values.
        translate = self.language.translated
        parts = re.split("%([1-9])", translate(text))
        return Markup().join(escape(values[int(part) - 1] if number % 2 else part) for number, part in enumerate(parts))

    def show(self, template: str, person: HubPerson | None, **values: object) -> None:
        """Send a page."""
        self.send_page(self.rendered(template, person, **values))

    def rendered(self, template: str, person: HubPerson | None, **values: object) -> str:
        """A page. A long one is made in a thread."""
        prefix = self.service.addresses.prefix
        return _environment().get_template(template).render(
            values,
            t=self.translated,
            language=self.language.code,
            page=self.page,
            person=person,
            prefix=prefix,
            hub=self._hub_address(),
            address=lambda page, **query: prefix + page + _query(query),
            day_time=_day_time,
        )  # fmt: skip

    def send_page(self, text: str) -> None:
        """Send it, and say what a browser may do with it."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        hub = self._hub_address()
        # A form may end at the log-in of the hub, which can have a host of its own.
        forms = f"'self' {origin}" if (origin := _origin(hub)) else "'self'"
        self.set_header(
            "Content-Security-Policy",
            f"default-src 'none'; img-src {self.images}; style-src 'self'; form-action {forms}; frame-ancestors 'none'; base-uri 'none'",
        )
        # A page of a person's server on the same host that opens this one gets no hold of its window.
        self.set_header("Cross-Origin-Opener-Policy", "noopener-allow-popups")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("X-Frame-Options", "DENY")
        self.set_header("Vary", "Accept-Language, Cookie")
        self.finish(text)

    def _hub_address(self) -> str:
        oauth = self.service.addresses.oauth
        return oauth.hub if oauth else "/hub/"

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """A refusal is no failure of ours."""
        if not isinstance(value, PageRefusal):
            super().log_exception(typ, value, tb)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Say in a page what went wrong."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        text: object
        match error:
            case PageRefusal():
                status_code, text = error.status, error.text
            case Refusal():
                status_code, text = error.status, error.message
            case HdspAgentError():
                status_code, text = 503, error.message
            case HTTPError() if status_code == 404:
                text = self.translated("There is no such page.")
            case _ if status_code < 500:
                text = self._reason
            case _:
                text = self.translated("The hub service failed. Its log says why.")
        self.set_status(status_code)
        self.show("message.html", None, text=text)

    def _no_scope(self) -> Markup:
        return self.translated(
            "Only administrators see this page: your role needs the scope %1.", "custom:hdsp-agent:admin"
        )

    def _send_to_log_in(self, login: HubLogin) -> None:
        browser = self.get_cookie(_BROWSER_COOKIE) or secrets.token_urlsafe(32)
        self._set_cookie(_BROWSER_COOKIE, browser)
        self.redirect(login.begin(browser, self.request.uri or self.service.addresses.prefix))

    def _check_form(self, session: BrowserSession) -> None:
        sent = self.get_body_argument("xsrf", "")
        is_ours = self.request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
        if not is_ours or not secrets.compare_digest(sent.encode(), session.xsrf.encode()):
            raise PageRefusal(
                403, self.translated("This form is out of date. Go back, load the page again, and try again.")
            )

    def _set_cookie(self, name: str, value: str) -> None:
        protocol = self.request.headers.get("X-Forwarded-Proto", self.request.protocol).partition(",")[0].strip()
        self.set_cookie(
            name, value, path=self.service.addresses.prefix, httponly=True, samesite="Lax", secure=protocol == "https"
        )


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["number"] = lambda value: f"{value:,.0f}"
    environment.filters["dollars"] = _dollars
    environment.filters["size"] = _size
    environment.filters["short"] = _short
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment


def _sessions(login: HubLogin, *, for_readers: bool) -> tuple[str, BrowserSessions]:
    """The cookie and the sessions of readers, or of administrators."""
    return (_READER_COOKIE, login.readers) if for_readers else (_SESSION_COOKIE, login.administrators)


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def _query(query: dict[str, object]) -> str:
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""


def _dollars(value: float) -> str:
    if 0 < value < 0.0001:
        return "<0.0001"
    return f"{value:,.2f}" if value == 0 or value >= 1 else f"{value:,.4f}"


def _size(value: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"


def _short(value: float) -> str:
    """A number for a scale."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}"


def _day_time(seconds: float) -> Markup:
    """A moment, to the minute (UTC)."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        moment.isoformat(timespec="seconds"), f"{moment:%Y-%m-%d %H:%M}"
    )
