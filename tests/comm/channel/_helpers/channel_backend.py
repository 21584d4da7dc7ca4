"""What stands behind the channel in these tests: handlers that are quick, slow, broken and refusing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hdsp_agent.comm import Dispatcher, Owner, RequestContext
from hdsp_agent.errors import InvalidSetting
from hdsp_agent.messages import (
    ExportSettingsRequest,
    ExtensionState,
    ModeRequest,
    NewTaskRequest,
    RequestModesRequest,
    StateMessage,
    UpdateSettingsRequest,
)
from tests.comm.channel._helpers.channel_panel import VERSION

__all__ = ["Backend"]


async def only_one_task(_: Owner, task_id: str) -> bool:
    return task_id == "known"


@dataclass
class Backend:
    """What stands behind the channel in these tests, and what was asked of it."""

    asked: list[str] = field(default_factory=list)
    states: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def state_of(self, owner: Owner) -> StateMessage:
        self.states += 1
        return StateMessage(state=ExtensionState(version=VERSION))

    def dispatcher(self) -> Dispatcher:
        dispatcher = Dispatcher(task_exists=only_one_task)
        dispatcher.handle("updateSettings", self.update_settings)
        dispatcher.handle("newTask", self.slow)
        dispatcher.handle("exportSettings", self.broken)
        dispatcher.handle("mode", self.refuse)
        dispatcher.handle("requestModes", self.not_json)
        return dispatcher

    async def update_settings(self, context: RequestContext, message: UpdateSettingsRequest) -> str:
        self.asked.append(message.request_id)
        return f"{context.owner}:{context.client_id}"

    async def slow(self, context: RequestContext, message: NewTaskRequest) -> int:
        self.asked.append(message.request_id)
        await self.gate.wait()
        return len(self.asked)

    async def broken(self, context: RequestContext, message: ExportSettingsRequest) -> None:
        raise RuntimeError("the secret inside")

    async def refuse(self, context: RequestContext, message: ModeRequest) -> None:
        raise InvalidSetting("The setting mode cannot be that.", field="mode", most=3)

    async def not_json(self, context: RequestContext, message: RequestModesRequest) -> str:
        return "\ud800"
