"""Going to a state: everything is read first, and then put in place at once."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import base64
import importlib

from . import _classes, _groups, _objects


class _Failed(Exception):
    """What could not be read, and why."""


def restore(asked, sweeper, memory, chunks):
    """Load groups, remove names, import modules; nothing is changed unless all of it can be."""
    values, loading = {}, _objects.Loading(memory, None, _definitions(asked["classes"], sweeper, memory))
    before = []
    try:
        # First: what is loaded may ask its class for what it is made of.
        for token, found in loading.classes.items():
            if found["changed"]:
                _during([found["name"]], lambda token=token: _classes.class_of(token, loading, _objects.load))
        _during([kind.__qualname__ for kind, _ in loading.states], lambda: _set(loading.states, before))
        for group in asked["groups"]:
            _during(group["names"], lambda group=group: values.update(_load(group, chunks, loading)))
        for name, module in asked["modules"].items():
            _during([name], lambda name=name, module=module: values.update({name: importlib.import_module(module)}))
    except _Failed as failed:
        for kind, attributes in before:
            _classes.apply(kind, attributes)
        names, why = failed.args
        return {"failed": why, "names": names}
    space = sweeper.shell.user_ns
    for name in asked["remove"]:
        space.pop(name, None)
    space.update(values)
    for token, kind in loading.made.items():
        memory.know(token, kind)
    return {"loaded": sorted(values), "removed": asked["remove"]}


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


def _load(group, chunks, loading):
    stream = group["stream"]
    data = chunks.read(stream["keys"], stream["size"]) if stream else base64.b64decode(group["inline"])
    buffers = [
        memoryview(whole).toreadonly() if part["readonly"] else whole
        for part in group["buffers"]
        for whole in [chunks.read(part["keys"], part["size"])]
    ]
    blobs = [chunks.read(part["keys"], part["size"]) for part in group["blobs"]]
    return _objects.load(data, buffers, blobs, loading)


def _set(states, before):
    """Set what changed in classes that are there, and note what they were."""
    for kind, attributes in states:
        before.append((kind, _classes.state(kind)))
        _classes.apply(kind, attributes)
