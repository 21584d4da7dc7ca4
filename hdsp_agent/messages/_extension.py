"""All messages from the server to the page."""

from typing import Annotated

from pydantic import Field

from ._conversation_changes import ConversationUpdate
from ._extension_services import ServicesUpdate
from ._extension_settings import SettingsUpdate
from ._extension_tasks import TaskUpdate
from ._external_agents import ExternalAgentsUpdatedMessage
from ._folder_trust import FolderTrustUpdatedMessage
from ._mcp import McpServersMessage
from ._memory import MemoryUpdatedMessage
from ._notebooks import NotebookUpdate
from ._open_tasks import OpenTasksUpdatedMessage
from ._proposals import ProposalMessage
from ._rule_suggestions import RuleSuggestionsMessage

__all__ = ["ExtensionMessage"]

ExtensionMessage = Annotated[
    TaskUpdate
    | SettingsUpdate
    | ServicesUpdate
    | NotebookUpdate
    | ConversationUpdate
    | OpenTasksUpdatedMessage
    | RuleSuggestionsMessage
    | ProposalMessage
    | FolderTrustUpdatedMessage
    | MemoryUpdatedMessage
    | ExternalAgentsUpdatedMessage
    | McpServersMessage,
    Field(discriminator="type"),
]
