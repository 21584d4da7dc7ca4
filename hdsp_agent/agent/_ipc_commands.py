"""The commands of programs outside, in Roo Code's form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, assert_never

from pydantic import JsonValue

from ..config import GlobalSettings, ProviderSettings, wire_names
from ..errors import Conflict, InvalidInput, NotFound, UnknownProfile
from ..messages import (
    AnswerAskCommand,
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
    StartNewTaskData,
    TaskCommand,
    TaskEvent,
    TaskId,
)

if TYPE_CHECKING:
    from ._task_manager import TaskManager, TaskRequest

__all__ = ["IpcCommandSession"]

_MODE: Final = "mode"
_PROFILE: Final = "currentApiConfigName"
_MOST_NAMED: Final = 5


class IpcCommandSession:
    """What one program outside says. A command that names no task means the one this program began or meant last.

    Of a program that has meant none yet it means the only task at work, if there is but one: never a guess, and never a
    task of somebody else than ``person``, whose server it is. A subtask acts for the task that waits for it.
    """

    @classmethod
    def of(cls, manager: TaskManager) -> IpcCommandSession:
        """A session with a manager that is there."""

        async def there() -> TaskManager:
            return manager

        return cls(there)

    def __init__(self, manager: Callable[[], Awaitable[TaskManager]], person: str | None = None) -> None:
        self._manager = manager
        self._person = person
        self._task: TaskId | None = None

    @property
    def task(self) -> TaskId | None:
        """The task this program began or meant last."""
        return self._task

    async def command(self, command: TaskCommand) -> TaskEvent | None:
        """Do what is asked; the event that answers this program alone, if there is one."""
        manager = await self._manager()
        match command:
            case StartNewTaskCommand(data=data):
                self._task = await manager.start(_request(manager, data, self._person))
            case ResumeTaskCommand(data=task_id):
                await manager.resume(task_id)
                self._task = task_id
            case CancelTaskCommand(task_id=named):
                await manager.cancel(await self._meant(manager, named))
            case CloseTaskCommand(task_id=named):
                await manager.tasks.close(await self._meant(manager, named))
            case SendMessageCommand(data=said, task_id=named):
                await manager.send(await self._meant(manager, named), said.text or "", tuple(said.images or ()))
            case AnswerAskCommand(data=given, task_id=named):
                await manager.answer(
                    await self._meant(manager, named),
                    given.message_ts,
                    given.ask_response,
                    given.text,
                    given.images or (),
                )
            case DeleteQueuedMessageCommand(data=message_id, task_id=named):
                await manager.tasks.get(await self._meant(manager, named)).state.queue.remove(message_id)
            case GetCommandsCommand():
                commands = await manager.services.commands.listed(str(manager.services.workspace))
                return CommandsResponse(payload=(commands,))
            case GetModesCommand():
                names = await manager.services.modes.names(str(manager.services.workspace))
                return ModesResponse(payload=(list(names),))
            case GetModelsCommand():
                return ModelsResponse(payload=(await manager.services.models.known(),))
            case _:
                assert_never(command)
        return None

    async def _meant(self, manager: TaskManager, named: TaskId | None) -> TaskId:
        if named is not None:
            self._task = named
        if self._task is None:
            self._task = self._only_one(manager)
        worked_on = await manager.worked_on_for(self._task)
        return self._task if worked_on is None else worked_on.task_id

    def _only_one(self, manager: TaskManager) -> TaskId:
        tasks = [task for task_id in manager.tasks.open if (task := manager.tasks.opened(task_id)) is not None]
        ours = [task.task_id for task in tasks if task.state.conversation.log.metadata.user in (None, self._person)]
        if not ours:
            raise NotFound("No task is running. Start or resume one first.")
        if len(ours) > 1:
            more = ", …" if len(ours) > _MOST_NAMED else ""
            raise Conflict(
                f"{len(ours)} tasks are running. Choose one: {', '.join(ours[:_MOST_NAMED])}{more}.",
                field="taskId",
            )
        return ours[0]


def _request(manager: TaskManager, data: StartNewTaskData, person: str | None) -> TaskRequest:
    """The task that is asked for. Its own settings hold for it alone, within what the operator allows."""
    from ._task_manager import TaskRequest

    wanted = data.configuration
    mode, profile = _text(wanted, _MODE), _text(wanted, _PROFILE)
    _check_model(manager, wanted, mode, profile)
    images = tuple(data.images or ())
    return TaskRequest(data.text, images, mode=mode, profile=profile, settings=wanted, owner=person, source="ipc")


def _text(wanted: Mapping[str, JsonValue], key: str) -> str | None:
    value = wanted.get(key)
    if value is None or isinstance(value, str):
        return value or None
    raise InvalidInput(f"{key} must be a text.", field=f"configuration.{key}")


def _check_model(manager: TaskManager, wanted: Mapping[str, JsonValue], mode: str | None, profile: str | None) -> None:
    """Which model answers, and who pays, is a matter of saved profiles. Another one is refused, never quietly replaced."""
    models = manager.services.models
    name = profile or models.profile_for(mode or manager.services.settings().mode)
    settings = models.settings_of(name)
    if settings is None and profile is not None:
        raise UnknownProfile(
            f"There is no profile {profile[:100]}. Save it first, or name another one.",
            field=f"configuration.{_PROFILE}",
        )
    own = {} if settings is None else settings.to_wire()
    names = wire_names(ProviderSettings).keys() - wire_names(GlobalSettings).keys()
    other = sorted(key for key in names & wanted.keys() if wanted[key] is not None and wanted[key] != own.get(key))
    if other:
        # Their names only: one of them may be a key.
        raise InvalidInput(
            f"A task uses a saved profile's model and keys, so these were not used: {', '.join(other)}. "
            f"Save them as a profile, and name it in {_PROFILE}.",
            field=f"configuration.{other[0]}",
        )
