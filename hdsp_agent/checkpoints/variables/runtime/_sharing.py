"""Which objects a value reaches that others could reach, too."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import array
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
import time
import types
import uuid

from . import _live

MOST = 2_000_000
"""Objects looked at in one variable; what is further in is saved, but may lose that it is shared with others."""
_SLICE = 20_000

_PLAIN = {
    bool, int, float, complex, type(None), str, bytes, range, slice, type(Ellipsis), type(NotImplemented),
    types.CodeType, types.ModuleType, types.MappingProxyType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone, decimal.Decimal,
    fractions.Fraction, re.Pattern, uuid.UUID, operator.attrgetter, operator.itemgetter, property,
}  # fmt: skip
_TRANSPARENT = (tuple, frozenset, types.MethodType, classmethod, staticmethod, functools.partial)


class Reach:
    """What one variable reaches: ``ids`` of what may be shared, and of each array the one that owns its memory."""

    __slots__ = ("arrays", "ids", "whole")

    def __init__(self, ids, arrays, whole):
        self.ids = array.array("Q", sorted(ids))
        self.arrays = arrays
        self.whole = whole

    def __eq__(self, other):
        return self.ids == other.ids and self.arrays == other.arrays

    __hash__ = None


def reach(value, namespace, until=None):
    """Look through a value without running any of its code, until this moment."""
    walk = _Walk(value, namespace)
    while walk.todo:
        walk.step()
        if len(walk.seen) > MOST or (until is not None and time.perf_counter() > until):
            return Reach(walk.ids, walk.arrays, False)
    return Reach(walk.ids, walk.arrays, True)


class _Walk:
    """Some thousand objects at a time: their referents, without those that were seen or cannot be shared."""

    def __init__(self, value, namespace):
        numpy = sys.modules.get("numpy")
        self.ndarray = numpy.ndarray if numpy is not None else ()
        # Whatever leads to the namespace shares it; that says nothing about the variables in it.
        self.seen = {id(value): value, id(namespace): namespace}
        self.todo = [value]
        self.ids, self.arrays = set(), {}
        self._alone, self._opaque = {}, {}
        self._numpy = numpy

    def step(self):
        layer, self.todo = self.todo[-_SLICE:], self.todo[:-_SLICE]
        plain, referred = [], []
        for one in layer:
            if not self._special(one, referred):
                kind = type(one)
                if not issubclass(kind, _TRANSPARENT) or kind is functools.partial:
                    self.ids.add(id(one))
                opaque = self._opaque.get(kind)
                if opaque is None:
                    opaque = self._opaque[kind] = _opaque(kind)
                if not opaque:
                    plain.append(one)
        referred.extend(gc.get_referents(*plain))
        for number, one in {id(one): one for one in referred}.items():
            if number in self.seen:
                continue
            kind = type(one)
            alone = self._alone.get(kind)
            if alone is None:
                alone = self._alone[kind] = _alone(kind, self._numpy)
            if not alone:
                self.seen[number] = one
                self.todo.append(one)

    def _special(self, one, referred):
        """What refers to more than it shares, or does not tell what it refers to."""
        kind = type(one)
        if kind is types.FunctionType:
            self.ids.add(id(one))
            referred.extend(filter(None, (one.__closure__, one.__defaults__, one.__kwdefaults__, one.__dict__)))
        elif kind is types.MethodType or kind is types.BuiltinFunctionType:
            referred.append(one.__self__)
        elif self.ndarray and issubclass(kind, self.ndarray):
            _array(one, self.ids, self.arrays, referred, self.seen)
        else:
            return False
        return True


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
    return issubclass(kind, types.ModuleType) or _live.what(kind) is not None
