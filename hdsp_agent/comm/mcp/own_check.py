"""Asks this server over HTTP whether programs could connect, with the log-in of whoever wants to know."""

from __future__ import annotations

import ssl
from typing import Final

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join

from ...errors import Unavailable
from ...mcp.connection_check import ConnectionCheck, check_connection
from .handler import MCP_PATH

__all__ = ["check_own_server"]

_NOT_PASSED_ON: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "keep-alive", "transfer-encoding"}
)


async def check_own_server(handler: JupyterHandler) -> ConnectionCheck:
    """Over the very socket that this request came in by. What a proxy before the server does is not seen."""
    import httpx2

    stream = getattr(handler.request.connection, "stream", None)
    if stream is None or stream.closed():
        raise Unavailable("The connection was closed meanwhile. Try again.")
    address = stream.socket.getsockname()
    is_socket_file = isinstance(address, str)
    headers = {name: value for name, value in handler.request.headers.get_all() if name.lower() not in _NOT_PASSED_ON}
    transport = httpx2.AsyncHTTPTransport(uds=address if is_socket_file else None, verify=_itself(), trust_env=False)
    async with httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False) as client:
        where = "localhost" if is_socket_file else _host_and_port(address[0], address[1])
        url = f"{handler.request.protocol if not is_socket_file else 'http'}://{where}"
        return await check_connection(client, url_path_join(url, handler.base_url, MCP_PATH), headers)


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _itself() -> ssl.SSLContext:
    """It is this process that answers; its certificate is for the name by which others reach it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
