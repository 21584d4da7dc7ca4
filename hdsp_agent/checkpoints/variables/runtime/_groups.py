"""Variables that share objects, saved together: one stream, its large memory, and the classes it needs."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import base64
import hashlib
import json
import pickle
import pickletools
import time

from . import _classes, _objects, _unsavable

INLINE = 2048
"""Streams up to this size stand in the record itself."""
_MOST_LOOKED_THROUGH = 200_000

LIBRARIES = ("numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "torch", "xarray")
"""Whose objects another major version may not read."""


class Part:
    """Bytes in the store, and how they were told from what was there before."""

    __slots__ = ("array", "pieces", "readonly", "size")

    def __init__(self, size, pieces, readonly=False, array=None):
        self.size, self.pieces, self.readonly = size, pieces, readonly
        # Weakly: whose memory it is.
        self.array = array

    def told(self):
        return {"size": self.size, "keys": [key for _, key in self.pieces], "readonly": self.readonly}


class Group:
    """Variables that are restored together."""

    def __init__(self, names):
        self.names = tuple(sorted(names))
        self.inline = b""
        self.stream = None
        self.buffers = ()
        self.blobs = ()
        self.classes = ()
        self.aliases = frozenset()
        self.reads = frozenset()
        self.cost = 0.0
        self.bytes = 0
        self.libraries = ()
        self.digest = ""

    def told(self):
        """As it stands in a record."""
        return {
            "names": list(self.names),
            "digest": self.digest,
            "bytes": self.bytes,
            "inline": None if self.stream is not None else base64.b64encode(self.inline).decode(),
            "stream": self.stream.told() if self.stream is not None else None,
            "buffers": [part.told() for part in self.buffers],
            "blobs": [part.told() for part in self.blobs],
            "classes": list(self.classes),
            "aliases": sorted({token for token, _ in self.aliases}),
            "libraries": list(self.libraries),
        }


class Limits:
    """What one variable and all of them may take."""

    def __init__(self, told):
        self.variable = told["variable"]
        self.total = told["total"]
        self.held = told["held"]


def save(names, values, views, memory, chunks, limits, before=None, stopped=lambda: False, patient=False, aliases=None):
    """Save these variables as one group. With ``patient`` it writes what finds no room in memory; otherwise NoRoom.

    ``aliases``: by their ids, objects that are attributes of classes too, each with the class's token and the name.
    """
    began = time.thread_time()
    group = Group(names)
    pickler, sink = _pickled(
        {name: values[name] for name in group.names}, views, memory, limits, stopped, aliases=aliases
    )
    stream = b"".join(sink.parts)
    raws = [buffer.raw() for buffer in pickler.buffers]
    group.bytes = len(stream) + sum(raw.nbytes for raw in raws) + sum(blob.size for blob in pickler.blobs)
    if group.bytes > limits.variable * len(group.names):
        raise _objects.TooLarge
    old = before
    room = None if patient else limits.held
    group.buffers = [
        Part(raw.nbytes, chunks.pieces(raw, _earlier(old and old.buffers, number), stopped), raw.readonly)
        for number, raw in enumerate(raws)
    ]
    for number, blob in enumerate(pickler.blobs):
        if not blob.pieces:
            blob.pieces = chunks.pieces(memoryview(blob.data), _earlier(old and old.blobs, number), stopped)
    group.blobs = [Part(blob.size, blob.pieces, array=blob.array) for blob in pickler.blobs]
    if len(stream) > INLINE:
        view = memoryview(stream)
        group.stream = Part(len(stream), chunks.pieces(view, old.stream.pieces if old and old.stream else (), stopped))
        chunks.keep(view, group.stream.pieces, room)
    else:
        group.inline = stream
    for number, raw in enumerate(raws):
        chunks.keep(raw, group.buffers[number].pieces, room)
    for blob in pickler.blobs:
        chunks.keep(memoryview(blob.data), blob.pieces, room)
    if stopped():
        raise _objects.Stopped
    if (by_name := _only_named(stream)) is not None:
        raise pickle.PicklingError(f"{by_name} is kept by its name in the notebook only")
    group.classes = sorted(pickler.classes)
    group.aliases = frozenset((aliases or {}).values())
    group.reads = frozenset(pickler.reads)
    group.libraries = [name for name in LIBRARIES if name.encode() in stream]
    group.digest = _digest(group, stream)
    # Of this thread alone: on a machine at work the clock would make everything dear.
    group.cost = time.thread_time() - began
    return group


def define(token, memory, limits):
    """A class's definition: what it is made from, its attributes, and the other classes in both."""
    kind = memory.classes[token]
    parts, classes, reads = [], set(), set()
    for value in (_classes.skeleton(kind), _classes.state(kind)):
        pickler, sink = _pickled(value, frozenset(), memory, limits, lambda: False, buffers=False)
        parts.append(b"".join(sink.parts))
        classes |= pickler.classes
        reads |= pickler.reads
    digest = hashlib.sha256(b"%d " % len(parts[0]) + b"".join(parts)).hexdigest()
    told = {
        "name": kind.__qualname__,
        "skeleton": base64.b64encode(parts[0]).decode(),
        "state": base64.b64encode(parts[1]).decode(),
        "classes": sorted(classes - {token}),
        "digest": digest,
    }
    return told, reads


def _pickled(value, views, memory, limits, stopped, buffers=True, aliases=None):
    sink = _objects.Sink(limits.variable, stopped)
    if not buffers:
        pickler = _InStream(sink, memory)
    else:
        pickler = (_objects.Aliasing if aliases else _objects.Plain)(sink, memory, views, aliases)
    try:
        pickler.dump(value)
        return pickler, sink
    except (_unsavable.Unsavable, _objects.Stopped, _objects.TooLarge, MemoryError):
        raise
    except Exception:
        sink = _objects.Sink(limits.variable, stopped)
        pickler = _objects.lenient(sink, memory, views, aliases)
        if pickler is None or not buffers:
            raise
        pickler.dump(value)
        return pickler, sink


class _InStream(_objects.Plain):
    """Everything in the stream: definitions of classes are small."""

    apart = False

    def __init__(self, sink, memory):
        pickle.Pickler.__init__(self, sink, protocol=5)
        self.prepare(memory, frozenset())


def _only_named(stream):
    """What a stream refers to by a name of the notebook, which a fresh kernel does not have."""
    if b"__main__" not in stream or len(stream) > _MOST_LOOKED_THROUGH:
        return None
    strings, memo, was_string = [], [], False
    for code, argument, _ in pickletools.genops(stream):
        if code.name == "MEMOIZE":
            memo.append(strings[-1] if was_string else None)
        elif code.name.endswith("BINGET") and memo[argument] is not None:
            strings.append(memo[argument])
        elif code.name == "STACK_GLOBAL" and strings[-2] == "__main__":
            return strings[-1]
        was_string = "UNICODE" in code.name
        if was_string:
            strings.append(argument)
    return None


def _earlier(parts, number):
    return parts[number].pieces if parts and number < len(parts) else ()


def _digest(group, stream):
    parts = [list(group.names), hashlib.sha256(stream).hexdigest(), list(group.classes)]
    parts += [[part.size, part.readonly, [key for _, key in part.pieces]] for part in (*group.buffers, *group.blobs)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
