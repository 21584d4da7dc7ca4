"""Custom modes and prompt overrides, in the form Roo Code exports them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from ..wire import WireModel
from ._path_patterns import linear_pattern

__all__ = ["GroupOptions", "ModeConfig", "ModePrompt", "ModeSlug", "NarrowedMode", "ToolGroup"]

ToolGroup = Literal["read", "edit", "command", "mcp", "modes"]
ModeSlug = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9-]+$", max_length=100)]
LongText = Annotated[str, Field(max_length=100_000)]


class GroupOptions(WireModel):
    """Narrows a tool group to some files."""

    file_regex: Annotated[str, Field(max_length=1000)] | None = None
    """Only files whose path matches may be changed."""
    description: Annotated[str, Field(max_length=1000)] | None = None
    """What the pattern means, for people and for the model."""

    @field_validator("file_regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            linear_pattern(value)
        return value


class ModeConfig(WireModel):
    """A mode: the agent's role, its instructions and the tools it has."""

    slug: ModeSlug
    name: Annotated[str, Field(min_length=1, max_length=100)]
    role_definition: Annotated[str, Field(min_length=1, max_length=100_000)]
    when_to_use: LongText | None = None
    description: LongText | None = None
    custom_instructions: LongText | None = None
    groups: Annotated[tuple[ToolGroup | tuple[ToolGroup, GroupOptions], ...], Field(max_length=20)] = ()
    source: Literal["global", "project", "team"] | None = None
    icon_name: Annotated[str, Field(max_length=100)] | None = None

    @field_validator("groups")
    @classmethod
    def _no_group_twice(
        cls, value: tuple[ToolGroup | tuple[ToolGroup, GroupOptions], ...]
    ) -> tuple[ToolGroup | tuple[ToolGroup, GroupOptions], ...]:
        names = [group if isinstance(group, str) else group[0] for group in value]
        if len(set(names)) != len(names):
            raise ValueError("names a tool group twice")
        return value

    def edit_limits(self) -> Iterator[GroupOptions]:
        """What limits the files it may change: a file must match the pattern of each."""
        for group in self.groups:
            if not isinstance(group, str) and group[0] == "edit" and group[1].file_regex is not None:
                yield group[1]


class NarrowedMode(ModeConfig):
    """A mode that allows no more than another one does."""

    within: ModeConfig = Field(exclude=True, repr=False)
    """The other one, whose groups it has at most, and whose file pattern holds as well."""

    def edit_limits(self) -> Iterator[GroupOptions]:
        """Those of the other one come first."""
        outer = list(self.within.edit_limits())
        yield from outer
        yield from (options for options in super().edit_limits() if options not in outer)


class ModePrompt(WireModel):
    """What a person changed about a mode's prompt."""

    role_definition: LongText | None = None
    when_to_use: LongText | None = None
    description: LongText | None = None
    custom_instructions: LongText | None = None
