"""A server extension for tests and measurements: it publishes on the real channel what it is told to.

It stands where the agent's task loop will be; nothing in the product knows of it.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from pydantic import TypeAdapter
from tornado import web

from hdsp_agent.comm.identity import owner_of
from hdsp_agent.messages import ClineMessage, ExtensionMessage, MessageCreated, MessageUpdated, TaskCommand

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from hdsp_agent.comm import Channel

TASK_ID = "019a0000-0000-7000-8000-000000000001"


class _ScriptedHandler(APIHandler):
    _track_activity = False

    @property
    def channel(self) -> Channel:
        """The channel of whoever asks."""
        channel: Channel = self.settings["hdsp_agent_services"].channels.channel(owner_of(self))
        return channel

    def check_xsrf_cookie(self) -> None:
        """Scripts call this with a token."""


class PublishHandler(_ScriptedHandler):
    """Publish the messages in the body's list."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Body: a JSON list of ExtensionMessages."""
        messages = TypeAdapter(list[ExtensionMessage]).validate_json(self.request.body)
        for message in messages:
            self.channel.publish(message)
        self.finish({"published": len(messages)})


class AppendHandler(_ScriptedHandler):
    """Stream a text to the end of a message."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Body: {ts, text}; the message is one that was published as partial."""
        wanted = json.loads(self.request.body)
        self.channel.delta(TASK_ID, int(wanted["ts"]), "text", str(wanted["text"]))
        self.finish({"appended": len(wanted["text"])})


class CommandHandler(_ScriptedHandler):
    """Do what a program outside asks of the agent."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Body: a TaskCommand; answers with the task that was begun or meant."""
        session = self.settings["hdsp_agent_services"].agent.session()
        await session.command(TypeAdapter(TaskCommand).validate_json(self.request.body))
        self.finish({"task": session.task})


class PlaceHandler(_ScriptedHandler):
    """Have a conversation be about another folder, as of a server that began there."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Body: {task, workspace}."""
        wanted = json.loads(self.request.body)
        history, owner = self.settings["hdsp_agent_services"].history, owner_of(self)
        item = await history.item(owner, wanted["task"])
        await history.put(owner, item.model_copy(update={"workspace": wanted["workspace"]}))
        self.finish({"workspace": wanted["workspace"]})


class LaterHandler(_ScriptedHandler):
    """Let time pass for what learns from finished conversations."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Body: {hours}; 0 is now again."""
        seconds = float(json.loads(self.request.body)["hours"]) * 3600
        pipeline = await self.settings["hdsp_agent_services"].memory.job.pipeline()
        pipeline.clock = lambda: time.time() + seconds
        self.finish({"seconds": seconds})


class SearchHandler(_ScriptedHandler):
    """Put into the search what came since the last time."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Answers when it is there."""
        await self.settings["hdsp_agent_services"].recall_job.look()
        self.finish({})


class StreamHandler(_ScriptedHandler):
    """Stream text into many messages at once, each piece carrying the time it was published at."""

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    async def post(self) -> None:
        """Body: {messages, perSecond, seconds}; answers when done."""
        wanted = json.loads(self.request.body)
        count, rate, seconds = int(wanted["messages"]), float(wanted["perSecond"]), float(wanted["seconds"])
        first = int(time.time() * 1000)
        numbers = [first + index for index in range(count)]
        for ts in numbers:
            self.channel.publish(MessageCreated(task_id=TASK_ID, message=_row(ts, "", partial=True)))
        pieces = await self._stream(numbers, rate, seconds)
        # What ends a message replaces its text: the last pieces must have been seen before.
        await asyncio.sleep(1)
        for ts in numbers:
            self.channel.publish(MessageUpdated(task_id=TASK_ID, cline_message=_row(ts, "done", partial=False)))
        self.finish({"pieces": pieces, "first": first})

    async def _stream(self, numbers: list[int], rate: float, seconds: float) -> int:
        started = time.monotonic()
        pieces = 0
        while (now := time.monotonic() - started) < seconds:
            due = int(now * rate)
            for piece in range(pieces, due):
                # Lines of a usual length, as a model writes them.
                end = "\n" if piece // len(numbers) % 5 == 4 else " "
                text = f"{time.time() * 1000:.1f};{end}"
                self.channel.delta(TASK_ID, numbers[piece % len(numbers)], "text", text)
            pieces = max(pieces, due)
            await asyncio.sleep(0.002)
        return pieces


def _row(ts: int, text: str, *, partial: bool) -> ClineMessage:
    return ClineMessage(ts=ts, type="say", say="text", text=text, partial=partial)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "scripted_agent"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    base = app.web_app.settings["base_url"]
    app.web_app.add_handlers(
        ".*$",
        [
            (url_path_join(base, "hdsp-agent-test/publish"), PublishHandler),
            (url_path_join(base, "hdsp-agent-test/append"), AppendHandler),
            (url_path_join(base, "hdsp-agent-test/command"), CommandHandler),
            (url_path_join(base, "hdsp-agent-test/place"), PlaceHandler),
            (url_path_join(base, "hdsp-agent-test/later"), LaterHandler),
            (url_path_join(base, "hdsp-agent-test/search"), SearchHandler),
            (url_path_join(base, "hdsp-agent-test/stream"), StreamHandler),
        ],
    )
