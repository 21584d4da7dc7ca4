"""What the page may ask for about modes and slash commands of the person's own: see, change, carry elsewhere."""

from __future__ import annotations

import asyncio
from pathlib import PurePath

from pydantic import JsonValue

from .._storage_dir import home_folder
from ..agent import mode_prompt
from ..agent.modes import RuleFile, mode_file, mode_of_file, write_rules
from ..agent.prompts import mode_rules
from ..config import ContextProxy, ModeConfig
from ..errors import Conflict, NotFound
from ..messages import (
    CreateCommandRequest,
    DeleteCommandRequest,
    DeleteCustomModeRequest,
    ExportModeRequest,
    ExportModeResultMessage,
    GetSystemPromptRequest,
    ImportModeRequest,
    ImportModeResultMessage,
    OpenCommandFileRequest,
    SystemPromptMessage,
    UpdateCustomModeRequest,
    UpdatePromptRequest,
)
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from .running_agent import RunningAgent

__all__ = ["ModeRequests"]


class ModeRequests:
    """Handles them. Modes and changed prompts are settings: all pages hear of what changed in these."""

    def __init__(self, agent: RunningAgent, config: ContextProxy, channels: ChannelHub) -> None:
        self._agent = agent
        self._config = config
        self._channels = channels

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "updateCustomMode": self.update_mode,
                "deleteCustomMode": self.delete_mode,
                "exportMode": self.export_mode,
                "importMode": self.import_mode,
                "updatePrompt": self.update_prompt,
                "getSystemPrompt": self.system_prompt,
                "createCommand": self.write_command,
                "deleteCommand": self.delete_command,
                "openCommandFile": self.command_file,
            }
        )

    # ---- modes

    async def update_mode(self, _: RequestContext, message: UpdateCustomModeRequest) -> None:
        """In its place in the list, if it has one. Another mode of the person's is nobody's to replace."""
        mode = message.mode_config
        if mode.slug != message.slug and any(one.slug == mode.slug for one in self._config.settings.custom_modes):
            raise Conflict(
                f"You already have a mode with the short name {mode.slug}. Choose another short name.",
                field="modeConfig.slug",
            )
        await self._write(mode, message.slug or mode.slug)

    async def delete_mode(self, _: RequestContext, message: DeleteCustomModeRequest) -> None:
        """A built-in mode of the same name comes to light again."""
        modes = self._config.settings.custom_modes
        kept = [mode for mode in modes if mode.slug != message.slug]
        if len(kept) == len(modes):
            raise NotFound(f"You have no mode {message.slug}.", field="slug")
        await self._save(kept)

    async def export_mode(self, context: RequestContext, message: ExportModeRequest) -> None:
        """As it is used, with the rules for it that the person keeps."""
        mode = await self._mode(message.slug)
        person = home_folder()
        found = await asyncio.to_thread(mode_rules, mode.slug, None, person)
        rules = [
            RuleFile(relative_path=_rule_path(rule.source, f"rules-{mode.slug}"), content=rule.text) for rule in found
        ]
        await self._channels.send_to(context, ExportModeResultMessage(slug=mode.slug, text=mode_file(mode, rules)))

    async def import_mode(self, context: RequestContext, message: ImportModeRequest) -> None:
        """The rules first: where they cannot be written, there is no mode without them."""
        file = await asyncio.to_thread(mode_of_file, message.text)
        mine = next((one for one in self._config.settings.custom_modes if one.slug == file.mode.slug), None)
        if mine is not None and mine.to_wire() != {**file.mode.to_wire(), "source": mine.source}:
            raise Conflict(
                f"You already have a different mode {mine.slug}. Delete or rename it, then import again.", field="text"
            )
        await asyncio.to_thread(write_rules, home_folder() / ".hdsp", file.mode.slug, file.rules)
        await self._write(file.mode, file.mode.slug)
        await self._channels.send_to(context, ImportModeResultMessage(slug=file.mode.slug))

    async def update_prompt(self, _: RequestContext, message: UpdatePromptRequest) -> None:
        """Or take back what was changed."""
        prompts: dict[str, JsonValue] = {
            slug: prompt.to_wire() for slug, prompt in self._config.settings.custom_mode_prompts.items()
        }
        changed = message.custom_prompt.to_wire()
        if changed:
            prompts[message.prompt_mode] = changed
        else:
            prompts.pop(message.prompt_mode, None)
        await self._config.update({"customModePrompts": prompts})

    async def system_prompt(self, context: RequestContext, message: GetSystemPromptRequest) -> None:
        """What a new task in this mode would be told."""
        manager = await self._agent.manager()
        mode = await self._mode(message.mode or self._config.settings.mode)
        text = await mode_prompt(manager.services, mode, self._config.trusted_folders.trusted)
        await self._channels.send_to(context, SystemPromptMessage(text=text, mode=mode.slug))

    # ---- slash commands

    async def write_command(self, _: RequestContext, message: CreateCommandRequest) -> None:
        """Of the person, or of the folder they work in."""
        services = (await self._agent.manager()).services
        values = message.values
        await services.commands.write(
            message.text, values.source, values.content, str(services.workspace), is_new=bool(values.is_new)
        )

    async def delete_command(self, _: RequestContext, message: DeleteCommandRequest) -> None:
        """A built-in command of the same name comes to light again."""
        services = (await self._agent.manager()).services
        await services.commands.remove(message.text, message.values.source, str(services.workspace))

    async def command_file(self, _: RequestContext, message: OpenCommandFileRequest) -> str:
        """The answer is what the file says: it lies in a hidden folder, which JupyterLab does not open."""
        services = (await self._agent.manager()).services
        return await services.commands.file(message.text, message.values.source, str(services.workspace))

    # ---- inside

    async def _mode(self, slug: str) -> ModeConfig:
        services = (await self._agent.manager()).services
        mode = await services.modes.get(slug, str(services.workspace))
        if mode is None:
            raise NotFound(f"There is no mode {slug}.", field="slug")
        return mode

    async def _write(self, mode: ModeConfig, in_place_of: str) -> None:
        own = mode.model_copy(update={"source": "global"})
        modes = [one for one in self._config.settings.custom_modes if one.slug not in {mode.slug, in_place_of}]
        place = next(
            (at for at, one in enumerate(self._config.settings.custom_modes) if one.slug == in_place_of), len(modes)
        )
        await self._save([*modes[:place], own, *modes[place:]])

    async def _save(self, modes: list[ModeConfig]) -> None:
        await self._config.update({"customModes": [mode.to_wire() for mode in modes]})


def _rule_path(source: str, folder: str) -> str:
    """Where a file of rules lies, from the folder of the mode on."""
    parts = PurePath(source).parts
    return "/".join(parts[parts.index(folder) :])
