"""Arrays that a restore leaves where they are in memory: neither as much memory again is needed, nor the time to fill it.

Only where nobody could tell: no variable that stays, and nothing else in the process, refers to them.
"""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import gc
import hashlib
import sys
import threading
import types

from . import _chunks, _objects, _unsavable

_MOST_OBJECTS = 10_000
"""Of variables that reach more, each array is made anew."""
_CLOSED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
"""Their references are not followed; what only they refer to counts as somebody else's."""


class Reusable:
    """Arrays of variables that a restore replaces or removes, and what is to be written into them."""

    def __init__(self, sweeper, chunks, going):
        self._chunks = chunks
        self._found = {}
        self._taken = set()
        self._writes = []
        if not _can_tell():
            return
        for names, group in sweeper.groups.items():
            parts = [part for part in group.blobs if part.array is not None and part.size >= _chunks.SIZE]
            if parts and going.issuperset(names):
                alone = _referred_to_by_these_alone(names, sweeper.shell.user_ns)
                for part in parts:
                    self._add(part, alone)

    def _add(self, part, alone):
        value = part.array()
        if value is None:
            return
        owning = value
        while id(owning) in alone and owning.base is not None:
            owning = owning.base
        if id(owning) not in alone or not owning.flags.owndata:
            return
        for key in {part.pieces[0][1], part.pieces[-1][1]}:
            self._found.setdefault((part.size, key), []).append((part, id(owning)))

    def take(self, keys, size, dtype, shape, order, writeable, read):
        """The array that has this content, or mostly; None if there is none. ``read`` fills memory with the pieces of keys."""
        for key in dict.fromkeys((keys[0], keys[-1])) if keys else ():
            for part, owning in self._found.get((size, key), ()):
                value = part.array()
                if value is None or owning in self._taken or not _is_like(value, dtype, shape, order, writeable):
                    continue
                data = memoryview(_objects.flat(value))
                pieces = [data[at : at + _chunks.SIZE] for at in range(0, size, _chunks.SIZE)]
                others = [
                    number
                    for number, piece in enumerate(pieces)
                    if not self._has(piece, part.pieces[number], keys[number])
                ]
                if 2 * len(others) >= len(pieces) or (others and not writeable):
                    continue
                # Read now: when it is written, nothing may fail.
                self._writes += [(pieces[number], read([keys[number]], pieces[number].nbytes)) for number in others]
                self._taken.add(owning)
                return value
        return None

    def write(self):
        """Make them what they are to be."""
        for piece, data in self._writes:
            piece[:] = data
        self._writes.clear()

    def _has(self, piece, known, key):
        """Whether a piece of an array is this one now. What was found when it was last looked at may have changed."""
        mark, known_key = known
        if known_key != key:
            return False
        return hashlib.sha256(piece).hexdigest() == key if mark is None else self._chunks.mark(piece) == mark


def _can_tell():
    """Whether references are counted, and nobody takes one meanwhile."""
    if not hasattr(sys, "getrefcount") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    # A cell in a subshell runs beside the main thread.
    rooms = {type(thread).__module__ for thread in threading.enumerate()}
    return not _unsavable.has_own_threads() and not any("subshell" in room for room in rooms)


def _is_like(value, dtype, shape, order, writeable):
    flags = value.flags
    return (
        value.shape == shape
        and value.dtype == dtype
        and value.dtype.metadata == dtype.metadata
        and flags.writeable == writeable
        and (flags.c_contiguous if order == "C" else flags.f_contiguous)
    )


def _referred_to_by_these_alone(names, space):
    """The ids of all objects that only these variables lead to.

    All references that are found from them are counted. An object with more is somebody else's too, and all it leads to.
    """
    probe = object()
    objects, counted, leads_to = {id(probe): probe}, {id(probe): 0}, {}
    number = id(probe)
    del probe
    _count([space[name] for name in names], objects, counted)
    todo = [one for one in objects if one != number]
    while todo:
        at = todo.pop()
        before = len(objects)
        leads_to[at] = _count(_referents(objects[at]), objects, counted)
        todo.extend(list(objects)[before:] if len(objects) > before else ())
        if len(objects) > _MOST_OBJECTS:
            return set()
    ours = sys.getrefcount(objects[number])
    others = [one for one in leads_to if sys.getrefcount(objects[one]) != counted[one] + ours]
    alone = set(leads_to)
    while others:
        one = others.pop()
        if one in alone:
            alone.remove(one)
            others.extend(leads_to[one])
    return alone


def _count(referents, objects, counted):
    for one in referents:
        counted[id(one)] = counted.get(id(one), 0) + 1
        objects[id(one)] = one
    return [id(one) for one in referents]


def _referents(one):
    if isinstance(one, _CLOSED):
        return []
    numpy = sys.modules["numpy"]
    if isinstance(one, numpy.ndarray):
        # The collector is told nothing of it.
        return [] if one.base is None else [one.base]
    return gc.get_referents(one)
