"""The service's addresses, and the server that listens for them."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from .admin import admin_routes
from .model_proxy import AllowedModelsHandler, ProxyHandler
from .reports import AdminUsageHandler, ConfigHandler, HubHealthHandler, MetricsHandler, UnknownHandler, UsageHandler
from .server_reports import ServerReportHandler
from .service import HubService
from .shared.routes import shared_routes

__all__ = ["HubServer"]

_LARGEST_BODY: Final = 64 * 1024
"""Of requests that go to no model. Those are larger, once it is known whose they are."""
_LARGEST_BUFFER: Final = 8 * 1024 * 1024
_BODY_SECONDS: Final = 300.0
_IDLE_SECONDS: Final = 300.0


class HubServer:
    """A service that listens."""

    def __init__(self, service: HubService) -> None:
        self._service = service
        self._server = HTTPServer(
            _application(service),
            max_body_size=_LARGEST_BODY,
            max_buffer_size=_LARGEST_BUFFER,
            body_timeout=_BODY_SECONDS,
            idle_connection_timeout=_IDLE_SECONDS,
        )
        self.port = 0
        """Where it listens."""

    @property
    def url(self) -> str:
        """Its address, once it listens: where port 0 was asked for, the system has chosen one."""
        addresses = self._service.addresses
        host = urlsplit(addresses.listen).hostname or ""
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{addresses.prefix}"

    async def start(self) -> None:
        """Start the service, then listen. Raises PolicyFileError, StorageUnavailable and OSError."""
        await self._service.start()
        address = urlsplit(self._service.addresses.listen)
        sockets = bind_sockets(80 if address.port is None else address.port, address.hostname)
        self.port = int(sockets[0].getsockname()[1])
        self._server.add_sockets(sockets)

    async def stop(self) -> None:
        """Listen no more, let answers end for a moment, and stop the service."""
        self._server.stop()
        await self._service.stop()
        await self._server.close_all_connections()


def _application(service: HubService) -> Application:
    prefix = service.addresses.prefix
    given = {"service": service}
    openai, anthropic = f"{prefix}openai/v1", f"{prefix}anthropic/v1"
    return Application(
        [
            (f"{openai}/chat/completions", ProxyHandler, {**given, "kind": "chat"}),
            (f"{openai}/responses", ProxyHandler, {**given, "kind": "responses"}),
            (f"{openai}/responses/compact", ProxyHandler, {**given, "kind": "compact"}),
            (f"{openai}/embeddings", ProxyHandler, {**given, "kind": "embeddings"}),
            (f"{openai}/models", AllowedModelsHandler, {**given, "protocol": "openai"}),
            (f"{anthropic}/messages", ProxyHandler, {**given, "kind": "messages"}),
            (f"{anthropic}/messages/count_tokens", ProxyHandler, {**given, "kind": "count_tokens"}),
            (f"{anthropic}/models", AllowedModelsHandler, {**given, "protocol": "anthropic"}),
            (f"{prefix}api/config/([^/]+)", ConfigHandler, given),
            (f"{prefix}api/tasks", ServerReportHandler, given),
            (f"{prefix}api/usage", UsageHandler, given),
            (f"{prefix}api/admin/usage", AdminUsageHandler, given),
            (f"{prefix}metrics", MetricsHandler, given),
            (f"{prefix}health", HubHealthHandler, given),
            *admin_routes(service),
            *shared_routes(service),
        ],
        default_handler_class=UnknownHandler,
        default_handler_args=given,
        # What is used is in the store; lines of an access log would name people.
        log_function=lambda handler: None,
    )
