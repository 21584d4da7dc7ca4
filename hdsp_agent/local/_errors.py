"""What can go wrong with the embedded model, each with a code of its own.

* HdspAgentError
  x InvalidInput    ConsentMissing, NotAModelFile
  x NotFound        WeightsMissing
  x Unsupported     RuntimeMissing
  x Unavailable     WeightsUnreachable, WrongChecksum, NoSpace, RuntimeFailed
    + RuntimeFailed TooLittleMemory, CpuTooOld
"""

from __future__ import annotations

from ..errors import InvalidInput, NotFound, Unavailable, Unsupported

__all__ = [
    "ConsentMissing",
    "CpuTooOld",
    "NoSpace",
    "NotAModelFile",
    "RuntimeFailed",
    "RuntimeMissing",
    "TooLittleMemory",
    "WeightsMissing",
    "WeightsUnreachable",
    "WrongChecksum",
]


class ConsentMissing(InvalidInput):
    """Nobody agreed to fetch this much under this licence."""

    code = "local_consent_missing"


class NotAModelFile(InvalidInput):
    """The file is not one that the runtime can load."""

    code = "local_not_a_model"


class WeightsMissing(NotFound):
    """The model is not on this machine."""

    code = "local_weights_missing"


class RuntimeMissing(Unsupported):
    """The extra that runs models is not installed."""

    code = "local_runtime_missing"


class WeightsUnreachable(Unavailable):
    """No source had the model."""

    code = "local_weights_unreachable"


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
