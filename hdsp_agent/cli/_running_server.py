"""The running Jupyter Server that has a workspace's kernels: only it can set their variables and run their cells."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import ValidationError

from ..errors import Conflict, HdspAgentError, InvalidInput, NotAllowed, NotFound, Unavailable, Unsupported
from ..wire import WireModel
from ._runtime_files import running_jupyters

if TYPE_CHECKING:
    import httpx2
    from pydantic import JsonValue

__all__ = ["RunningServer", "server_of"]

AnswerT = TypeVar("AnswerT", bound=WireModel)

_API: Final = "hdsp-agent/api/"
_LOOK_SECONDS: Final = 10.0
_WORK_SECONDS: Final = 600.0
_ERRORS: Final[Mapping[int, type[HdspAgentError]]] = {
    400: InvalidInput,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    501: Unsupported,
}


class RunningServer:
    """One server, asked over REST with the token that it keeps for its own user."""

    def __init__(self, client: httpx2.AsyncClient, url: str, root: Path, task: str | None) -> None:
        self._client = client
        self._url = url
        self._root = root
        self._place: dict[str, JsonValue] = {"task": task} if task is not None else {}

    def notebook(self, path: str) -> str:
        """A notebook's path in the contents API. Raises InvalidInput for one that the server does not serve."""
        file = os.path.realpath(os.path.expanduser(path))
        root = os.path.realpath(self._root)
        if not Path(file).is_relative_to(root):
            raise InvalidInput(f"{path} is not in {root}, which the server at {self._url} serves.", path=path)
        return os.path.relpath(file, root).replace(os.sep, "/")

    async def post(self, path: str, answer: type[AnswerT], /, **body: JsonValue) -> AnswerT:
        """What the server answers. Its refusal is raised as the same error."""
        return self._read(answer, await self._send("POST", path, {**self._place, **body}))

    async def get(self, path: str, answer: type[AnswerT]) -> AnswerT:
        """The same, of what is only looked at."""
        return self._read(answer, await self._send("GET", path, None))

    async def _send(self, method: str, path: str, body: dict[str, JsonValue] | None) -> httpx2.Response:
        import httpx2

        try:
            return await self._client.request(method, f"{self._url}{_API}{path}", json=body)
        except httpx2.HTTPError as error:
            raise Unavailable(f"The Jupyter Server at {self._url} did not answer: {_said(error)}.") from error

    def _read(self, answer: type[AnswerT], response: httpx2.Response) -> AnswerT:
        if response.status_code >= 300:
            raise _ERRORS.get(response.status_code, Unavailable)(_message(response, self._url))
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise Unavailable(
                f"The Jupyter Server at {self._url} runs a different version of HDSP Agent. Restart it, then try again."
            ) from error


@asynccontextmanager
async def server_of(workspace: Path, checkpoint_task: str | None = None) -> AsyncIterator[RunningServer]:
    """The server of this workspace: its own folder, or that of the task a checkpoint belongs to. Unavailable, in words, if none
    runs that would let us in."""
    import httpx2

    refused: list[str] = []
    # A proxy of the environment is none of this token's business, and no answer may send it elsewhere.
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=_WORK_SECONDS) as client:
        for server in await asyncio.to_thread(running_jupyters):
            url = server.url
            client.headers["Authorization"] = f"token {server.token}"
            for task in dict.fromkeys((None, checkpoint_task)):
                query = {"limit": "1", **({"task": task} if task else {})}
                try:
                    response = await client.get(f"{url}{_API}checkpoints", params=query, timeout=_LOOK_SECONDS)
                except httpx2.HTTPError as error:
                    refused.append(f"{url} did not answer: {_said(error)}")
                    break
                if response.status_code in (301, 302, 401, 403):
                    refused.append(f"{url} needs a password or belongs to JupyterHub, so programs cannot connect to it")
                    break
                if response.status_code == 200 and _is_of(response, workspace):
                    yield RunningServer(client, url, server.root, task)
                    return
    raise Unavailable(
        f"No Jupyter Server with HDSP Agent runs for {workspace}. Variables live in its kernels. Start the server there, open "
        "the notebook, then try again." + "".join(f"\n{one}." for one in refused)
    )


def _is_of(response: httpx2.Response, workspace: Path) -> bool:
    try:
        told = response.json().get("workspace")
    except (ValueError, AttributeError):
        return False
    return isinstance(told, str) and os.path.realpath(told) == os.path.realpath(workspace)


def _message(response: httpx2.Response, url: str) -> str:
    try:
        message = response.json()["message"]
    except (ValueError, KeyError, TypeError):
        message = None
    return message if isinstance(message, str) else f"The Jupyter Server at {url} answered {response.status_code}."


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
