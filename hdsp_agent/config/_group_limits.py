"""What the operator of a hub decides for a group of people, over what the operator of each server does."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ._operator_policy import OperatorPolicy

__all__ = ["GroupLimits", "narrowed"]

_TRUST: Final = ("never", "ask", "always")
"""From the strictest."""


class GroupLimits(BaseModel):
    """Limits by the names of the server's options. What is left out is as the server has it."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    allowed_providers: tuple[str, ...] | None = None
    allowed_modes: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    allowed_mcp_servers: tuple[str, ...] | None = None
    allow_auto_approval: bool = True
    allow_local_models: bool = True
    allow_unlisted_models: bool = True
    allow_memory: bool = True
    allow_mcp_server: bool = True
    workspace_trust: Literal["ask", "always", "never"] | None = None


def narrowed(policy: OperatorPolicy, limits: GroupLimits) -> OperatorPolicy:
    """The policy where both allow it. Of MCP servers the server's own list counts, if it has one."""
    return replace(
        policy,
        allowed_providers=_both(policy.allowed_providers, limits.allowed_providers),
        allowed_modes=_both(policy.allowed_modes, limits.allowed_modes),
        allowed_tools=_both(policy.allowed_tools, limits.allowed_tools),
        allowed_mcp_servers=(
            limits.allowed_mcp_servers if policy.allowed_mcp_servers is None else policy.allowed_mcp_servers
        ),
        allow_auto_approval=policy.allow_auto_approval and limits.allow_auto_approval,
        allow_local_models=policy.allow_local_models and limits.allow_local_models,
        allow_unlisted_models=policy.allow_unlisted_models and limits.allow_unlisted_models,
        allow_memory=policy.allow_memory and limits.allow_memory,
        allow_mcp_server=policy.allow_mcp_server and limits.allow_mcp_server,
        workspace_trust=min(policy.workspace_trust, limits.workspace_trust or "always", key=_TRUST.index),
    )


def _both(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(name for name in one if name in other)
