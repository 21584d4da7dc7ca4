"""Plain data -- lists, dictionaries, objects of Python's own classes -- told from what it was without turning it into bytes."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import abc
import array
import copyreg
import datetime
import decimal
import itertools
import operator
import types

_SLICE = 50_000
_MOST_ATOMS = 2_000_000
_MOST_TEXT = 64_000_000
"""What cannot change is kept alive until the next look: no more than this."""
_ATOMS = {int, float, complex, bool, type(None), str, bytes, datetime.date, datetime.timedelta, decimal.Decimal}
_TEXTS = {str, bytes}
_SEQUENCES = {list, tuple, set, frozenset}
_TRANSPARENT = {tuple, frozenset}
_OWN_WAY = {"__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__getnewargs_ex__", "__getattr__",
            "__getattribute__", "__class__"}  # fmt: skip
"""A class with one of these may save more than its objects' attributes."""
_MADE_AT_RUN_TIME = 1 << 9


class _Simple:
    """Its objects have attributes, and nothing else."""


_attributes = operator.attrgetter("__dict__")


class Look:
    """A value's whole content, by identity: what may change by its id, what cannot change as it is.

    As that is kept alive, nothing else can have its id; so what looks the same is the same.
    """

    __slots__ = ("_atoms", "_layout", "_shape", "_through")

    def __init__(self):
        self._shape, self._layout, self._atoms = [], [], []
        self._through = array.array("Q")

    def ids(self):
        """Of all that may be shared with others."""
        return set(itertools.chain.from_iterable(self._shape)).difference(self._through)

    def is_shaped_like(self, other):
        """Whether all that may be shared is where it was."""
        return self._shape == other._shape

    def is_same(self, other):
        """Whether nothing in it has changed at all."""
        return (
            self._shape == other._shape
            and self._layout == other._layout
            and len(self._atoms) == len(other._atoms)
            and all(map(_are_same, self._atoms, other._atoms))
        )


def look(value, namespace, stopped, most):
    """Look through a value without running any of its code; None where something is not plain, or there is too much."""
    if type(value) in _ATOMS:
        return None
    walk = _Walk(namespace)
    try:
        walk.meet([value])
        while walk.todo:
            if stopped() or len(walk.seen) > most:
                return None
            walk.step()
    except (_NotPlain, RuntimeError):
        # A dictionary that changes while it is read is another thread's.
        return None
    return walk.found


class _NotPlain(Exception):
    """Something whose content cannot be told from outside."""


class _Walk:
    """Some thousand objects at a time, those of a kind together."""

    def __init__(self, namespace):
        self.found = Look()
        self.seen = set()
        self.todo = []
        self._namespace = id(namespace)
        self._plain = {}
        self._count = self._text = 0

    def meet(self, referred):
        """Note what was come upon, in this order."""
        kinds = set(map(type, referred))
        open_kinds = kinds - _ATOMS
        for kind in open_kinds:
            if not self._is_plain(kind):
                raise _NotPlain
        if not open_kinds:
            self._keep(referred, kinds)
            return
        if len(open_kinds) < len(kinds):
            self.found._layout.append(_ids(referred))
            self._keep([one for one in referred if type(one) in _ATOMS], kinds & _ATOMS)
            referred = [one for one in referred if type(one) not in _ATOMS]
        numbers = _ids(referred)
        self.found._shape.append(numbers)
        seen, fresh = self.seen, set(numbers)
        if self._namespace in fresh:
            raise _NotPlain
        if len(fresh) == len(numbers) and seen.isdisjoint(fresh):
            self.todo.extend(referred)
        else:
            self.todo.extend({id(one): one for one in referred if id(one) not in seen}.values())
        seen |= fresh
        if not open_kinds.isdisjoint(_TRANSPARENT):
            self.found._through.extend(id(one) for one in referred if type(one) in _TRANSPARENT)

    def step(self):
        """Open some of what was come upon."""
        layer = self.todo[-_SLICE:]
        del self.todo[-_SLICE:]
        kinds = list(dict.fromkeys(map(type, layer)))
        self.found._atoms.append(kinds)
        if len(kinds) > 1:
            self.found._layout.append(_ids(map(type, layer)))
        for kind in kinds:
            some = layer if len(kinds) == 1 else [one for one in layer if type(one) is kind]
            if kind is dict:
                self._open(some)
            elif kind in _SEQUENCES:
                self.found._layout.append(array.array("Q", map(len, some)))
                self.meet(list(itertools.chain.from_iterable(some)))
            else:
                own = list(map(_attributes, some))
                self.found._shape.append(_ids(own))
                self._open(own)

    def _open(self, dictionaries):
        self.found._layout.append(array.array("Q", map(len, dictionaries)))
        self.meet(list(itertools.chain.from_iterable(dictionaries)))
        # Not from the collector: from 3.13 on an object's own dictionary tells it nothing.
        self.meet(list(itertools.chain.from_iterable(map(dict.values, dictionaries))))

    def _keep(self, atoms, kinds):
        self._count += len(atoms)
        if not kinds.isdisjoint(_TEXTS):
            texts = atoms if kinds <= _TEXTS else [one for one in atoms if type(one) in _TEXTS]
            self._text += sum(map(len, texts))
        if self._count > _MOST_ATOMS or self._text > _MOST_TEXT:
            raise _NotPlain
        self.found._atoms.append(atoms)

    def _is_plain(self, kind):
        plain = self._plain.get(kind)
        if plain is None:
            plain = self._plain[kind] = kind is dict or kind in _SEQUENCES or _is_simple(kind)
        return plain


def _is_simple(kind):
    """Whether objects of a class are their attributes and nothing else."""
    if type(kind) not in (type, abc.ABCMeta) or kind in copyreg.dispatch_table or kind.__mro__[-1] is not object:
        return False
    for base in kind.__mro__[:-1]:
        own = base.__dict__
        slots = own.get("__slots__", ())
        if not base.__flags__ & _MADE_AT_RUN_TIME or type(slots) is not tuple or slots or not _OWN_WAY.isdisjoint(own):
            return False
        if type(own.get("__dict__")) not in (type(None), types.GetSetDescriptorType):
            return False
    return (kind.__basicsize__, kind.__itemsize__) == (_Simple.__basicsize__, 0) and kind.__dictoffset__ != 0


def _ids(some):
    return array.array("Q", map(id, some))


def _are_same(some, others):
    return len(some) == len(others) and all(map(operator.is_, some, others))
