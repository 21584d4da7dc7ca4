"""What can go wrong with a model's answer, in classes that each have one remedy."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, get_args

from ..config import keys_in_use
from ..errors import HdspAgentError

__all__ = ["ERROR_CLASSES", "PUBLIC_CLASSES", "REFUSED", "REMEDIES", "ErrorClass", "ModelError"]

ErrorClass = Literal[
    "overflow",
    "overflow_output_budget",
    "output_cap",
    "payload_too_large",
    "tpm_request_too_large",
    "rate_limit",
    "quota",
    "budget",
    "empty_content",
    "tool_pairing",
    "authentication",
    "permission",
    "model_not_found",
    "content_filter",
    "overloaded",
    "network",
    "timeout",
    "broken_stream",
    "other",
]
ERROR_CLASSES: Final[tuple[ErrorClass, ...]] = get_args(ErrorClass)

PUBLIC_CLASSES: Final = frozenset(
    {
        "overflow",
        "overflow_output_budget",
        "output_cap",
        "payload_too_large",
        "tpm_request_too_large",
        "rate_limit",
        "quota",
        "empty_content",
        "tool_pairing",
        "other",
    }
)
"""The classes programs outside are told; all that is finer is ``other`` to them."""

_RETRYABLE: Final = frozenset({"rate_limit", "overloaded", "network", "timeout", "broken_stream"})

_DIAGNOSES: Final[dict[ErrorClass, str]] = {
    "overflow": "The conversation is too long for the model.",
    "overflow_output_budget": "The conversation and the longest allowed answer together are too long for the model.",
    "output_cap": "The model cannot write answers that long.",
    "payload_too_large": "The request is too large for the provider.",
    "tpm_request_too_large": "This request is larger than what your account may send in a minute. "
    "Raise the limit or use another model.",
    "rate_limit": "Too many requests at the moment.",
    "quota": "The account has no credit or quota left. Add some at the provider, or choose another profile.",
    "budget": "The limit that your administrator set for the use of models is reached.",
    "empty_content": "The provider refuses an empty message in the conversation.",
    "tool_pairing": "The provider refuses the order of tool calls and results in the conversation.",
    "authentication": "The provider does not accept the key. Check the key of this profile in the settings.",
    "permission": "This key is not allowed to do this. Check its permissions at the provider, or choose another model.",
    "model_not_found": "The provider does not have this model. Choose another one in the profile.",
    "content_filter": "The provider's content filter blocked this. Rephrase it, or choose another model.",
    "overloaded": "The provider is overloaded or down at the moment.",
    "network": "The provider could not be reached. Check the connection and the address.",
    "timeout": "The provider took too long to answer.",
    "broken_stream": "The answer was cut off. What it asked for was not run.",
    "other": "The provider refused this request. Its own words say why.",
}
"""For logs and programs; the page words the classes itself, in the person's language."""

_SHORTER_ANSWER: Final = "The agent asks for a shorter answer and tries again."
_REPAIRS: Final = "The agent repairs the conversation and tries again."
_TRIES_AGAIN: Final = "The agent tries again."

_AGENT_DOES: Final[dict[ErrorClass, str]] = {
    "overflow": "The agent condenses it and tries again.",
    "overflow_output_budget": _SHORTER_ANSWER,
    "output_cap": _SHORTER_ANSWER,
    "payload_too_large": "The agent leaves out images and long outputs and tries again.",
    "tpm_request_too_large": "The agent shortens it and tries again.",
    "rate_limit": "The agent waits as long as the provider says and tries again.",
    "empty_content": _REPAIRS,
    "tool_pairing": _REPAIRS,
    "overloaded": "The agent tries again after a pause.",
    "network": _TRIES_AGAIN,
    "timeout": _TRIES_AGAIN,
    "broken_stream": _TRIES_AGAIN,
}

REMEDIES: Final[dict[ErrorClass, str]] = {
    kind: f"{diagnosis} {_AGENT_DOES.get(kind, '')}".rstrip() for kind, diagnosis in _DIAGNOSES.items()
}
"""What a class means, and what is done about it."""

REFUSED: Final = "The provider refused the request: "
"""What the provider's own words follow, where no class fits them."""


class ModelError(HdspAgentError):
    """A model gave no usable answer.

    ``current`` is what was asked for, without the answer's own budget ``output``; ``limit`` what there is room for, all
    in tokens. ``index`` is the message at fault. ``is_particular`` is whether the message says more than the class.
    ``raw`` are the provider's own words, for the error's details.
    """

    code: ClassVar[str] = "model_error"
    status: ClassVar[int] = 502

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorClass = "other",
        provider: str | None = None,
        http_status: int | None = None,
        retry_after: float | None = None,
        current: int | None = None,
        limit: int | None = None,
        output: int | None = None,
        index: int | None = None,
        raw: str = "",
        is_particular: bool = True,
    ) -> None:
        # Providers quote the key they refuse, and what they say goes into rows, frames, logs and exports.
        super().__init__(keys_in_use.mask(message), kind=kind, provider=provider, status=http_status)
        self.kind: ErrorClass = kind
        self.provider = provider
        self.http_status = http_status
        self.retry_after = retry_after
        self.current = current
        self.limit = limit
        self.output = output
        self.index = index
        self.raw = keys_in_use.mask(raw)
        self._is_particular = is_particular

    @property
    def public_class(self) -> str:
        """The class as programs outside know it."""
        return self.kind if self.kind in PUBLIC_CLASSES else "other"

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.kind in _RETRYABLE

    @property
    def remedy(self) -> str:
        """One or two sentences for a person: what it means, and what is done about it."""
        return REMEDIES[self.kind]

    @property
    def particular(self) -> str | None:
        """What the message says beyond the class; of the class ``other``, the provider's words. None if nothing."""
        if self.kind == "other":
            return self.message.removeprefix(REFUSED) if self.message.startswith(REFUSED) else None
        return self.message if self._is_particular and self.remedy not in self.message else None

    @property
    def diagnosis(self) -> str:
        """What it means, and what the person can do: for when the agent itself does nothing more."""
        return _DIAGNOSES[self.kind]
