"""How values become bytes and come back: data by pickle, what the notebook itself defined by value."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import array
import ctypes
import dataclasses
import functools
import importlib
import io
import marshal
import pickle
import sys
import threading
import types
import typing
import weakref

from . import _classes, _reachability, _unsavable

SMALLEST_BUFFER = 4096
_STRINGS_FROM = 1000
_FULL_READ_ONLY = 0x011C
"""PyBUF_FULL_RO: whatever the buffer is, only to be read."""
_MADE_AT_RUN_TIME = 1 << 9
"""The flag of classes that Python code has made; the others are C's."""
_SENTINELS = {
    type(getattr(dataclasses, name))
    for name in ("MISSING", "_FIELD", "_FIELD_CLASSVAR", "_FIELD_INITVAR", "KW_ONLY", "_HAS_DEFAULT_FACTORY")
    if hasattr(dataclasses, name)
}


class Stopped(Exception):
    """A cell begins, or the time is over."""


class TooLarge(Exception):
    """More bytes than one variable may have."""


class Sink:
    """Takes a stream's bytes, and ends it when it must."""

    def __init__(self, most, stopped):
        self.parts = []
        self.size = 0
        self._most = most
        self._stopped = stopped

    def write(self, data):
        if self._stopped():
            raise Stopped
        self.size += len(data)
        if self.size > self._most:
            raise TooLarge
        self.parts.append(bytes(data))
        return len(data)


class Blob:
    """A large array's memory; or its strings, as bytes made once for as long as none of them changes."""

    __slots__ = ("array", "data", "kept", "kind", "pieces", "pointers", "size")


class Memory:
    """What stays known between sweeps: classes by their tokens, and strings that were looked at."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.classes = {}
        self._tokens = {}
        self._strings = {}
        self._count = 0

    def token(self, kind):
        """A class's name in streams. The class is kept, so that its id stays its own."""
        token = self._tokens.get(id(kind))
        if token is None:
            self._count += 1
            token = f"{kind.__qualname__} {id(self):x}-{self._count}"
            self.know(token, kind)
        return token

    def know(self, token, kind):
        """This class goes by this token."""
        self._tokens[id(kind)] = token
        self.classes[token] = kind

    def forget_strings(self):
        """Nothing of them is written any more."""
        self._strings.clear()

    def strings(self, value):
        """The blob of an array of strings, or None when there is something else in it."""
        known = self._strings.get(id(value))
        pointers = _pointers(value)
        if known is not None and known[0]() is value and known[1].pointers == pointers:
            return known[1]
        blob = _strings(value, pointers)
        if blob is not None:
            self._keep_strings(value, blob)
        return blob

    def strings_again(self, keys, shape):
        """An array of the strings whose bytes these pieces are, if there is one still; None otherwise."""
        for _, blob in list(self._strings.values()):
            if [key for _, key in blob.pieces] == keys:
                value = blob.kept.reshape(shape).copy()
                self._keep_strings(value, blob)
                return value
        return None

    def _keep_strings(self, value, blob):
        number = id(value)
        self._strings[number] = (weakref.ref(value, lambda _: self._strings.pop(number, None)), blob)


class Reducers:
    """What a pickler does with what is not plain data. Mixed into C's pickler, and into cloudpickle's where there is one."""

    apart = True
    """Whether large arrays are kept as pieces of their own; otherwise everything is in the stream."""

    def prepare(self, memory, views, aliases=None, buffers=()):
        self.memory = memory
        self.views = views
        self.aliases = aliases
        self.buffers = buffers
        self.blobs = []
        self.classes = set()
        self.reads = set()
        self._globals = []

    def reducer_override(self, value):
        # Called for each object there is.
        how = _KINDS[type(value)]
        return NotImplemented if how is None else how(self, value)


def _keeping(buffers):
    """Large memory stays out of the stream. Not a method: a pickler that knew itself would hold all values until the next
    collection."""

    def keep(buffer):
        if buffer.raw().nbytes < SMALLEST_BUFFER:
            return True
        buffers.append(buffer)
        return False

    return keep


class Plain(Reducers, pickle.Pickler):
    """C's pickler with our reducers."""

    def __init__(self, sink, memory, views=frozenset(), aliases=None):
        buffers = []
        pickle.Pickler.__init__(self, sink, protocol=5, buffer_callback=_keeping(buffers))
        self.prepare(memory, views, aliases, buffers)


