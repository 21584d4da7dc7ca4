"""What all requests to the service have in common: whose they are, and how they are refused."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue
from tornado.web import HTTPError, RequestHandler

from ..errors import HdspAgentError
from .people import KNOWN_SECONDS, HubPerson
from .policies import GroupPolicy, ProviderProtocol
from .refusals import Refusal, model_refusal
from .service import HubService

__all__ = ["HubHandler"]


class HubHandler(RequestHandler):
    """A request with a token. Only pages read cookies, so no page of elsewhere can ask for anything else."""

    protocol: ProviderProtocol = "openai"
    """In whose form errors are."""
    known_seconds = KNOWN_SECONDS
    """For how long what JupyterHub said of a token is taken for true."""

    def initialize(self, service: HubService) -> None:
        """What all handlers share."""
        self.service = service

    def set_default_headers(self) -> None:
        """What is said of every answer."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.clear_header("Server")

    async def person(self) -> HubPerson:
        """Whose token came along. Raises Refusal."""
        token = _token_of(self.request.headers.get("Authorization", ""), self.request.headers.get("X-Api-Key", ""))
        person = await self.service.people.of_token(token, self.known_seconds) if token else None
        if person is None:
            raise Refusal(
                401,
                "authentication_error",
                "JupyterHub does not know this token. Restart your server, or make a new token.",
            )
        return person

    async def user(self) -> HubPerson:
        """The same, of a person who may use models."""
        person = await self.person()
        if not person.may_use:
            raise Refusal(
                403, "permission_error",
                "This token may not use models. Your administrator can give it the scope custom:hdsp-agent:use.",
            )  # fmt: skip
        return person

    async def admin(self, what: str) -> HubPerson:
        """The same, of somebody who may see what others used; they leave a line in the audit log."""
        person = await self.person()
        if not person.is_admin:
            raise Refusal(403, "permission_error", "This token has no scope custom:hdsp-agent:admin.")
        await self.service.record_access(person.name, what)
        return person

    def policy_of(self, person: HubPerson, model: str = "") -> tuple[str, GroupPolicy]:
        """A person's policy and its group. Raises Refusal if there is none."""
        self.service.seen.add(person, self.service.time())
        policies = self.service.policies.now.policies
        found = policies.policy_of(person.groups)
        if found is None:
            raise model_refusal(model, policies, None)
        return found

    def answer(self, content: dict[str, JsonValue]) -> None:
        """Send JSON."""
        self.finish(content)

    def refuse(self, refusal: Refusal) -> None:
        """Send why not, unless an answer has begun."""
        self.service.metrics.refused(refusal.code)
        if self._headers_written:
            self.finish()
            return
        self.clear()
        self.set_status(refusal.status)
        for name, value in refusal.headers.items():
            self.set_header(name, value)
        self.finish(refusal.body(self.protocol))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """A refusal is no failure of ours."""
        if not isinstance(value, Refusal | HdspAgentError | HTTPError):
            super().log_exception(typ, value, tb)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Send whatever went wrong in the form of a provider's errors."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, Refusal):
            self.refuse(error)
        elif isinstance(error, HdspAgentError):
            self.refuse(Refusal(503, "service_unavailable", error.message, headers={"x-should-retry": "true"}))
        elif status_code < 500:
            self.refuse(Refusal(status_code, "invalid_request_error", self._reason))
        else:
            self.refuse(Refusal(status_code, "server_error", "The hub service failed. Its log says why."))


def _token_of(authorization: str, key: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() in ("bearer", "token") and token.strip():
        return token.strip()
    return key.strip()
