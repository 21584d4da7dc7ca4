"""The socket for programs outside, in Roo Code's form: its server and a client in Python."""

from __future__ import annotations

from ._client import IpcClient
from ._ipc_limits import IpcLimits
from ._server import FOLDER, IpcServer
from ._socket_endpoint import IpcServerInfo, find_servers

__all__ = ["FOLDER", "IpcClient", "IpcLimits", "IpcServer", "IpcServerInfo", "find_servers"]
