"""The vocabulary: everything that page, server, files and programs outside say to each other."""

from __future__ import annotations

from . import (
    _additions,
    _api_messages,
    _approval_flags,
    _base,
    _choices,
    _conversation_changes,
    _conversation_messages,
    _embedded_conversations,
    _errors,
    _extension,
    _extension_services,
    _extension_settings,
    _extension_tasks,
    _folder_trust,
    _frames,
    _history_item,
    _ipc,
    _kinds,
    _notebook_texts,
    _notebooks,
    _open_tasks,
    _parsing,
    _proposals,
    _protocol,
    _rule_suggestions,
    _state,
    _task_events,
    _texts,
    _warm_up,
    _webview,
    _webview_base,
    _webview_modes,
    _webview_services,
    _webview_settings,
    _webview_tasks,
)
from ._additions import *
from ._api_messages import *
from ._approval_flags import *
from ._base import *
from ._choices import *
from ._conversation_changes import *
from ._conversation_messages import *
from ._embedded_conversations import *
from ._errors import *
from ._extension import *
from ._extension_services import *
from ._extension_settings import *
from ._extension_tasks import *
from ._folder_trust import *
from ._frames import *
from ._history_item import *
from ._ipc import *
from ._kinds import *
from ._notebook_texts import *
from ._notebooks import *
from ._open_tasks import *
from ._parsing import *
from ._proposals import *
from ._protocol import *
from ._rule_suggestions import *
from ._state import *
from ._task_events import *
from ._texts import *
from ._warm_up import *
from ._webview import *
from ._webview_base import *
from ._webview_modes import *
from ._webview_services import *
from ._webview_settings import *
from ._webview_tasks import *

__all__: list[str] = []
__all__ += _additions.__all__
__all__ += _api_messages.__all__
__all__ += _approval_flags.__all__
__all__ += _base.__all__
__all__ += _choices.__all__
__all__ += _conversation_changes.__all__
__all__ += _conversation_messages.__all__
__all__ += _embedded_conversations.__all__
__all__ += _errors.__all__
__all__ += _extension.__all__
__all__ += _extension_services.__all__
__all__ += _extension_settings.__all__
__all__ += _extension_tasks.__all__
__all__ += _folder_trust.__all__
__all__ += _frames.__all__
__all__ += _history_item.__all__
__all__ += _ipc.__all__
__all__ += _kinds.__all__
__all__ += _notebook_texts.__all__
__all__ += _notebooks.__all__
__all__ += _open_tasks.__all__
__all__ += _parsing.__all__
__all__ += _proposals.__all__
__all__ += _protocol.__all__
__all__ += _rule_suggestions.__all__
__all__ += _state.__all__
__all__ += _task_events.__all__
__all__ += _texts.__all__
__all__ += _warm_up.__all__
__all__ += _webview.__all__
__all__ += _webview_base.__all__
__all__ += _webview_modes.__all__
__all__ += _webview_services.__all__
__all__ += _webview_settings.__all__
__all__ += _webview_tasks.__all__