class Aliasing(Plain):
    """The same for values of which classes hold parts: it asks about each object, which takes its time."""

    def persistent_id(self, value):
        return _alias(self, value)


def _alias(pickler, value):
    """The class and the attribute that a value is."""
    at = pickler.aliases.get(id(value))
    if at is not None:
        pickler.classes.add(at[0])
    return at


def lenient(sink, memory, views=frozenset(), aliases=None):
    """cloudpickle's, for what plain pickle refuses; None where the kernel has none."""
    try:
        import cloudpickle
    except ImportError:
        return None

    class Lenient(Reducers, cloudpickle.Pickler):
        def __init__(self):
            buffers = []
            cloudpickle.Pickler.__init__(self, sink, protocol=5, buffer_callback=_keeping(buffers))
            self.prepare(memory, views, aliases, buffers)

        def persistent_id(self, value):
            return None if aliases is None else _alias(self, value)

        def reducer_override(self, value):
            reduced = Reducers.reducer_override(self, value)
            return cloudpickle.Pickler.reducer_override(self, value) if reduced is NotImplemented else reduced

    return Lenient()


# ---- what kinds there are


def _how(kind):
    live = _unsavable.what(kind)
    if live is not None:
        return lambda pickler, value: _refuse(live)
    if issubclass(kind, type):
        return _class
    if kind in _SENTINELS:
        return lambda pickler, value: (_sentinel, (_sentinel_name(value),))
    if issubclass(kind, types.ModuleType):
        return _module
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray:
        return _array
    return _BUILTIN.get(kind)


def _refuse(what):
    raise _unsavable.Unsavable(what)


def _class(pickler, kind):
    if importable(kind):
        return NotImplemented
    if not kind.__flags__ & _MADE_AT_RUN_TIME:
        name = next((name for name, one in vars(types).items() if one is kind), None)
        return NotImplemented if name is None else (getattr, (types, name))
    token = pickler.memory.token(kind)
    pickler.classes.add(token)
    return class_of, (token,)


def importable(value):
    """Whether a class or function is found again by its name in a module that is no notebook."""
    name = getattr(value, "__module__", None)
    if name is None or name == "__main__":
        return False
    found = sys.modules.get(name)
    try:
        for part in value.__qualname__.split("."):
            found = getattr(found, part)
    except AttributeError:
        return value in _BUILTIN_TYPES if isinstance(value, type) else False
    return found is value


_BUILTIN_TYPES = {type(None), type(Ellipsis), type(NotImplemented)}


def _function(pickler, function):
    space = function.__globals__
    if space is pickler.memory.namespace:
        where = None
    elif importable(function):
        return NotImplemented
    else:
        module = sys.modules.get(space.get("__name__"))
        own = module is not None and module.__dict__ is space
        where = space["__name__"] if own else pickler_globals(pickler, function)
    pickler.reads.update(names_of(function.__code__))
    state = {
        "name": function.__name__,
        "qualname": function.__qualname__,
        "module": function.__module__,
        "doc": function.__doc__,
        "defaults": function.__defaults__,
        "kwdefaults": function.__kwdefaults__,
        "annotations": _annotations(function),
        "dict": function.__dict__ or None,
    }
    code = marshal.dumps(function.__code__)
    return make_function, (code, where, function.__closure__), state, None, None, set_function


def pickler_globals(pickler, function):
    """Of a function made by ``exec`` with globals of its own: those it and the functions it calls read."""
    space, todo, found = function.__globals__, [function], {"__name__": function.__globals__.get("__name__", "?")}
    for known, made in pickler._globals:
        if known is space:
            found = made
            break
    else:
        pickler._globals.append((space, found))
    while todo:
        for name in names_of(todo.pop().__code__):
            if name in space and name not in found and name != "__builtins__":
                found[name] = space[name]
                if type(space[name]) is types.FunctionType and space[name].__globals__ is space:
                    todo.append(space[name])
    return found


