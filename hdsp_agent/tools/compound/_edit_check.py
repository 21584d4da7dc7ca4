"""What an edit must not lose. A small model writes the lines it thinks of, and leaves out what others stand on."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from ._code import made_names, parsed, parsed_or_empty, wanted_names

__all__ = ["lost_names", "lost_texts", "same_meaning", "used_before_made", "with_lost"]

_LIKE_ENOUGH_PERCENT: Final = 60
_SHORT: Final = 2


def same_meaning(code: str, other: str) -> bool:
    """Whether both are the same Python, but for how it is laid out and its comments."""
    trees = [parsed(one) for one in (code, other)]
    return all(trees) and ast.dump(trees[0]) == ast.dump(trees[1])  # type: ignore[arg-type]  # all of them are there


def with_lost(old: str, new: str, others: Sequence[str]) -> str:
    """The new code behind those statements of the old that make what it needs and nobody makes any more.

    Imports that only other cells need are kept, too.
    """
    tree = parsed(old)
    if tree is None or parsed(new) is None:
        return new
    made = _made_by(others)
    first, all_needed = used_before_made(new) - made, _needed(new, others)
    kept = [
        ast.unparse(node)
        for node in tree.body
        if made_names(ast.unparse(node)) & (all_needed if isinstance(node, (ast.Import, ast.ImportFrom)) else first)
    ]
    if not kept:
        return new
    only_imports = all(line.startswith(("import ", "from ")) for line in kept)
    return "\n".join([*kept, "", new] if only_imports and not new.startswith(("import ", "from ")) else [*kept, new])


def used_before_made(code: str) -> set[str]:
    """Names that the code needs when it begins, though it may make them later."""
    made: set[str] = set()
    needed: set[str] = set()
    for node in parsed_or_empty(code).body:
        # What is assigned is made after its value was computed.
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else node
        needed |= set(wanted_names(ast.unparse(value))) - made if value is not None else set()
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            needed |= {node.target.id} - made
        made |= made_names(ast.unparse(node))
    return needed


def lost_names(old: str, new: str, others: Sequence[str]) -> list[str]:
    """Names that the old code makes, the new does not, and other cells use."""
    if parsed(new) is None:
        return []
    used = {name for source in others for name in wanted_names(source)}
    return sorted((made_names(old) - made_names(new)) & used - _made_by(others))


def lost_texts(old: str, new: str) -> list[str]:
    """Texts of the old code that nothing in the new is like."""
    before, after = parsed(old), parsed(new)
    if before is None or after is None:
        return []
    there = list(_texts(after))
    return [
        text
        for text in dict.fromkeys(_texts(before))
        if len(text.strip()) > _SHORT and not any(_alike(text, one) for one in there)
    ]


def _needed(code: str, others: Sequence[str]) -> set[str]:
    used = {*wanted_names(code), *(name for source in others for name in wanted_names(source))}
    return used - made_names(code) - _made_by(others)


def _made_by(sources: Collection[str]) -> set[str]:
    return {name for source in sources for name in made_names(source)}


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _alike(text: str, other: str) -> bool:
    from rapidfuzz import fuzz  # 25 ms, for the few edits that need it

    small, big = text.lower(), other.lower()
    return small.strip() in big or fuzz.ratio(small, big) > _LIKE_ENOUGH_PERCENT
