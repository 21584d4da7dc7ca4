"""How much text a profile's embedded model takes in and says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..config import ProviderSettings
from ._gguf import read_head
from ._hub_repository import UNKNOWN_CONTEXT, UNKNOWN_OUTPUT
from ._model_list import LocalModel, catalogue

__all__ = ["ModelLimits", "limits_of_file", "limits_of_model", "model_limits"]


@dataclass(frozen=True)
class ModelLimits:
    """What a profile's embedded model takes in and says at most, in tokens."""

    id: str
    name: str
    context: int
    output: int


def model_limits(settings: ProviderSettings) -> ModelLimits:
    """The limits of a profile's embedded model: its own, else those of the list; a file of the person's gets modest ones.

    Raises NotFound for an unknown model, NotAModelFile for such a file. It reads files: call it in a thread.
    """
    if settings.local_model_path:
        return limits_of_file(settings, Path(settings.local_model_path).expanduser())
    return limits_of_model(settings, catalogue().find(settings.api_model_id))


def limits_of_model(settings: ProviderSettings, model: LocalModel) -> ModelLimits:
    """The same of this model, as it is described."""
    context = min(settings.model_context_window or model.context, model.longest_context)
    return ModelLimits(model.id, model.name, context, min(settings.model_max_tokens or model.output, context))


def limits_of_file(settings: ProviderSettings, path: Path) -> ModelLimits:
    """The same of a file that is not of our list. Raises NotAModelFile."""
    head = read_head(path)
    context = settings.model_context_window or min(head.context or UNKNOWN_CONTEXT, UNKNOWN_CONTEXT)
    output = min(settings.model_max_tokens or UNKNOWN_OUTPUT, context)
    return ModelLimits(settings.api_model_id or path.stem, head.name or path.stem, context, output)
