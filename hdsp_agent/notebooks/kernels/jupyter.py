"""Kernels of Jupyter Server's managers, on this machine or behind a gateway."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol, cast

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ...errors import HdspAgentError, NotFound, Unavailable
from ...messages import JsonObject
from ._client import KernelState
from ._ports import KernelSession, KernelSpec
from ._transport import Transport
from ._zmq import ZmqTransport, new_context

if TYPE_CHECKING:
    import zmq.asyncio
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager
    from jupyter_server.serverapp import ServerApp
    from jupyter_server.services.kernels.kernelmanager import MappingKernelManager
    from jupyter_server.services.sessions.sessionmanager import SessionManager

__all__ = ["JupyterKernels"]

_STATES: Final[dict[str, KernelState]] = {"starting": "starting", "idle": "idle", "busy": "busy"}
_LOCAL_WATCH_SECONDS: Final = 0.5
_REMOTE_WATCH_SECONDS: Final = 3.0


class _Sessions(Protocol):
    """The session manager's methods, with the types it leaves out."""

    async def list_sessions(self) -> list[JsonObject]: ...

    async def create_session(self, *, path: str, name: str, type: str, kernel_name: str) -> JsonObject: ...


class _Kernels(Protocol):
    """The kernel manager's methods, with the types it leaves out."""

    default_kernel_name: str

    def __contains__(self, kernel_id: str) -> bool: ...

    def get_kernel(self, kernel_id: str) -> KernelManager: ...

    def remove_kernel(self, kernel_id: str) -> object: ...

    def interrupt_kernel(self, kernel_id: str) -> object: ...

    def restart_kernel(self, kernel_id: str) -> Awaitable[object]: ...

    def notify_connect(self, kernel_id: str) -> None: ...

    def notify_disconnect(self, kernel_id: str) -> None: ...


