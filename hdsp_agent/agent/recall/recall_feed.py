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
from ...recall import Passage, RecallIndex, RecallSource, SourceOvertaken, split_text
from ...tools import PathPolicy
from .chosen_embedder import ChosenEmbedder
from .conversation_passages import read_conversation_passages
from .indexed_text import index_masker
from .notebook_passages import FoundNotebook, find_notebooks, notebook_passages

__all__ = ["RecallFeed"]

logger = logging.getLogger(__name__)

Identities = dict[str, Identity | None]

_PAGE: Final = 500
_MEMORY_KINDS: Final = ("summary", "handbook", "rollout_summary", "skill")
_EMBEDDED_AT_ONCE: Final = 64
_MOST_BEFORE_SEARCH: Final = 20
"""Conversations put in while somebody waits for what they search."""
_MOST_ATTEMPTS: Final = 5
_FORMAT: Final = "2"
"""Rises when sources are put in otherwise than before: then all of them are put in again."""


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
        is_memory_on: Callable[[], bool],
        stayed_here: Callable[[str | None, bool], bool],
    ) -> None:
        """``paths`` says which files of the workspace may be seen; it may block.

        ``stayed_here`` says whether a conversation was with a model on this machine, given the profile that it used last
        and whether it is known that such a model was asked.
        """
        self._recall = recall
        self._embedder = embedder
        self._store = store
        self._index = index
        self._memories = memories
        self._paths = paths
        self._is_memory_on = is_memory_on
        self._stayed_here = stayed_here
        self._touched: dict[str, None] = {}
        self._followed_to: dict[str, int] = {}
        self._following = asyncio.Lock()
        self._putting = asyncio.Lock()
        self._is_behind = False
        self._memory_files: dict[str, tuple[int, Identities]] = {}
        self._catching_up = 0

    @property
    def is_memory_on(self) -> bool:
        """Whether what is remembered may be found."""
        return self._is_memory_on()

    @property
    def is_catching_up(self) -> bool:
        """Whether something is put in, or read for its meaning, in the background."""
        return self._catching_up > 0

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

    @property
    def is_behind(self) -> bool:
        """Whether other servers said more than a search waits for: ``catch_up`` is to be called soon."""
        return self._is_behind

    async def refresh(self, owner: str) -> bool:
        """Put in what changed since the last time, on any server: for who searches now; whether that was anything.

        Raises HdspAgentError.
        """
        has_changed = await self._put_touched()
        has_changed |= await self._follow(owner)
        return await self._put_memories(owner) or has_changed

    async def _put_touched(self) -> bool:
        """Put in the conversations of this server that changed; whether that was anything."""
        async with self._putting:
            touched = list(self._touched)
            for task_id in touched:
                self._touched.pop(task_id, None)
                try:
                    if not await self._put(task_id):
                        # What was taken back must not be found, and its version may be as it was.
                        await self._recall.remove("conversation", [task_id])
                        self._is_behind = True
                except BaseException:
                    self._touched[task_id] = None
                    raise
            return bool(touched)

    async def _follow(self, owner: str) -> bool:
        """Put in what the history has learned since the last time; whether that was anything."""
        async with self._following:
            index = await self._index()
            before = self._followed_to.get(owner)
            mark, change = await index.changes_after(before)
            if mark == before:
                return False
            if change.everything:
                # The newest first. Older ones are the background's.
                page = await index.search(HistoryQuery(owner=owner, limit=_PAGE))
                items = {hit.item.id: hit.item for hit in page.hits}
                self._is_behind |= page.next is not None
            else:
                await self._recall.remove("conversation", change.removed)
                items = {item.id: item for item in change.changed}
            stale = await self._stale(items, owner)
            newest = [task_id for task_id in items if task_id in stale]
            put = [await self._put(task_id, owner) for task_id in newest[:_MOST_BEFORE_SEARCH]]
            self._is_behind |= len(newest) > _MOST_BEFORE_SEARCH or not all(put)
            self._followed_to[owner] = mark
            return bool(newest)

    async def catch_up(self, owner: str) -> int:
        """Put in whatever is not there, and take out what is gone; how many sources that were. Raises HdspAgentError."""
        self._catching_up += 1
        try:
            await self._put_touched()
            done = await self._catch_up_conversations(owner)
            await self._put_memories(owner)
            done += await self._catch_up_notebooks(owner)
            await self._embed(owner)
        finally:
            self._catching_up -= 1
        return done

    async def _embed(self, owner: str) -> None:
        """Make the vectors that are missing, half of the time, so that others have the rest."""
        while True:
            await self._embedder.apply()
            if not self._embedder.reads_for(owner):
                # The rest waits until what is theirs who chose the endpoint is as it should be.
                return
            if not self.is_memory_on:
                # It may have been turned off meanwhile.
                await self._put_memories(owner)
            began = time.monotonic()
            try:
                done = await self._recall.embed_some(_EMBEDDED_AT_ONCE)
            except StorageUnavailable:
                raise
            except Unavailable:
                # The index has told it. Words find everything; the next round tries again.
                return
            if not done:
                return
            await asyncio.sleep(time.monotonic() - began)

    async def _catch_up_conversations(self, owner: str) -> int:
        index = await self._index()
        self._is_behind = False
        items: dict[str, HistoryItem] = {}
        query = HistoryQuery(owner=owner, limit=_PAGE)
        while True:
            page = await index.search(query)
            items |= {hit.item.id: hit.item for hit in page.hits}
            if page.next is None:
                break
            query = HistoryQuery(owner=owner, limit=_PAGE, cursor=page.next)
        outdated = await self._recall.outdated(
            "conversation", {task_id: self._version(item) for task_id, item in items.items()}, owner=owner
        )
        # Another server may have put in what is newer than the list.
        gone = [one for one in outdated.gone if not await self.is_there(RecallSource(owner, "conversation", one))]
        await self._recall.remove("conversation", gone, owner=owner)
        stale = await self._stale({task_id: items[task_id] for task_id in outdated.stale}, owner)
        for task_id in sorted(stale, key=lambda task_id: -items[task_id].ts):
            await self._put(task_id)
            # Others have their turn with the database.
            await asyncio.sleep(0)
        return len(stale) + len(gone)

    async def _stale(self, items: Mapping[str, HistoryItem], owner: str) -> frozenset[str]:
        """Which of these conversations must be put in again, if they are this person's."""
        versions = {task_id: self._version(item) for task_id, item in items.items()}
        stale = await self._recall.stale("conversation", versions, owner=owner)
        if not stale or not self._recall.is_shared:
            return stale
        # On another server a profile of this name may lead to that machine. Who keeps more from leaving is right.
        stricter = {task_id: self._version(items[task_id], stays_here=True) for task_id in stale}
        return await self._recall.stale("conversation", stricter, owner=owner)

    async def _put(self, task_id: str, owner: str | None = None) -> bool:
        """Put a conversation in as it is now, again from the start if another server did so meanwhile; whether it is there.

        With an ``owner``, one of somebody else is left alone.
        """
        index, store = await self._index(), await self._store()
        for _ in range(_MOST_ATTEMPTS):
            entry = await index.get(task_id)
            if entry is None or owner not in (None, entry.owner):
                return True
            item = entry.item
            known = await self._recall.revision("conversation", entry.owner, task_id)
            found = await self._read(store, item)
            if found is None:
                return False
            passages, used_local_model = found
            stays_here = self._stayed_here(item.api_config_name, used_local_model)
            title = (item.title or item.task)[:200]
            source = RecallSource(entry.owner, "conversation", task_id, title, item.workspace, stays_here)
            with suppress(SourceOvertaken):
                await self._recall.replace(source, passages, self._version(item), known=known)
                return True
        return False

    async def _read(self, store: TaskStore, item: HistoryItem) -> tuple[list[Passage], bool] | None:
        """What was said, and whether a model on this machine heard it; None if that cannot be read."""
        try:
            reader = await store.view(TaskId(item.id))
            passages = await read_conversation_passages(reader)
            # After what was said: a model on this machine is noted before it hears anything.
            return passages, bool((await reader.read_state()).used_local_model)
        except UnknownTask:
            return None
        except HdspAgentError as error:
            logger.debug("Conversation %s cannot be searched: %s", item.id, error)
            return None

    def _version(self, item: HistoryItem, *, stays_here: bool = False) -> str:
        # Where a profile leads may change without a word in the conversation.
        place = "here" if stays_here or self._stayed_here(item.api_config_name, False) else ""
        return f"{_FORMAT}:{place}:{item.ts}:{item.title or ''}"

    async def _put_memories(self, owner: str) -> bool:
        """Whether anything was put in."""
        folder = self._memories.folder(owner)
        is_on = self.is_memory_on
        identities: Identities = {}
        if is_on:
            identities = await asyncio.to_thread(_identities, folder)
        # A database that was made anew has nothing of what was put in.
        known = (self._recall.generation, identities)
        if self._memory_files.get(owner) == known:
            return False
        texts: dict[str, str] = {}
        if is_on:
            texts = await asyncio.to_thread(lambda: _memory_texts(folder, self._memories.plain_notes(owner)))
        versions = {name: _text_version(text) for name, text in texts.items()}
        outdated = await self._recall.outdated("memory", versions, owner=owner)
        await self._recall.remove("memory", outdated.gone, owner=owner)
        now = int(time.time() * 1000)
        for name in outdated.stale:
            passages = [Passage(piece, str(at), now) for at, piece in enumerate(split_text(texts[name]))]
            await self._recall.put(RecallSource(owner, "memory", name, name), passages, versions[name])
        self._memory_files[owner] = known
        return bool(outdated.stale)

    async def _catch_up_notebooks(self, owner: str) -> int:
        paths = await asyncio.to_thread(self._paths)
        workspace = str(paths.workspace)
        found = {_notebook_id(workspace, one): one for one in await asyncio.to_thread(find_notebooks, paths)}
        versions = {source: f"{_FORMAT}:{notebook.version}" for source, notebook in found.items()}
        outdated = await self._recall.outdated("notebook", versions, owner=owner)
        # Those of other workspaces are others' to look after.
        gone = [source for source in outdated.gone if source.startswith(f"{workspace}/")]
        await self._recall.remove("notebook", gone, owner=owner)
        for source in outdated.stale:
            notebook = found[source]
            passages = await asyncio.to_thread(notebook_passages, Path(workspace), notebook)
            await self._recall.put(
                RecallSource(owner, "notebook", source, notebook.path, workspace), passages, versions[source]
            )
            await asyncio.sleep(0)
        return len(outdated.stale) + len(gone)


def _notebook_id(workspace: str, notebook: FoundNotebook) -> str:
    return f"{workspace}/{notebook.path}"


def _text_version(text: str) -> str:
    return f"{_FORMAT}:{blake2b(text.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"


def _identities(folder: MemoryFolder) -> Identities:
    """Which versions of the files there are: to read them all for each search would take too long."""
    names = ["profile.md", *(name for name, _ in folder.readable())]
    return {name: identity_of(folder.root / name) for name in names}


def _memory_texts(folder: MemoryFolder, notes: str) -> dict[str, str]:
    masker = index_masker()
    texts = {"notes": masker.mask(notes)} if notes else {}
    for name, kind in folder.readable():
        if kind in _MEMORY_KINDS:
            with suppress(HdspAgentError):
                text = folder.text(name)
                if text.strip():
                    texts[name] = masker.mask(text)
    return texts
