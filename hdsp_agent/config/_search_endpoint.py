"""The address that searching by meaning may send texts to, and the key that goes there."""

from __future__ import annotations

from pydantic import JsonValue

from ..errors import ForbiddenByOperator
from ._key_addresses import KeyAddress, origin_of
from ._operator_policy import OperatorPolicy

__all__ = ["check_search_endpoint", "search_key_address"]


def check_search_endpoint(url: JsonValue, policy: OperatorPolicy) -> None:
    """Raise ForbiddenByOperator unless a profile could use this address as that of an OpenAI compatible provider.

    An address that the operator fixed for searching is always allowed.
    """
    if "searchEndpointUrl" in policy.fixed_settings:
        return
    if not policy.allows_provider("openai"):
        raise ForbiddenByOperator(
            "Your administrator does not allow OpenAI compatible providers, so no embeddings endpoint either.",
            field="searchByMeaning",
            provider="openai",
        )
    fixed = policy.fixed_settings.get("openAiBaseUrl")
    if isinstance(fixed, str) and isinstance(url, str) and origin_of(url) != origin_of(fixed):
        raise ForbiddenByOperator(
            f"Your administrator allows only the address {origin_of(fixed)}.", field="searchEndpointUrl"
        )


def search_key_address(url: JsonValue) -> KeyAddress:
    """Where the key goes: only a person or the operator can name the address, so one of the environment may go there."""
    return KeyAddress(origin_of(url) if isinstance(url, str) and url else "", True)
