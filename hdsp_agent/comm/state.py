"""What a page starts from, and how it hears of changes to the configuration."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import ConfigChange, ContextProxy
from ..messages import (
    ExtensionMessage,
    ExtensionState,
    NoticesUpdatedMessage,
    OpenTask,
    ProfilesUpdatedMessage,
    SecretsUpdatedMessage,
    SettingsUpdatedMessage,
    StateMessage,
)
from .notice_board import Notices
from .task_view import ShownTask, TaskDetails

__all__ = ["changes", "full_state"]


def full_state(
    version: str,
    config: ContextProxy,
    notices: Notices,
    *,
    can_start_tasks: bool,
    shown: ShownTask | None = None,
    doing: TaskDetails | None = None,
    open_tasks: Sequence[OpenTask] = (),
    checkpoint: str | None = None,
    notebook_root: str | None = None,
) -> StateMessage:
    """Everything a page shows, from memory; ``doing`` is about the conversation shown, if it is worked on."""
    book = config.profiles
    current = book.current
    return StateMessage(
        state=ExtensionState(
            version=version,
            settings=config.settings,
            fixed=sorted(config.fixed),
            api_configuration=book.settings(current.id).to_wire(),
            current_api_config_name=current.name,
            list_api_config_meta=list(book.entries),
            lock_api_config_across_modes=book.locked,
            secret_status=config.secrets.status,
            mode=config.settings.mode,
            custom_modes=config.settings.custom_modes or [],
            can_start_tasks=can_start_tasks,
            can_restore_files=can_start_tasks and config.settings.enable_checkpoints,
            current_task_id=shown.item.id if shown else None,
            current_task_item=shown.item if shown else None,
            current_task_status=doing.status if doing else "none" if shown else None,
            current_task_todos=list(doing.todos) if doing else None,
            current_task_marks=shown.marks if shown else None,
            current_checkpoint=checkpoint,
            token_usage=doing.usage if doing else shown.usage if shown else None,
            model_room=(doing.room if doing else None) or (shown.room if shown else None),
            auto_answer=doing.auto_answer if doing else None,
            message_queue=list(doing.queue) if doing else None,
            open_tasks=list(open_tasks),
            running_commands=list(doing.commands) if doing else None,
            cline_messages=shown.messages if shown else [],
            has_older_messages=shown.has_older if shown else False,
            notices=notices.standing,
            notebook_root=notebook_root,
        )
    )


def changes(change: ConfigChange, config: ContextProxy, notices: Notices) -> list[ExtensionMessage]:
    """The messages that tell pages what is different: O(what changed), never the whole state."""
    messages: list[ExtensionMessage] = []
    if change.settings:
        messages.append(SettingsUpdatedMessage(settings=config.settings, fixed=sorted(config.fixed)))
    if change.profiles:
        messages.append(_profiles_updated(config))
    if change.secrets:
        messages.append(SecretsUpdatedMessage(status=config.secrets.status))
    if change.notices:
        messages.append(NoticesUpdatedMessage(notices=notices.standing))
    return messages


def _profiles_updated(config: ContextProxy) -> ProfilesUpdatedMessage:
    book = config.profiles
    return ProfilesUpdatedMessage(
        list_api_config=list(book.entries),
        current_api_config_name=book.current.name,
        lock_api_config_across_modes=book.locked,
    )
