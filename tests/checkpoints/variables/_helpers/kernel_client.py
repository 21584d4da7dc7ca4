"""A client of a kernel as ``VariableCheckpoints`` needs it, without an executor: for processes that are killed and for the bench."""

from __future__ import annotations

from typing import Literal

from jupyter_client.asynchronous.client import AsyncKernelClient

from hdsp_agent.checkpoints.variables import VariableKernel
from hdsp_agent.messages import JsonObject

__all__ = ["AskedKernel"]


class AskedKernel(VariableKernel):
    """One kernel, and a client that waits for each answer."""

    def __init__(self, kernel_id: str, client: AsyncKernelClient, longest: float | None = None) -> None:
        self.kernel_id = kernel_id
        self.language = "python"
        self.client = client
        self._longest = longest

    async def ask(
        self,
        kind: str,
        content: JsonObject,
        *,
        channel: Literal["shell", "control"] = "control",
        seconds: float | None = None,
    ) -> JsonObject:
        """A request's reply."""
        at = self.client.shell_channel if channel == "shell" else self.client.control_channel
        message = self.client.session.msg(kind, content)
        most = min((one for one in (seconds, self._longest) if one is not None), default=None)
        self.stepped()
        at.send(message)
        self.stepped()
        while True:
            reply = await at.get_msg(timeout=most)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                self.stepped()
                told: JsonObject = reply["content"]
                return told

    async def evaluate(self, expression: str, seconds: float) -> JsonObject:
        """What an expression is, in a kernel that nobody else uses."""
        content: JsonObject = {"code": "", "silent": True, "user_expressions": {"it": expression}}
        values = (await self.ask("execute_request", content, seconds=seconds))["user_expressions"]
        assert isinstance(values, dict) and isinstance(values["it"], dict)
        return values["it"]

    def stepped(self) -> None:
        """Called before a question is sent, after it, and when its answer has come."""

    async def told(self, expression: str, seconds: float = 600) -> str:
        """What an expression is, as it is shown; nothing is left of the question."""
        content: JsonObject = {"code": "", "silent": True, "user_expressions": {"it": expression}}
        return shown(await self.ask("execute_request", content, seconds=seconds))


def shown(reply: JsonObject) -> str:
    """What the expression ``it`` of a request to run code was."""
    values = reply["user_expressions"]
    assert isinstance(values, dict)
    found = values["it"]
    assert isinstance(found, dict) and found["status"] == "ok", found
    data = found["data"]
    assert isinstance(data, dict)
    return str(data["text/plain"])
