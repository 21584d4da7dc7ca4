"""The errors of the package, each with a stable code that crosses the wire.

* HdspAgentError                    internal
  x InvalidInput                    invalid_input
    + MalformedFrame                malformed_frame
    + UnknownMessageType            unknown_type
    + FrameTooLarge                 frame_too_large
    + InvalidSetting                invalid_setting
    + VersionMismatch               version_mismatch
  x NotFound                        not_found
    + UnknownTask                   unknown_task
    + UnknownProfile                unknown_profile
  x Conflict                        conflict
    + ProfileExists                 profile_exists
    + KeyForOtherAddress            key_for_other_address
    + UnsavedElsewhere              unsaved_elsewhere
  x NotAllowed                      not_allowed
    + ForbiddenByOperator           forbidden_by_operator
  x Unsupported                     unsupported
  x Unavailable                     unavailable
    + StorageUnavailable            storage_unavailable
      - ArtifactStoreUnavailable    artifact_store_unavailable
    + SecretStorageUnavailable      secret_storage_unavailable
    + NoGhostTextModel              ghost_text_no_model
    + GhostTextLimitReached         ghost_text_limit
    + EmbeddingsUnavailable         embeddings_unavailable

``message`` is the English sentence a person reads when no translation of the code exists; ``params`` are what a
translation fills in. Neither ever carries a secret.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ArtifactStoreUnavailable",
    "Conflict",
    "EmbeddingsUnavailable",
    "ForbiddenByOperator",
    "FrameTooLarge",
    "GhostTextLimitReached",
    "HdspAgentError",
    "InvalidInput",
    "InvalidSetting",
    "KeyForOtherAddress",
    "MalformedFrame",
    "NoGhostTextModel",
    "NotAllowed",
    "NotFound",
    "ProfileExists",
    "SecretStorageUnavailable",
    "StorageUnavailable",
    "Unavailable",
    "UnknownMessageType",
    "UnknownProfile",
    "UnknownTask",
    "UnsavedElsewhere",
    "Unsupported",
    "VersionMismatch",
]

Param = str | int | float | bool | None


class HdspAgentError(Exception):
    """Anything this package says went wrong."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, field: str | None = None, **params: Param) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.params = params


class InvalidInput(HdspAgentError):
    """What was sent cannot be understood."""

    code = "invalid_input"
    status = 400


class MalformedFrame(InvalidInput):
    """A frame on the channel is not JSON, or not of a frame's form."""

    code = "malformed_frame"


class UnknownMessageType(InvalidInput):
    """A message names a type this version does not know."""

    code = "unknown_type"


class FrameTooLarge(InvalidInput):
    """A frame or body exceeds the size the administrator allows."""

    code = "frame_too_large"
    status = 413


class InvalidSetting(InvalidInput):
    """A setting's value is not acceptable; ``field`` names it and the old value stays."""

    code = "invalid_setting"


class VersionMismatch(InvalidInput):
    """Page and server are of different versions."""

    code = "version_mismatch"
    status = 409


class NotFound(HdspAgentError):
    """What was asked for does not exist."""

    code = "not_found"
    status = 404


class UnknownTask(NotFound):
    """No task has this id."""

    code = "unknown_task"


class UnknownProfile(NotFound):
    """No provider profile has this name."""

    code = "unknown_profile"


class Conflict(HdspAgentError):
    """The request contradicts what is already there."""

    code = "conflict"
    status = 409


class ProfileExists(Conflict):
    """A provider profile of this name exists already."""

    code = "profile_exists"


class KeyForOtherAddress(Conflict):
    """There is a key, and it was given for another address than the one it would go to."""

    code = "key_for_other_address"


class UnsavedElsewhere(Conflict):
    """A browser tab has changes of a file that nobody saved: writing the file would set the two against each other."""

    code = "unsaved_elsewhere"


class NotAllowed(HdspAgentError):
    """The request is understood and refused."""

    code = "not_allowed"
    status = 403


class ForbiddenByOperator(NotAllowed):
    """The server's configuration fixes or forbids this."""

    code = "forbidden_by_operator"


class Unsupported(HdspAgentError):
    """This version, platform or kernel cannot do it."""

    code = "unsupported"
    status = 501


class Unavailable(HdspAgentError):
    """Something the request needs does not work just now."""

    code = "unavailable"
    status = 503


class StorageUnavailable(Unavailable):
    """The storage folder cannot be read or written."""

    code = "storage_unavailable"


class ArtifactStoreUnavailable(StorageUnavailable):
    """The object store that has long outputs and images does not answer; conversations go on without it."""

    code = "artifact_store_unavailable"


class SecretStorageUnavailable(Unavailable):
    """No vetted place to keep a key works."""

    code = "secret_storage_unavailable"
    status = 409


class NoGhostTextModel(Unavailable):
    """No profile was chosen for ghost text, and no model is on this machine."""

    code = "ghost_text_no_model"
    status = 409


class GhostTextLimitReached(Unavailable):
    """Ghost text has cost as much today as the person allows."""

    code = "ghost_text_limit"
    status = 409


class EmbeddingsUnavailable(Unavailable):
    """The endpoint that makes vectors for searching by meaning gave none."""

    code = "embeddings_unavailable"
