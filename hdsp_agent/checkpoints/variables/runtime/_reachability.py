"""Which objects a value reaches that others could reach, too."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import array
import bisect
import datetime
import decimal
import enum
import fractions
import functools
import gc
import operator
import pathlib
import re
import sys
import types
import uuid

from . import _plain_data, _unsavable

MOST = 2_000_000
"""Objects looked at in one variable; what is further in is saved, but may lose that it is shared with others."""
_SLICE = 20_000
_FEW = 8
"""So many times fewer are looked up one by one."""

_PLAIN = {
    bool, int, float, complex, type(None), str, bytes, range, slice, type(Ellipsis), type(NotImplemented),
    types.CodeType, types.ModuleType, types.MappingProxyType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone, decimal.Decimal,
    fractions.Fraction, re.Pattern, uuid.UUID, operator.attrgetter, operator.itemgetter, property,
}  # fmt: skip
_TRANSPARENT = (tuple, frozenset, types.MethodType, classmethod, staticmethod, functools.partial)


class Reach:
    """What one variable reaches: ``ids`` of what may be shared, and of each array the one that owns its memory.

    Of plain data also all that it is: ``look``.
    """

    __slots__ = ("_found", "_ids", "arrays", "look", "whole")

    def __init__(self, ids, arrays, whole, look=None):
        self._found = None if ids is None else array.array("Q", ids)
        self._ids = None
        self.arrays = arrays
        self.whole = whole
        self.look = look

    @property
    def ids(self):
        """In order, each once. Made when they are asked for, which is seldom."""
        if self._ids is None:
            self._ids = array.array("Q", sorted(self.look.ids() if self._found is None else self._found))
        return self._ids

    def keep_ids(self, before):
        """They are what they were."""
        self._ids = before._ids

    def shares_with(self, other):
        """Whether both reach something."""
        few, many = sorted((self.ids, other.ids), key=len)
        if len(few) * _FEW < len(many):
            return any(_is_in(many, number) for number in few)
        return not set(few).isdisjoint(many)

    def owners_in(self, owners):
        """Whose ids it reaches, of these."""
        ids = self.ids
        if len(owners) * _FEW < len(ids):
            return {name for number, name in owners.items() if _is_in(ids, number)}
        return {owners[number] for number in ids if number in owners}

    def is_same(self, before):
        """Whether it is for certain what it was, with everything in it."""
        return self.look is not None and before.look is not None and self.look.is_same(before.look)

    def __eq__(self, other):
        if self.look is not None and other.look is not None and self.look.is_shaped_like(other.look):
            return True
        # What is built alike is mostly found in the same order, too.
        alike = self._found is not None and self._found == other._found
        return self.arrays == other.arrays and (alike or self.ids == other.ids)

    __hash__ = None


def reach(value, namespace, stopped=lambda: False, before=None):
    """Look through a value without running any of its code; None where it was stopped.

    ``before``: what it reached when it was looked through last.
    """
    if issubclass(type(value), type):
        # What it holds stands in its definition, and who else holds that refers to it there.
        return Reach([id(value)], {}, True)
    if before is None or before.look is not None:
        look = _plain_data.look(value, namespace, stopped, MOST)
        if look is not None:
            return Reach(None, {}, True, look)
    walk = _Walk(value, namespace)
    while walk.todo:
        if stopped():
            return None
        walk.step()
        if len(walk.seen) > MOST:
            return Reach(walk.ids, walk.arrays, False)
    return Reach(walk.ids, walk.arrays, True)


class _Walk:
    """Some thousand objects at a time: their referents, without those that were seen or cannot be shared.

    Objects of the same kind are taken together: a loop over each of them would take most of the time.
    """

    def __init__(self, value, namespace):
        # Whatever leads to the namespace shares it; that says nothing about the variables in it.
        self.seen = {id(value): value, id(namespace): namespace}
        self.todo = [value]
        self.ids, self.arrays = set(), {}
        self._ways, self._alone = {}, {}
        self._numpy = sys.modules.get("numpy")

    def step(self):
        layer, self.todo = self.todo[-_SLICE:], self.todo[:-_SLICE]
        kinds = {}
        for kind in set(map(type, layer)):
            kinds.setdefault(self._way(kind), set()).add(kind)
        referred = []
        for way, some in kinds.items():
            way(self, layer if len(kinds) == 1 else [one for one in layer if type(one) in some], referred)
        alone = set(filter(self._is_alone, set(map(type, referred))))
        if alone:
            referred = [one for one in referred if type(one) not in alone]
        found = {id(one): one for one in referred}
        for number in found.keys() & self.seen.keys():
            del found[number]
        self.seen.update(found)
        self.todo.extend(found.values())

    def _way(self, kind):
        way = self._ways.get(kind)
        if way is None:
            way = self._ways[kind] = _way(kind, self._numpy)
        return way

    def _is_alone(self, kind):
        alone = self._alone.get(kind)
        if alone is None:
            alone = self._alone[kind] = _alone(kind, self._numpy)
        return alone


def _way(kind, numpy):
    """How to look at values of a kind."""
    if kind is types.FunctionType:
        return _functions
    if kind is types.MethodType or kind is types.BuiltinFunctionType:
        return _methods
    if kind is dict and sys.version_info >= (3, 13):
        return _dictionaries
    if numpy is not None and issubclass(kind, numpy.ndarray):
        return _arrays
    shared = not issubclass(kind, _TRANSPARENT) or kind is functools.partial
    if _opaque(kind):
        return _closed if shared else _nothing
    return _open if shared else _through


def _open(walk, some, referred):
    walk.ids.update(map(id, some))
    referred.extend(gc.get_referents(*some))


def _dictionaries(walk, some, referred):
    """An object's own dictionary tells the collector nothing."""
    walk.ids.update(map(id, some))
    for one in some:
        referred.extend(list(one))
        referred.extend(list(one.values()))


