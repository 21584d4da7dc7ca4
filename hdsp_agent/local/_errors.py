"""What can go wrong with the embedded model, each with a code of its own.

* HdspAgentError
  x InvalidInput    ConsentMissing, NotAModelFile, HubRefused
  x NotFound        WeightsMissing
  x Unsupported     RuntimeMissing
  x Unavailable     WeightsUnreachable, HubUnreachable, WrongChecksum, NoSpace, RuntimeFailed
    + RuntimeFailed TooLittleMemory, CpuTooOld
"""

from __future__ import annotations

from typing import Final, Literal

from ..errors import InvalidInput, NotFound, Unavailable, Unsupported

__all__ = [
    "ConsentMissing",
    "CpuTooOld",
    "HubRefused",
    "HubUnreachable",
    "NoSpace",
    "NotAModelFile",
    "RefusalReason",
    "RuntimeFailed",
    "RuntimeMissing",
    "TooLittleMemory",
    "WeightsMissing",
    "WeightsUnreachable",
    "WrongChecksum",
]

RefusalReason = Literal["name", "no_repository", "gated", "no_gguf", "no_file", "split", "no_checksum", "too_long"]

_REFUSALS: Final[dict[RefusalReason, str]] = {
    "name": "Name a repository as owner/repository, or one of its files as owner/repository:file.gguf.",
    "no_repository": "The hub has no public repository of that name.",
    "gated": "The hub gives it only to people who have logged in and agreed to its terms. Download it there, then use the file.",
    "no_gguf": "It holds no model in the GGUF format. Look for a repository whose name ends with GGUF.",
    "no_file": "The repository has no such GGUF file.",
    "split": "It is split into several files. Choose a smaller one that is whole.",
    "no_checksum": "The hub declares no checksum for it, so that a download could not be checked.",
    "too_long": "The repository has too many files. Name one of a smaller repository.",
}


class ConsentMissing(InvalidInput):
    """Nobody agreed to fetch this much under this licence."""

    code = "local_consent_missing"


class NotAModelFile(InvalidInput):
    """The file is not one that the runtime can load."""

    code = "local_not_a_model"


class HubRefused(InvalidInput):
    """A repository of the hub has nothing that can be used."""

    code = "local_hub_refused"

    def __init__(self, name: str, reason: RefusalReason) -> None:
        super().__init__(f"{name} cannot be used. {_REFUSALS[reason]}", field="name", name=name, reason=reason)


class WeightsMissing(NotFound):
    """The model is not on this machine."""

    code = "local_weights_missing"


class RuntimeMissing(Unsupported):
    """The extra that runs models is not installed."""

    code = "local_runtime_missing"


class WeightsUnreachable(Unavailable):
    """No source had the model."""

    code = "local_weights_unreachable"


class HubUnreachable(Unavailable):
    """The hub could not be asked."""

    code = "local_hub_unreachable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The hub could not be asked: {reason}. Check the connection, then try again.", reason=reason)


class WrongChecksum(Unavailable):
    """What is there, or was fetched, is not the model."""

    code = "local_wrong_checksum"


class NoSpace(Unavailable):
    """The disk has no room for the model."""

    code = "local_no_space"
    status = 507


class RuntimeFailed(Unavailable):
    """The process that runs the model did not start, or ended."""

    code = "local_runtime_failed"


class TooLittleMemory(RuntimeFailed):
    """The model does not fit into this machine's memory."""

    code = "local_too_little_memory"


class CpuTooOld(RuntimeFailed):
    """This machine's processor lacks instructions that the runtime was built with."""

    code = "local_cpu_too_old"
