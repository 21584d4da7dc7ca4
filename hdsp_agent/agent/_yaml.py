"""YAML from files that others wrote: what a few lines of it stand for is bounded, and whatever is wrong is one error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from yaml import Node

__all__ = ["yaml_value"]

_MOST_EXPANDED: Final = 2_000_000
"""Values and their characters, each counted wherever an alias or a merge key repeats it."""


def yaml_value(text: str) -> object:
    """The value of a document. Raises ValueError. Blocks."""
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _refuse_expanding(node)
            value: object = loader.construct_document(node)
            return value
        finally:
            loader.dispose()
    # PyYAML looks up what a tag such as !!bool stands before, and does not mind when it is not there.
    except (yaml.YAMLError, RecursionError, LookupError, AttributeError, TypeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _refuse_expanding(root: Node) -> None:
    """Aliases of aliases become more than fits anywhere as soon as something goes through them: a merge, or a text of it."""
    known: dict[int, int] = {}

    def size(node: Node, above: frozenset[int]) -> int:
        if id(node) in above:
            raise ValueError("a value contains itself")
        if id(node) not in known:
            inside = above | {id(node)}
            known[id(node)] = 1 + sum(len(one) if isinstance(one, str) else size(one, inside) for one in _parts(node))
        if known[id(node)] > _MOST_EXPANDED:
            raise ValueError("its aliases stand for too much")
        return known[id(node)]

    size(root, frozenset())


def _parts(node: Node) -> list[Node | str]:
    if isinstance(node.value, str):
        return [node.value]
    return [part for one in node.value for part in (one if isinstance(one, tuple) else (one,))]
