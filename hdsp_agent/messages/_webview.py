"""All messages from the page to the server."""

from typing import Annotated

from pydantic import Field

from ._conversation_changes import ConversationRequest
from ._embedded_conversations import FindEmbeddedConversationRequest, OpenEmbeddedConversationRequest
from ._mcp import McpRequest
from ._notebooks import NotebookMessage
from ._open_tasks import OpenTasksMessage
from ._proposals import ProposalRequest
from ._rule_suggestions import SuggestRulesRequest
from ._webview_modes import ModesMessage
from ._webview_services import ServicesMessage
from ._webview_settings import SettingsMessage
from ._webview_tasks import TaskMessage

__all__ = ["WebviewMessage"]

WebviewMessage = Annotated[
    TaskMessage
    | SettingsMessage
    | ModesMessage
    | ServicesMessage
    | NotebookMessage
    | ConversationRequest
    | OpenTasksMessage
    | SuggestRulesRequest
    | FindEmbeddedConversationRequest
    | OpenEmbeddedConversationRequest
    | ProposalRequest
    | McpRequest,
    Field(discriminator="type"),
]
