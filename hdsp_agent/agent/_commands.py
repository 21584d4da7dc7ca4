"""The commands of programs outside, in Roo Code's form. They name no task: the current one is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import assert_never

from ..errors import NotFound
from ..messages import (
    CancelTaskCommand,
    CloseTaskCommand,
    CommandsResponse,
    DeleteQueuedMessageCommand,
    GetCommandsCommand,
    GetModelsCommand,
    GetModesCommand,
    ModelsResponse,
    ModesResponse,
    ResumeTaskCommand,
    SendMessageCommand,
    StartNewTaskCommand,
    TaskCommand,
    TaskEvent,
    TaskId,
)

if TYPE_CHECKING:
    from ._manager import TaskManager

__all__ = ["run_command"]


async def run_command(manager: TaskManager, command: TaskCommand) -> TaskEvent | None:
    """Do what is asked; the event that answers the asking client alone, if there is one."""
    from ._manager import TaskRequest

    match command:
        case StartNewTaskCommand(data=data):
            settings = data.configuration
            mode, profile = settings.get("mode"), settings.get("currentApiConfigName")
            await manager.start(
                TaskRequest(
                    data.text,
                    tuple(data.images or ()),
                    mode=mode if isinstance(mode, str) else None,
                    profile=profile if isinstance(profile, str) else None,
                    settings=settings,
                )
            )
        case CancelTaskCommand():
            await manager.cancel(_current(manager))
        case CloseTaskCommand():
            await manager.close(_current(manager))
        case ResumeTaskCommand(data=task_id):
            await manager.resume(task_id)
        case SendMessageCommand(data=said):
            await manager.send(_current(manager), said.text or "", tuple(said.images or ()))
        case DeleteQueuedMessageCommand(data=message_id):
            await manager.remove_queued(_current(manager), message_id)
        case GetCommandsCommand():
            return CommandsResponse(payload=([],))
        case GetModesCommand():
            names = await manager.services.modes.names(str(manager.services.workspace))
            return ModesResponse(payload=(list(names),))
        case GetModelsCommand():
            return ModelsResponse(payload=(await manager.services.models.known(),))
        case _:
            assert_never(command)
    return None


def _current(manager: TaskManager) -> TaskId:
    current = manager.current
    if current is None:
        raise NotFound("There is no current task. Start or resume one first.")
    return current
