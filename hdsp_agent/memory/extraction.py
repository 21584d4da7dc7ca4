"""Learning from one finished conversation: its text to a model, and what that says into a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, TypeAlias, cast

from .._iso_time import iso_time
from .._timeouts import wait_at_most
from ..errors import HdspAgentError
from ..messages import HistoryItem, TaskId
from ..persistence import TaskStore
from ..providers import ModelAnswer, ModelClient, ModelError, ModelEvent, ModelRequest, classify, cost_of
from .conversation_text import read_conversation, token_limit
from .extracted_files import Extracted, ExtractedFiles
from .extraction_prompt import ExtractionAnswer, ExtractionSource, InvalidAnswer, extraction_request, parse_answer
from .job_table import LeaseLost, WriteIfLeased
from .model_port import MemoryModels, ModelNeededElsewhere
from .run_log import RunCost

__all__ = ["ExtractionFailed", "ExtractionOutcome", "ExtractionResult", "Extractor", "run_cost"]

_SECONDS: Final = 600.0
_MOST_ATTEMPTS: Final = 3
_TOO_LONG: Final = frozenset({"overflow", "payload_too_large", "tpm_request_too_large"})
_LEAST_TEXT: Final = 40
"""Characters: in less nothing was said."""

ExtractionResult: TypeAlias = Literal["saved", "nothing", "external"]


class ExtractionFailed(Exception):
    """Nothing could be learned from a conversation this time; the text says why."""

    def __init__(self, reason: str, used: RunCost) -> None:
        super().__init__(reason)
        self.used = used


@dataclass(frozen=True)
class ExtractionOutcome:
    """What came of it. ``changed`` says whether what is consolidated is different now."""

    result: ExtractionResult
    used: RunCost
    changed: bool


class Extractor:
    """Learns for one person, with the conversations of their store."""

    def __init__(
        self,
        store: TaskStore,
        files: ExtractedFiles,
        models: MemoryModels,
        write_if_leased: WriteIfLeased,
    ) -> None:
        self._store = store
        self._files = files
        self._models = models
        self._write_if_leased = write_if_leased

    async def extract(self, item: HistoryItem, owner: str, *, watermark: int, with_external: bool) -> ExtractionOutcome:
        """Learn from a conversation. Raises ExtractionFailed, ModelNeededElsewhere, StorageUnavailable, UnknownTask."""
        task_id = TaskId(item.id)
        known = await asyncio.to_thread(self._files.get, task_id)
        if known is not None and known.source_updated_at == watermark:
            # Whoever learned from it was killed before they could say so.
            return ExtractionOutcome("nothing" if known.is_empty else "saved", RunCost(), changed=True)
        conversation = await read_conversation(self._store, task_id)
        if conversation.has_external_content and not with_external:
            return ExtractionOutcome("external", RunCost(), changed=False)
        used = RunCost()
        answer = ExtractionAnswer(rollout_summary="", rollout_slug=None, raw_memory="")
        metadata = (await self._store.view(task_id)).metadata
        if len(conversation.text.strip()) >= _LEAST_TEXT:
            source = ExtractionSource(
                conversation.text,
                metadata.created_at[:10],
                metadata.workspace,
                metadata.notebook.path if metadata.notebook is not None else None,
            )
            answer, used = await self._asked(source)
        extracted = Extracted(
            task_id=task_id,
            owner=owner,
            source_updated_at=watermark,
            began_at=metadata.created_at,
            generated_at=iso_time(),
            raw_memory="" if answer.is_empty else answer.raw_memory.strip(),
            rollout_summary="" if answer.is_empty else answer.rollout_summary.strip(),
            rollout_slug=None if answer.is_empty else answer.rollout_slug,
            workspace=metadata.workspace,
            notebook=metadata.notebook.path if metadata.notebook is not None else None,
            usage_count=known.usage_count if known is not None else 0,
            last_usage=known.last_usage if known is not None else None,
        )
        try:
            await self._write_if_leased(partial(self._files.put, extracted))
        except LeaseLost:
            return ExtractionOutcome("nothing", used, changed=False)
        except HdspAgentError as error:
            raise ExtractionFailed(error.message, used) from None
        had_something = known is not None and not known.is_empty
        changed = not extracted.is_empty or had_something
        return ExtractionOutcome("nothing" if extracted.is_empty else "saved", used, changed)

    async def _asked(self, source: ExtractionSource) -> tuple[ExtractionAnswer, RunCost]:
        """The model's answer; less of the conversation is asked about where all is too much."""
        used = RunCost()
        try:
            client = await self._models.client()
            arguments, used = await self._shortened(client, source, token_limit(client.info.context_window))
            return await asyncio.to_thread(parse_answer, arguments), used
        except TimeoutError:
            raise ExtractionFailed(f"The model did not answer within {_SECONDS:.0f} seconds.", used) from None
        except InvalidAnswer as error:
            raise ExtractionFailed(str(error), used) from None
        except HdspAgentError as error:
            raise ExtractionFailed(error.message, used) from None

    async def _shortened(self, client: ModelClient, source: ExtractionSource, tokens: int) -> tuple[str, RunCost]:
        attempt = 1
        while True:
            request = await asyncio.to_thread(extraction_request, source, tokens=tokens)
            try:
                return await wait_at_most(self._answered(client, request), _SECONDS)
            except ModelError as error:
                if error.kind not in _TOO_LONG or attempt == _MOST_ATTEMPTS:
                    raise
            tokens //= 2
            attempt += 1

    async def _answered(self, client: ModelClient, request: ModelRequest) -> tuple[str, RunCost]:
        self._models.check_free()
        answer = ModelAnswer()
        try:
            # Every adapter's stream is a generator: closing it closes the connection.
            async with aclosing(cast("AsyncGenerator[ModelEvent, None]", client.stream(request))) as events:
                async for event in events:
                    answer.add(event)
                    self._models.check_free()
        except (HdspAgentError, ModelNeededElsewhere):
            raise
        except Exception as error:
            raise classify(provider=client.info.provider, exception=error) from error
        if answer.stop == "refusal":
            raise ModelError("The model declined to read it.", kind="content_filter", provider=client.info.provider)
        call = next((call for call in answer.calls), None)
        return (answer.text if call is None else call.arguments), run_cost(client, answer)


def run_cost(client: ModelClient, answer: ModelAnswer) -> RunCost:
    """What an answer took."""
    usage = answer.usage
    if usage is None:
        return RunCost(model=client.info.id)
    return RunCost(
        model=client.info.id,
        tokens_in=usage.context,
        tokens_out=usage.output,
        cost=cost_of(client.info, usage) or 0.0,
    )