def names_of(code):
    """Names that code may look up among its globals, and the code inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            names |= names_of(constant)
    return names


def _annotations(function):
    try:
        return function.__annotations__ or None
    except Exception:  # noqa: BLE001 -- from 3.14 on they are computed when asked for, and names may be gone
        return None


def _cell(pickler, cell):
    try:
        return make_cell, (), (cell.cell_contents,), None, None, set_cell
    except ValueError:
        return make_cell, ()


def _module(pickler, module):
    if sys.modules.get(module.__name__) is not module:
        _refuse("a module made at run time")
    return importlib.import_module, (module.__name__,)


def _array(pickler, value):
    if id(value) in pickler.views and not value.dtype.hasobject:
        owning = _reachability.owner(value)
        start = _address(owning)
        if owning is not value and start is not None:
            offset = value.ctypes.data - start
            return make_view, (owning, value.dtype, value.shape, value.strides, offset, value.flags.writeable)
    if not pickler.apart:
        return NotImplemented
    if value.dtype == object and value.size >= _STRINGS_FROM and value.flags.c_contiguous:
        blob = pickler.memory.strings(value)
        if blob is not None:
            pickler.blobs.append(blob)
            return make_strings, (len(pickler.blobs) - 1, value.shape, value.flags.writeable)
    if value.nbytes >= SMALLEST_BUFFER and not value.dtype.hasobject and _is_whole(value):
        order = "C" if value.flags.c_contiguous else "F"
        pickler.blobs.append(_memory_of(value))
        return make_array, (len(pickler.blobs) - 1, value.dtype, value.shape, order, value.flags.writeable)
    return NotImplemented


def _memory_of(value):
    blob = Blob()
    blob.data, blob.size, blob.pieces = flat(value), value.nbytes, ()
    blob.array = weakref.ref(value)
    return blob


def flat(value):
    """An array's memory, of one that lies in one piece."""
    return value.ravel(order="K").view("u1")


def _is_whole(value):
    return value.flags.c_contiguous or value.flags.f_contiguous


def _address(owning):
    """Where the memory of an array or bytearray begins, if it lies in one piece."""
    import numpy

    if type(owning) is bytearray:
        return numpy.frombuffer(owning, "u1").ctypes.data if owning else None
    return owning.ctypes.data if _is_whole(owning) else None


def _pointers(value):
    return bytes((ctypes.c_char * value.nbytes).from_address(value.ctypes.data))


def _strings(value, pointers):
    items = value.ravel().tolist()
    kinds = set(map(type, items))
    if not kinds <= {str, float, type(None), bool, int}:
        return None
    blob = Blob()
    # The copy keeps the strings alive, so that equal pointers are equal strings.
    blob.pointers, blob.kept, blob.pieces, blob.array = pointers, value.copy(), (), None
    if _pointers(blob.kept) != pointers:
        # A thread is changing it.
        return None
    if kinds == {str} and len(set(items)) > len(items) // 2:
        joined = "\0".join(items)
        if joined.count("\0") == len(items) - 1:
            try:
                blob.kind, blob.data = b"j", b"j" + joined.encode()
            except UnicodeEncodeError:
                blob.kind, blob.data = b"p", b"p" + pickle.dumps(items, 5)
            blob.size = len(blob.data)
            return blob
    blob.kind, blob.data = b"p", b"p" + pickle.dumps(items, 5)
    blob.size = len(blob.data)
    return blob