def _through(walk, some, referred):
    referred.extend(gc.get_referents(*some))


def _closed(walk, some, referred):
    walk.ids.update(map(id, some))


def _nothing(walk, some, referred):
    """It is not shared, and does not tell what it refers to."""


def _functions(walk, some, referred):
    """They refer to more than they share."""
    walk.ids.update(map(id, some))
    for one in some:
        referred.extend(filter(None, (one.__closure__, one.__defaults__, one.__kwdefaults__, one.__dict__)))


def _methods(walk, some, referred):
    referred.extend(one.__self__ for one in some)


def _arrays(walk, some, referred):
    for one in some:
        _array(one, walk.ids, walk.arrays, referred, walk.seen)


def _is_in(ordered, number):
    at = bisect.bisect_left(ordered, number)
    return at < len(ordered) and ordered[at] == number


def owner(value):
    """The array or bytearray whose memory an array looks at; the array itself where it is its own."""
    numpy = sys.modules["numpy"]
    while value.base is not None:
        base = value.base
        if type(base) is memoryview:
            base = base.obj
        if type(base) is bytearray:
            return base
        if not isinstance(base, numpy.ndarray):
            break
        value = base
    return value


def _array(one, ids, arrays, referred, seen):
    owning = owner(one)
    ids.add(id(owning))
    ids.add(id(one))
    arrays[id(one)] = id(owning)
    if type(owning) is bytearray:
        arrays[id(owning)] = id(owning)
    if owning is not one:
        # Kept alive, so that its id stays its own while this goes on.
        seen.setdefault(id(owning), owning)
    if one.dtype.hasobject:
        items = one.ravel(order="K").tolist()
        if not set(map(type, items)) <= _PLAIN:
            referred.extend(items)


def is_alone(kind):
    """Whether values of a type are never shared in a way that could be told."""
    return _alone(kind, sys.modules.get("numpy"))


def _alone(kind, numpy):
    """Whether values of a type are never shared in a way that could be told: they cannot change."""
    if kind in _PLAIN or issubclass(kind, (type, enum.Enum, types.ModuleType, pathlib.PurePath)):
        return True
    if numpy is not None and issubclass(kind, (numpy.generic, numpy.dtype)):
        return True
    module = kind.__module__.partition(".")[0]
    if module == "pandas":
        # An index cannot change, and dtypes, offsets and timestamps neither.
        return any(base.__name__ in ("Index", "ExtensionDtype", "BaseOffset", "_Timestamp", "_Timedelta", "NAType",
                                     "NaTType") for base in kind.__mro__)  # fmt: skip
    return module in ("zoneinfo", "typing", "logging", "threading", "_thread", "asyncio", "weakref", "_weakref")


def _opaque(kind):
    """Whether not to look inside: frames that copy on write share memory, but no change shows through."""
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in ("DataFrame", "Series"):
        pandas = sys.modules["pandas"]
        if int(pandas.__version__.partition(".")[0]) >= 3:
            return True
        return bool(pandas.get_option("mode.copy_on_write") is True)
    # What is alive is not saved, and would lead into the kernel itself.
    return issubclass(kind, types.ModuleType) or _unsavable.what(kind) is not None
