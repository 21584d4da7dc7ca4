"""The state a page starts from."""

from ..config import GlobalSettings, ModeConfig, ProfileEntry, ProviderSettings, SecretStatus
from ._base import Flag, Message
from ._conversation_changes import ConversationMarks
from ._conversation_messages import AutoAnswerTime, ClineMessage, ModelRoom, QueuedMessage, TodoItem, TokenUsage
from ._errors import Notice
from ._history_item import HistoryItem
from ._kinds import TaskStatus
from ._open_tasks import OpenTask
from ._texts import CommandStarted

__all__ = ["ExtensionState"]


class ExtensionState(Message):
    """What a page shows, as of one moment. Fields that are absent have not changed, or do not exist."""

    version: str | None = None
    settings: GlobalSettings | None = None
    fixed: list[str] | None = None
    api_configuration: ProviderSettings | None = None
    current_api_config_name: str | None = None
    list_api_config_meta: list[ProfileEntry] | None = None
    lock_api_config_across_modes: Flag | None = None
    secret_status: SecretStatus | None = None
    mode: str | None = None
    custom_modes: list[ModeConfig] | None = None
    current_task_id: str | None = None
    current_task_item: HistoryItem | None = None
    current_task_status: TaskStatus | None = None
    current_task_todos: list[TodoItem] | None = None
    current_task_marks: ConversationMarks | None = None
    current_checkpoint: str | None = None
    token_usage: TokenUsage | None = None
    model_room: ModelRoom | None = None
    auto_answer: AutoAnswerTime | None = None
    cline_messages: list[ClineMessage] | None = None
    has_older_messages: bool | None = None
    message_queue: list[QueuedMessage] | None = None
    can_start_tasks: Flag | None = None
    can_restore_files: Flag | None = None
    open_tasks: list[OpenTask] | None = None
    running_commands: list[CommandStarted] | None = None
    notices: list[Notice] | None = None
    notebook_root: str | None = None
    """The folder that paths of notebooks begin in; absent where they are no files. `notebookApprovals` has whole paths."""