class JupyterKernels:
    """The ``KernelPort`` on a session manager and a kernel manager, those of a ServerApp or our own."""

    def __init__(self, sessions: SessionManager, kernels: MappingKernelManager, specs: KernelSpecManager) -> None:
        self._sessions = cast("_Sessions", sessions)
        self._kernels = cast("_Kernels", kernels)
        self._specs = specs
        self._context: zmq.asyncio.Context | None = None

    @classmethod
    def of(cls, app: ServerApp) -> JupyterKernels:
        """The kernels of a running server."""
        assert app.kernel_spec_manager is not None
        return cls(app.session_manager, app.kernel_manager, app.kernel_spec_manager)

    async def specs(self) -> Mapping[str, KernelSpec]:
        """All kernels that can be started, by name."""
        find = self._specs.get_all_specs
        with _said_plainly("The kernels of this server cannot be listed"):
            # The stock manager reads files; some others run programs.
            found = await find() if inspect.iscoroutinefunction(find) else await asyncio.to_thread(find)
        return {
            name: KernelSpec(name, str(one["spec"].get("display_name", name)), str(one["spec"].get("language", "")))
            for name, one in found.items()
        }

    @property
    def default_spec(self) -> str:
        """The kernel that is started where none is asked for."""
        return str(self._kernels.default_kernel_name)

    async def sessions(self) -> list[KernelSession]:
        """All sessions whose kernel is there."""
        with _said_plainly("The sessions of this server cannot be listed"):
            return [_session(model) for model in await self._sessions.list_sessions()]

    async def start_session(self, path: str, kernel_name: str) -> KernelSession:
        """Start a kernel for a notebook; a tab that opens it later finds it."""
        with _said_plainly(f"The kernel {kernel_name} could not be started"):
            model = await self._sessions.create_session(
                path=path, name=path.rpartition("/")[2], type="notebook", kernel_name=kernel_name
            )
        return _session(model)

    async def connect(self, kernel_id: str) -> Transport:
        """A new client of this kernel."""
        manager = self._manager(kernel_id)
        with _said_plainly("The kernel cannot be reached"):
            if is_remote(manager):
                from ._gateway import GatewayTransport

                return await GatewayTransport.open(kernel_id)
            await until_ready(manager)
            if self._context is None:
                self._context = new_context()
            return ZmqTransport(manager, self._context)

    async def alive(self, kernel_id: str) -> bool:
        """Whether its process runs; NotFound when nobody knows this kernel any more."""
        manager = self._manager(kernel_id)
        with _said_plainly("The kernel cannot be reached"):
            if not is_remote(manager):
                await until_ready(manager)
                return bool(await ensure_async(manager.is_alive()))
            await ensure_async(manager.is_alive())
        # A gateway's manager says True the first time it did not find its kernel; then it has none.
        if not manager.has_kernel:
            self._kernels.remove_kernel(kernel_id)
            raise _gone(kernel_id)
        return True

    def life(self, kernel_id: str) -> str:
        """Its process and ports, which a restart changes; a gateway tells neither."""
        if kernel_id not in self._kernels:
            return ""
        manager = self._kernels.get_kernel(kernel_id)
        process = getattr(manager.provisioner, "pid", None)
        return "remote" if is_remote(manager) else f"{process} {manager.ports}"

    def state(self, kernel_id: str) -> KernelState:
        """What Jupyter Server takes it to do; only cells count as its being busy."""
        if kernel_id not in self._kernels:
            return "unknown"
        return _STATES.get(str(getattr(self._kernels.get_kernel(kernel_id), "execution_state", "")), "unknown")

    def watch_seconds(self, kernel_id: str) -> float:
        """A look at a local process costs nothing, one through a gateway a request."""
        return _REMOTE_WATCH_SECONDS if self.is_behind_gateway(kernel_id) else _LOCAL_WATCH_SECONDS

    def is_behind_gateway(self, kernel_id: str) -> bool:
        """Whether a gateway runs it. Of connections to a local one nobody but ``hold`` tells; a gateway counts them all."""
        return kernel_id in self._kernels and is_remote(self._kernels.get_kernel(kernel_id))

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt what it does."""
        self._manager(kernel_id)
        with _said_plainly("The kernel could not be interrupted"):
            done = self._kernels.interrupt_kernel(kernel_id)
            # A blocking manager has done it by now.
            if inspect.isawaitable(done):
                await done

    async def restart(self, kernel_id: str) -> None:
        """Restart it and wait until it answers."""
        manager = self._manager(kernel_id)
        if not is_remote(manager):
            await until_settled(manager)
        with _said_plainly("The kernel could not be restarted"):
            answers: object = await ensure_async(self._kernels.restart_kernel(kernel_id))
            if asyncio.isfuture(answers):
                await answers

    def hold(self, kernel_id: str) -> None:
        """Count as connected, so that it is not culled."""
        if kernel_id in self._kernels:
            self._kernels.notify_connect(kernel_id)

    def release(self, kernel_id: str) -> None:
        """Count as connected no more."""
        if kernel_id in self._kernels:
            self._kernels.notify_disconnect(kernel_id)

    async def close(self) -> None:
        """Give back what connections needed; kernels go on."""
        context, self._context = self._context, None
        if context is not None:
            # Waits for the input/output thread, which may take a moment to let go of the sockets.
            await asyncio.to_thread(context.destroy, 0)

    def _manager(self, kernel_id: str) -> KernelManager:
        if kernel_id not in self._kernels:
            raise _gone(kernel_id)
        return self._kernels.get_kernel(kernel_id)


def _gone(kernel_id: str) -> NotFound:
    return NotFound(
        "The kernel no longer exists. Running a cell starts a new one, without its variables.", kernel=kernel_id
    )


def is_remote(manager: KernelManager) -> bool:
    """Whether it is a gateway's; told without importing the gateway's client where nobody uses it."""
    return any(base.__module__.startswith("jupyter_server.gateway") for base in type(manager).__mro__)


async def until_ready(manager: KernelManager) -> None:
    """Wait for a pending kernel; if it failed to start, say so."""
    ready = manager.ready
    if isinstance(ready, concurrent.futures.Future):
        ready = asyncio.wrap_future(ready)
    if not ready.done():
        await asyncio.wait({ready})
    if (error := ready.exception()) is not None:
        raise Unavailable(f"The kernel could not be started: {error}")


async def until_settled(manager: KernelManager) -> None:
    """Wait while Jupyter itself starts a kernel anew, in two steps: until that is done it fails to restart or end it."""
    while not manager.ready.done():
        with suppress(Unavailable):
            await until_ready(manager)


def _session(model: JsonObject) -> KernelSession:
    kernel = model["kernel"]
    assert isinstance(kernel, dict)
    state = _STATES.get(str(kernel.get("execution_state")), "unknown")
    return KernelSession(str(model["id"]), str(model["path"]), str(kernel["id"]), str(kernel.get("name", "")), state)


@contextmanager
def _said_plainly(what: str) -> Iterator[None]:
    """Whatever Jupyter's managers raise, as one of our errors."""
    try:
        yield
    except HdspAgentError:
        raise
    except HTTPError as error:
        kind = NotFound if error.status_code == 404 else Unavailable
        why = error.log_message % error.args if error.log_message and error.args else error.log_message
        raise kind(f"{what}: {why or error.reason or error.status_code}") from error
    except Exception as error:
        # Kernel provisioners are plugins and may raise anything.
        raise Unavailable(f"{what}: {str(error) or type(error).__name__}") from error
