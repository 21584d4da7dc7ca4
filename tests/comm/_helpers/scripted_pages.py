"""A model with a script in the running server, and pages that put a conversation together from what they hear."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hdsp_agent.comm.services import Services
from tests.comm.channel._helpers.channel_panel import Panel

__all__ = ["Turn", "asked", "conversation", "question", "said", "speak"]

Turn = Sequence[Mapping[str, object]]


async def speak(services: Services, folder: Path, *turns: Turn) -> None:
    """Let the model say this from here on."""
    script = folder / f"script-{len(list(folder.glob('script-*')))}.json"
    script.write_text(json.dumps([list(turn) for turn in turns]))
    book = services.config.profiles
    await book.update(book.current.id, {"apiProvider": "fake-ai", "apiModelId": str(script)})


def conversation(panel: Panel) -> dict[int, dict[str, object]]:
    """The messages on screen, put together as the page does it."""
    shown: dict[int, dict[str, object]] = {}
    for frame in panel.of("msg"):
        data = frame["data"]
        match data["type"]:
            case "state":
                shown = {message["ts"]: dict(message) for message in data["state"].get("clineMessages", [])}
            case "conversationChanged":
                gone = [(span["first"], span["last"]) for span in data["removed"]]
                shown = {ts: held for ts, held in shown.items() if not any(a <= ts <= b for a, b in gone)}
                shown |= {message["ts"]: dict(message) for message in data["restored"]}
            case "messageCreated":
                shown[data["message"]["ts"]] = dict(data["message"])
            case "messageUpdated":
                shown[data["clineMessage"]["ts"]] = dict(data["clineMessage"])
            case "messageDelta":
                message = shown[data["ts"]]
                before = str(message.get(data["field"], ""))
                assert len(before.encode("utf-16-le")) // 2 == data["offset"], "a delta does not fit"
                message[data["field"]] = before + data["append"]
    return shown


def asked(panel: Panel, kind: str) -> list[dict[str, object]]:
    """The questions of this kind that wait."""
    return [
        message
        for message in conversation(panel).values()
        if message.get("ask") == kind and not message.get("partial") and "isAnswered" not in message
    ]


def said(panel: Panel, kind: str) -> list[str]:
    return [str(message["text"]) for message in conversation(panel).values() if message.get("say") == kind]


def along(panel: Panel, kind: str) -> list[dict[str, object]]:
    """What went along with the messages of this kind."""
    found: list[dict[str, object]] = []
    for message in conversation(panel).values():
        attachments = message.get("attachments", [])
        if message.get("say") == kind and isinstance(attachments, list):
            found += attachments
    return found


async def question(panel: Panel, kind: str) -> int:
    """The time of the question of this kind, once it is on screen."""
    await panel.until(lambda: asked(panel, kind))
    return int(str(asked(panel, kind)[-1]["ts"]))