class _Buffer(ctypes.Structure):
    """As C's Py_buffer begins; what follows is room enough."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("rest", ctypes.c_byte * 256)]  # fmt: skip


def _start(value):
    """Where in memory a buffer begins."""
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(value), ctypes.byref(buffer), ctypes.c_int(_FULL_READ_ONLY))
    try:
        return buffer.buf or 0
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))


def _memoryview(pickler, view):
    owning = view.obj
    if type(owning) not in (bytearray, bytes, array.array) or not view.c_contiguous or view.ndim != 1:
        _refuse("memory of something else")
    return make_memoryview, (owning, _start(view) - _start(owning), view.nbytes, view.format, view.readonly)


def _cached(pickler, function):
    parameters = function.cache_parameters() if hasattr(function, "cache_parameters") else {}
    return make_cached, (function.__wrapped__, parameters)


def _sentinel_name(value):
    return next(name for name, one in vars(dataclasses).items() if one is value)


_BUILTIN = {
    types.FunctionType: _function,
    types.CellType: _cell,
    functools._lru_cache_wrapper: _cached,
    typing.TypeVar: lambda pickler, one: (
        make_type_variable,
        (one.__name__, one.__constraints__, one.__bound__, one.__covariant__, one.__contravariant__),
    ),
    memoryview: _memoryview,
    types.CodeType: lambda pickler, code: (make_code, (marshal.dumps(code),)),
    types.MappingProxyType: lambda pickler, value: (types.MappingProxyType, (dict(value),)),
    property: lambda pickler, value: (property, (value.fget, value.fset, value.fdel, value.__doc__)),
    classmethod: lambda pickler, value: (classmethod, (value.__func__,)),
    staticmethod: lambda pickler, value: (staticmethod, (value.__func__,)),
}


class _Kinds(dict):
    """What to do with a kind, decided once."""

    def __missing__(self, kind):
        how = self[kind] = _how(kind)
        return how


_KINDS = _Kinds()


# ---- the way back: streams name these


class Loading:
    """What is needed while streams are read: set for the thread that reads them."""

    def __init__(self, memory, blobs, classes):
        self.memory = memory
        self.blobs = blobs
        self.classes = classes
        self.made = {}
        self.states = []


_now = threading.local()
_KNOWN_CODE = {__name__.partition(".")[0], "builtins", "collections", "copyreg", "datetime", "numpy", "pandas"}
"""Where reading a stream changes no array that was there."""


class _Unpickler(pickle.Unpickler):  # noqa: S301 -- the manifest proved the stream ours
    def persistent_load(self, at):
        token, name = at
        return vars(class_of(token))[name]

    def find_class(self, module, name):
        if module.partition(".")[0] not in _KNOWN_CODE and _now.blobs is not None:
            # An object's class comes before what it is made of, which its own code may change.
            _now.blobs.make_anew()
        return super().find_class(module, name)


def load(stream, buffers, blobs, loading):
    """A stream's value."""
    before = getattr(_now, "loading", None), getattr(_now, "blobs", None)
    _now.loading, _now.blobs = loading, blobs
    try:
        return _Unpickler(io.BytesIO(stream), buffers=buffers).load()
    finally:
        _now.loading, _now.blobs = before


def make_function(code, where, closure):
    if where is None:
        space = _now.loading.memory.namespace
    elif isinstance(where, str):
        space = importlib.import_module(where).__dict__
    else:
        space = where
    return types.FunctionType(make_code(code), space, None, None, closure)


def set_function(function, state):
    function.__name__ = state["name"]
    function.__qualname__ = state["qualname"]
    function.__module__ = state["module"]
    function.__doc__ = state["doc"]
    function.__defaults__ = state["defaults"]
    function.__kwdefaults__ = state["kwdefaults"]
    if state["annotations"]:
        function.__annotations__ = state["annotations"]
    if state["dict"]:
        function.__dict__.update(state["dict"])


def make_code(data):
    return marshal.loads(data)  # noqa: S302 -- the manifest proved it ours


def make_cell():
    return types.CellType()


def set_cell(cell, state):
    cell.cell_contents = state[0]


def make_type_variable(name, constraints, bound, covariant, contravariant):
    return typing.TypeVar(name, *constraints, bound=bound, covariant=covariant, contravariant=contravariant)


def make_cached(function, parameters):
    """What was in the cache is computed again when it is asked for."""
    return functools.lru_cache(**parameters)(function)


def make_view(owning, dtype, shape, strides, offset, writeable):
    import numpy

    memory = owning if type(owning) is bytearray or owning.flags.c_contiguous else owning.T
    view = numpy.ndarray(shape, dtype, buffer=memory, offset=offset, strides=strides)
    if view.flags.writeable and not writeable:
        view.flags.writeable = False
    return view


def make_memoryview(owning, offset, size, form, readonly):
    view = memoryview(owning).cast("B")[offset : offset + size].cast(form)
    return view.toreadonly() if readonly else view


def make_array(number, dtype, shape, order, writeable):
    import numpy

    there = _now.blobs.array(number, dtype, shape, order, writeable)
    if there is not None:
        return there
    # Read into its own memory: it owns it as it did before.
    value = numpy.empty(shape, dtype, order)
    _now.blobs.read(number, memoryview(flat(value)))
    value.flags.writeable = writeable
    return value


def make_strings(number, shape, writeable):
    import numpy

    value = _now.loading.memory.strings_again(_now.blobs.keys(number), shape)
    if value is None:
        data = bytes(_now.blobs.read(number))
        items = data[1:].decode().split("\0") if data[:1] == b"j" else _strings_from(memoryview(data)[1:])
        value = numpy.empty(len(items), object)
        value[:] = items
        value = value.reshape(shape)
    value.flags.writeable = writeable
    return value


def _strings_from(data):
    return pickle.loads(data)  # noqa: S301 -- as above


def class_of(token):
    loading = _now.loading
    return _classes.class_of(token, loading, load)


def _sentinel(name):
    return getattr(dataclasses, name)
