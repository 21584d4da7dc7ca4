"""A server extension for measurements: when each turn of each task began, told by the agent's own events."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from hdsp_agent.messages import MessageEvent

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

_TURNS: Final[defaultdict[str, list[int]]] = defaultdict(list)


def _heard(event: MessageEvent) -> None:
    change = event.payload[0]
    if change.action == "created" and change.message.say == "api_req_started":
        _TURNS[change.task_id].append(time.perf_counter_ns())


class TurnsHandler(APIHandler):
    """`GET hdsp-agent-bench/turns`: for each task when it asked the model, in nanoseconds."""

    _listening = False

    @web.authenticated
    @authorized("read", resource="hdsp_agent")
    def get(self) -> None:
        """Begins to listen when it is asked first: the agent is not there while extensions load."""
        if not TurnsHandler._listening:
            TurnsHandler._listening = True
            self.settings["hdsp_agent_services"].agent.events.on(MessageEvent, _heard)
        self.finish(_TURNS)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "benchmarks.agent_watch"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    base = app.web_app.settings["base_url"]
    app.web_app.add_handlers(".*$", [(url_path_join(base, "hdsp-agent-bench/turns"), TurnsHandler)])
