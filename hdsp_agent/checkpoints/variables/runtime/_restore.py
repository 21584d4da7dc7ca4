"""Going to a state: everything is read first, and then put in place at once."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import base64
import contextlib
import importlib
import signal
import threading

from . import _chunks, _classes, _groups, _objects, _reused_arrays


class _Failed(Exception):
    """What could not be read, and why."""


def restore(asked, sweeper, memory, chunks):
    """Load groups, remove names, import modules; nothing is changed unless all of it can be."""
    values, loading = {}, _objects.Loading(memory, None, _definitions(asked["classes"], sweeper, memory))
    before = []
    near = _Near(sweeper.groups, chunks)
    going = {name for group in asked["groups"] for name in group["names"]}.difference(asked["keep"])
    reusable = _reused_arrays.Reusable(sweeper, chunks, going.union(asked["remove"]))
    try:
        # First: what is loaded may ask its class for what it is made of.
        for token, found in loading.classes.items():
            if found["changed"]:
                _during([found["name"]], lambda token=token: _classes.class_of(token, loading, _objects.load))
        _during([kind.__qualname__ for kind, _ in loading.states], lambda: _set(loading.states, before))
        for group in asked["groups"]:
            _during(group["names"], lambda group=group: values.update(_load(group, chunks, near, reusable, loading)))
        for name, module in asked["modules"].items():
            _during([name], lambda name=name, module=module: values.update({name: importlib.import_module(module)}))
        for name in asked["keep"]:
            values.pop(name, None)
        with _uninterrupted():
            reusable.write()
            _put(sweeper.shell.user_ns, asked["remove"], values)
    except BaseException as failed:
        with _uninterrupted():
            for kind, attributes in before:
                _classes.apply(kind, attributes)
        if not isinstance(failed, _Failed):
            raise
        names, why = failed.args
        return {"failed": why, "names": names}
    for token, kind in loading.made.items():
        memory.know(token, kind)
    return {"loaded": sorted(values), "removed": asked["remove"]}


@contextlib.contextmanager
def _uninterrupted():
    """Whoever presses stop now stops nothing: it is too late, or it is being undone."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        # Not Python's to set, or not felt here.
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _put(space, removed, values):
    for name in removed:
        space.pop(name, None)
    space.update(values)


def _during(names, work):
    try:
        work()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise _Failed(list(names), why[:500]) from error


def _definitions(told, sweeper, memory):
    found = {}
    for token, one in told.items():
        changed = False
        if token in memory.classes:
            try:
                now, _ = _groups.define(token, memory, sweeper.limits)
                changed = now["digest"] != one["digest"]
            except Exception:  # noqa: BLE001 -- it cannot be told, so it is set to what it was
                changed = True
        found[token] = {
            "name": one["name"],
            "changed": changed,
            "skeleton": base64.b64decode(one["skeleton"]),
            "state": base64.b64decode(one["state"]),
        }
    return found


def _load(group, chunks, near, reusable, loading):
    stream = group["stream"]
    data = chunks.read(stream["keys"], stream["size"]) if stream else base64.b64decode(group["inline"])
    buffers = [
        memoryview(whole).toreadonly() if part["readonly"] else whole
        for part in group["buffers"]
        for whole in [chunks.read(part["keys"], part["size"])]
    ]
    # The code of a class of the notebook may change what it is given, and be followed by a failure.
    blobs = _Blobs(group["blobs"], chunks, near, None if group["classes"] else reusable)
    return _objects.load(data, buffers, blobs, loading)


class _Blobs:
    """Read when they are asked for, into the memory where they belong."""

    def __init__(self, parts, chunks, near, reusable):
        self._parts, self._chunks, self._near, self._reusable = parts, chunks, near, reusable

    def keys(self, number):
        return self._parts[number]["keys"]

    def read(self, number, into=None):
        part = self._parts[number]
        return self._chunks.read(part["keys"], part["size"], into, self._near.copy)

    def array(self, number, dtype, shape, order, writeable):
        """The array itself, where it can stay; None otherwise."""
        if self._reusable is None:
            return None
        part = self._parts[number]
        return self._reusable.take(part["keys"], part["size"], dtype, shape, order, writeable, self._chunks.read)

    def make_anew(self):
        """From here on no array stays where it is."""
        self._reusable = None


class _Near:
    """Pieces that arrays hold in memory now, as they were found when they were last looked at: copied, they need not be read."""

    def __init__(self, groups, chunks):
        self._mark = chunks.mark
        self._found = {
            key: (mark, part.array, number * _chunks.SIZE)
            for group in groups.values()
            for part in group.blobs
            if part.array is not None
            for number, (mark, key) in enumerate(part.pieces)
            if mark is not None
        }

    def copy(self, key, piece):
        """Fill a piece, if it can be; False where its bytes have to come from the store."""
        mark, array, start = self._found.get(key, (None, None, 0))
        value = None if array is None else array()
        if value is None:
            return False
        data = memoryview(_objects.flat(value))[start : start + piece.nbytes]
        if data.nbytes != piece.nbytes:
            return False
        piece[:] = data
        # Of the copy: what a thread has changed since is not what it was.
        return self._mark(piece) == mark


def _set(states, before):
    """Set what changed in classes that are there, and note what they were."""
    for kind, attributes in states:
        before.append((kind, _classes.state(kind)))
        _classes.apply(kind, attributes)
