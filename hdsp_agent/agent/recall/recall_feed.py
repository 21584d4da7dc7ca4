"""What feeds the index of recall: the conversations and memories of a person, and the notebooks of a workspace."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ..._private_files import Identity, identity_of
from ...errors import HdspAgentError, StorageUnavailable, Unavailable, UnknownTask
from ...memory import Memories, MemoryFolder
from ...messages import HistoryItem, TaskId
from ...persistence import HistoryIndex, HistoryQuery, TaskStore
from ...recall import Passage, RecallIndex, RecallSource, split_text
from ...tools import PathPolicy
from .chosen_embedder import ChosenEmbedder
from .conversation_passages import read_conversation_passages
from .notebook_passages import FoundNotebook, find_notebooks, notebook_passages

__all__ = ["RecallFeed"]

logger = logging.getLogger(__name__)

Identities = dict[str, Identity | None]

_PAGE: Final = 500
_MEMORY_KINDS: Final = ("summary", "handbook", "rollout_summary", "skill")
_EMBEDDED_AT_ONCE: Final = 64


class RecallFeed:
    """Keeps the index in line with what there is. What takes long is done by ``catch_up``, in the background."""

    def __init__(
        self,
        recall: RecallIndex,
        embedder: ChosenEmbedder,
        *,
        store: Callable[[], Awaitable[TaskStore]],
        index: Callable[[], Awaitable[HistoryIndex]],
        memories: Memories,
        paths: Callable[[], PathPolicy],
    ) -> None:
        """``paths`` says which files of the workspace may be seen; it may block."""
        self._recall = recall
        self._embedder = embedder
        self._store = store
        self._index = index
        self._memories = memories
        self._paths = paths
        self._touched: dict[str, None] = {}
        self._memory_files: dict[str, Identities] = {}

    def touched(self, task_id: str) -> None:
        """More was said in a conversation, or something was taken back."""
        self._touched[task_id] = None

    async def removed(self, task_ids: list[str]) -> None:
        """Conversations are gone. Where that cannot be noted now, no search shows them all the same."""
        for task_id in task_ids:
            self._touched.pop(task_id, None)
        with suppress(HdspAgentError):
            await self._recall.remove("conversation", task_ids)

    async def is_there(self, source: RecallSource) -> bool:
        """Whether a source was not deleted since it was put in, by whatever process. Raises StorageUnavailable."""
        if source.kind != "conversation":
            return True
        entry = await (await self._index()).get(source.id)
        return entry is not None and entry.owner == source.owner

    async def refresh(self, owner: str) -> None:
        """Put in what changed since the last time: for who searches now. Raises HdspAgentError."""
        index, store = await self._index(), await self._store()
        for task_id in list(self._touched):
            self._touched.pop(task_id, None)
            entry = await index.get(task_id)
            if entry is not None:
                # What was taken back leaves the time of the last word as it was.
                await self._recall.remove("conversation", [task_id])
                await self._put(store, entry.owner, entry.item)
        await self._put_memories(owner)

    async def catch_up(self, owner: str) -> int:
        """Put in whatever is not there, and take out what is gone; how many sources that were. Raises HdspAgentError."""
        done = await self._catch_up_conversations(owner)
        await self._put_memories(owner)
        done += await self._catch_up_notebooks(owner)
        await self._embed()
        return done

    async def _embed(self) -> None:
        """Make the vectors that are missing, half of the time, so that others have the rest."""
        while True:
            await self._embedder.apply()
            began = time.monotonic()
            try:
                progress = await self._recall.embed_some(_EMBEDDED_AT_ONCE)
            except StorageUnavailable:
                raise
            except Unavailable:
                # The index has told it. Words find everything; the next round tries again.
                return
            if not progress.embedded:
                return
            await asyncio.sleep(time.monotonic() - began)

    async def _catch_up_conversations(self, owner: str) -> int:
        index, store = await self._index(), await self._store()
        items: dict[str, HistoryItem] = {}
        query = HistoryQuery(owner=owner, limit=_PAGE)
        while True:
            page = await index.search(query)
            items |= {hit.item.id: hit.item for hit in page.hits}
            if page.next is None:
                break
            query = HistoryQuery(owner=owner, limit=_PAGE, cursor=page.next)
        outdated = await self._recall.outdated(
            "conversation", {task_id: _version(item) for task_id, item in items.items()}, owner=owner
        )
        await self._recall.remove("conversation", outdated.gone, owner=owner)
        for task_id in sorted(outdated.stale, key=lambda task_id: -items[task_id].ts):
            await self._put(store, owner, items[task_id])
            # Others have their turn with the database.
            await asyncio.sleep(0)
        return len(outdated.stale) + len(outdated.gone)

    async def _put(self, store: TaskStore, owner: str, item: HistoryItem) -> None:
        try:
            passages = await read_conversation_passages(await store.view(TaskId(item.id)))
        except UnknownTask:
            return
        except HdspAgentError as error:
            logger.debug("Conversation %s cannot be searched: %s", item.id, error)
            return
        title = (item.title or item.task)[:200]
        source = RecallSource(owner, "conversation", item.id, title, item.workspace)
        await self._recall.put(source, passages, _version(item))

    async def _put_memories(self, owner: str) -> None:
        folder = self._memories.folder(owner)
        identities = await asyncio.to_thread(_identities, folder)
        if self._memory_files.get(owner) == identities:
            return
        texts = await asyncio.to_thread(lambda: _memory_texts(folder, self._memories.plain_notes(owner)))
        versions = {name: _text_version(text) for name, text in texts.items()}
        outdated = await self._recall.outdated("memory", versions, owner=owner)
        await self._recall.remove("memory", outdated.gone, owner=owner)
        now = int(time.time() * 1000)
        for name in outdated.stale:
            passages = [Passage(piece, str(at), now) for at, piece in enumerate(split_text(texts[name]))]
            await self._recall.put(RecallSource(owner, "memory", name, name), passages, versions[name])
        self._memory_files[owner] = identities

    async def _catch_up_notebooks(self, owner: str) -> int:
        paths = await asyncio.to_thread(self._paths)
        workspace = str(paths.workspace)
        found = {_notebook_id(workspace, one): one for one in await asyncio.to_thread(find_notebooks, paths)}
        outdated = await self._recall.outdated("notebook", _versions(found), owner=owner)
        # Those of other workspaces are others' to look after.
        gone = [source for source in outdated.gone if source.startswith(f"{workspace}/")]
        await self._recall.remove("notebook", gone, owner=owner)
        for source in outdated.stale:
            notebook = found[source]
            passages = await asyncio.to_thread(notebook_passages, Path(workspace), notebook)
            await self._recall.put(
                RecallSource(owner, "notebook", source, notebook.path, workspace), passages, notebook.version
            )
            await asyncio.sleep(0)
        return len(outdated.stale) + len(gone)


def _version(item: HistoryItem) -> str:
    return f"{item.ts}:{item.title or ''}"


def _versions(found: Mapping[str, FoundNotebook]) -> dict[str, str]:
    return {source: notebook.version for source, notebook in found.items()}


def _notebook_id(workspace: str, notebook: FoundNotebook) -> str:
    return f"{workspace}/{notebook.path}"


def _text_version(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _identities(folder: MemoryFolder) -> Identities:
    """Which versions of the files there are: to read them all for each search would take too long."""
    names = ["profile.md", *(name for name, _ in folder.readable())]
    return {name: identity_of(folder.root / name) for name in names}


def _memory_texts(folder: MemoryFolder, notes: str) -> dict[str, str]:
    texts = {"notes": notes} if notes else {}
    for name, kind in folder.readable():
        if kind in _MEMORY_KINDS:
            with suppress(HdspAgentError):
                text = folder.text(name)
                if text.strip():
                    texts[name] = text
    return texts
