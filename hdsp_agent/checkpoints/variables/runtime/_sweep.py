"""What the variables are now, told with as little work as it takes."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import hashlib
import pickle
import re
import sys
import threading
import time
import types

from . import _chunks, _classes, _groups, _objects, _reachability, _shared_groups, _unsavable

_ATOMS = {int, float, complex, bool, type(None), str, bytes, range, type(Ellipsis)}
_ATOM_BYTES = 4096
_CHEAP = 0.003
_CHEAP_ALL = 0.008
_IPYTHONS = re.compile(r"_+|_i{1,3}|_i?\d+|_[oid]h|__.*__|_exit_code|_VSCODE.*|_jupyterlab_.*|In|Out")
_NOT_THEIRS = (_objects.Stopped, _chunks.StoreFull, _chunks.NotWritten)
"""What says nothing about the variables that were being saved."""
_missing = object()


class Known:
    """A variable as the last sweep saw it."""

    __slots__ = ("group", "number", "reach", "status", "type", "value", "why")

    def __init__(self, value):
        self.number = id(value)
        self.value = _missing
        self.type = type_name(type(value))
        self.reach = None
        self.group = None
        self.status = "saved"
        self.why = None


class Sweeper:
    """Everything known about the variables of one kernel."""

    def __init__(self, shell, memory, chunks):
        self.shell = shell
        self.memory = memory
        self.chunks = chunks
        self.known = {}
        self.groups = {}
        self.definitions = {}
        self.lock = threading.RLock()
        self.next_cell = threading.Event()
        self.limits = None
        self.assumed = set()
        self._used = 0
        self._reads = {}
        self._others = False
        self._attributes = {}

    def forget(self):
        """What was written may be gone: everything is saved again."""
        self.known.clear()
        self.groups.clear()
        self.definitions.clear()
        self.memory.forget_strings()

    def names(self):
        """The names a person would count as theirs."""
        hidden = self.shell.user_ns_hidden
        return {
            name: value
            for name, value in list(self.shell.user_ns.items())
            if isinstance(name, str) and value is not hidden.get(name, _missing) and not _IPYTHONS.fullmatch(name)
        }

    def sweep(self, limits, touched, seconds):
        """Bring ``known`` and ``groups`` up to date; what is left for later is returned.

        ``touched`` are names a cell may have changed, None for any. ``seconds``: how long; None for as long as it takes.
        """
        until = None if seconds is None else time.perf_counter() + seconds
        stopped = _never if until is None else lambda: time.perf_counter() > until
        self.limits = limits
        self.assumed = set()
        # What they change meanwhile might be looked at before and saved after it.
        self._others = self.chunks.careful = _unsavable.has_own_threads()
        self._used = sum(group.bytes for group in self.groups.values())
        values = self.names()
        self._attributes = self._held_by_classes(values)
        for name in [name for name in self.known if name not in values]:
            del self.known[name]
        changed = set()
        for name, value in values.items():
            known = self.known.get(name)
            if known is not None and known.value is not _missing and known.value is value:
                continue
            if known is None or known.number != id(value) or known.value is not _missing:
                changed.add(name)
                self.known[name] = self._seen(name, value)
        stale = [
            names for names in self.groups if changed.intersection(names) or any(name not in values for name in names)
        ]
        for names in stale:
            changed.update(name for name in names if name in values)
        for names in stale:
            self._drop(names)
        walked = set()
        for names, fresh in self._check(values, changed, touched, stopped).items():
            walked.update(names)
            if fresh is None:
                changed.update(names)
            else:
                self._keep(names, fresh)
        self._walk(changed - walked, values, stopped)
        later = self._save(values, changed, stopped, patient=until is None)
        self._define()
        return later

    def finish(self, later, values):
        """Save what the sweep had no time for, until a cell begins."""
        stopped = self.next_cell.is_set
        changed = {name for names in later for name in names}
        with self.lock:
            self.chunks.careful = True
            try:
                self._walk([name for name in changed if self.known[name].reach is None], values, stopped)
                self._save(values, changed, stopped, patient=True, cut=stopped)
            except _objects.Stopped:
                pass
            for name, known in self.known.items():
                if known.status == "pending":
                    self._refuse(name, "skipped", "the next cell began before it could be saved")
            self._define()

    def variables(self):
        """Each name with what became of it."""
        told = {}
        for name, known in self.known.items():
            one = {"type": known.type, "status": known.status, "number": known.number}
            if known.why:
                one["why"] = known.why
            if known.reach is not None and not known.reach.whole:
                one["partial"] = True
            group = self.groups.get(known.group)
            if group is not None and group.reads:
                one["needs"] = sorted(group.reads.intersection(self.known).difference(group.names))
            told[name] = one
        return told

    def reads_of(self, names):
        """These names, and those that functions and methods in them read, and so on."""
        found, todo = set(), list(names)
        while todo:
            name = todo.pop()
            if name in found:
                continue
            found.add(name)
            known = self.known.get(name)
            if known is None:
                continue
            group = self.groups.get(known.group)
            if group is not None:
                todo.extend(group.reads)
                todo.extend(group.names)
                for token in group.classes:
                    todo.extend(self._class_reads(token, set()))
            elif known.status == "live":
                todo.extend(_unsavable.wanted_names(self.shell.user_ns.get(name)))
        return found

    # ---- steps

    def _seen(self, name, value):
        known = Known(value)
        kind = type(value)
        if kind in _ATOMS and (kind not in (str, bytes) or len(value) < _ATOM_BYTES):
            if not (kind is int and value.bit_length() > _ATOM_BYTES * 8):
                known.value = value
                known.group = (name,)
        elif _is_module(value):
            known.status = "module"
            known.why = value.__name__
        return known

    def _check(self, values, changed, touched, stopped):
        """Look whether what kept its names and objects holds the same: those that do not, with what they hold now.

        What holds other objects than before, what there was no time for, and what cannot be saved any more, holds None.
        """
        found = {}
        spent = 0.0
        for names, group in sorted(self.groups.items(), key=lambda item: item[1].cost):
            if self.known[names[0]].value is not _missing:
                continue
            if self._aliases(names) != group.aliases:
                # A class holds another part of it than before, or it another part of a class.
                self._walk(names, values, stopped)
                found[names] = None if stopped() else self._now(names, values)
                continue
            spent += group.cost
            light = group.cost < _CHEAP and spent < _CHEAP_ALL
            if touched is not None and not light and not touched.intersection(names):
                self.assumed.add(names)
                continue
            moved, same = self._walk(names, values, stopped)
            if same:
                continue
            now = None if moved or stopped() else self._now(names, values)
            if now is None or now.digest != group.digest:
                found[names] = now
            else:
                self.groups[names] = now
        for name, known in self.known.items():
            unsaved = known.group is None and known.status != "module" and name not in changed
            if unsaved and (touched is None or name in touched or known.status in ("skipped", "pending")):
                changed.add(name)
        return found

    def _now(self, names, values):
        try:
            return self._group(names, values, _never, patient=False)
        except Exception:  # noqa: BLE001 -- it is saved, or refused with the reason, in its turn
            return None

    def _walk(self, names, values, stopped):
        """Look anew at what these reach.

        Whether anything in that is another than before, or not known for want of time; and whether for certain nothing is.
        """
        moved, same = False, not self._others
        found = {}
        for name in names:
            known = self.known[name]
            if known.value is not _missing or known.status == "module":
                continue
            before = known.reach
            if known.number not in found:
                now = None if stopped() else _reachability.reach(values[name], self.shell.user_ns, stopped, before)
                is_moved = before is None or now is None or before != now
                is_same = not is_moved and now.is_same(before)
                if is_same:
                    now = before
                elif not is_moved:
                    now.keep_ids(before)
                found[known.number] = now, is_moved, is_same
            known.reach, is_moved, is_same = found[known.number]
            moved, same = moved or is_moved, same and is_same
        return moved, same

    def _save(self, values, changed, stopped, patient, cut=None):
        """Group anew what changed, and save it. ``stopped`` lets no other group begin, ``cut`` ends one that has begun."""
        for name in changed:
            self._drop(self.known[name].group)
        later = []
        for names in self._memberships(changed):
            if names in self.groups and self.known[names[0]].group == names:
                continue
            for name in names:
                if self.known[name].group != names:
                    self._drop(self.known[name].group)
            if not self._save_now(names, values, stopped, patient, cut):
                self._refuse_all(names, "pending", None)
                later.append(names)
        for names in [names for names in self.groups if any(self.known[name].group != names for name in names)]:
            self._drop(names)
        return later

    def _save_now(self, names, values, stopped, patient, cut):
        """Save a group if there is the time and the room for it."""
        if stopped() or any(self._is_unknown(name) for name in names):
            return False
        try:
            self._save_group(names, values, cut or _never, patient)
            return True
        except _chunks.StoreFull:
            return False
        except _objects.Stopped:
            self._refuse_all(names, "pending", None)
            raise

    def _is_unknown(self, name):
        """Whether there was no time to look at what it reaches."""
        known = self.known[name]
        return known.reach is None and known.value is _missing and known.status != "module"

    def _memberships(self, changed):
        """Names that share an object, as sorted tuples; those that cannot be saved only when they have changed."""
        if all(self.known[name].value is not _missing for name in changed if self.known[name].status != "module"):
            # What cannot change shares nothing.
            return [(name,) for name in changed if self.known[name].status != "module"]
        return _shared_groups.together(self.known, self.groups, changed)

    def _save_group(self, names, values, stopped, patient):
        try:
            self._keep(names, self._group(names, values, stopped, patient))
        except _NOT_THEIRS:
            raise
        except Exception as error:  # noqa: BLE001 -- a value may raise anything, and is not ours
            if len(names) == 1:
                self._refuse(names[0], *_reason(error, self.limits))
                return
            self._save_what_can_be(names, values, stopped, patient)

    def _save_what_can_be(self, names, values, stopped, patient):
        """One bad variable must not spoil those that share something with it."""
        good = []
        for name in names:
            try:
                self._group((name,), values, stopped, patient)
                good.append(name)
            except _NOT_THEIRS:
                raise
            except Exception as error:  # noqa: BLE001 -- a value may raise anything, and is not ours
                self._refuse(name, *_reason(error, self.limits))
        if good and len(good) < len(names):
            self._save_group(tuple(good), values, stopped, patient)
        elif good:
            self._refuse_all(names, "too_large", "together with what it shares objects with it is too large")

    def _group(self, names, values, stopped, patient):
        known = self.known[names[0]]
        if known.value is not _missing:
            return _atom(names[0], known.value)
        arrays, seen = {}, {}
        for name in names:
            reach = self.known[name].reach
            if reach is not None:
                arrays.update(reach.arrays)
        for owning in arrays.values():
            seen[owning] = seen.get(owning, 0) + 1
        views = frozenset(one for one, owning in arrays.items() if one != owning and seen[owning] > 1)
        part = {name: values[name] for name in names}
        aliases = self._aliases(names)
        held = {number: at for number, at in self._attributes.items() if at in aliases}
        return _groups.save(
            names, part, views, self.memory, self.chunks, self.limits, self.groups.get(names), stopped, patient, held
        )

    def _held_by_classes(self, values):
        """What classes of the notebook hold that variables may hold too, by id: the class's token and the attribute's name."""
        found = {}
        for kind in values.values():
            if issubclass(type(kind), type) and not _objects.importable(kind):
                for name, one in _classes.shareable(kind, _reachability.is_alone).items():
                    found[id(one)] = (self.memory.token(kind), name)
        return found

    def _aliases(self, names):
        """Which attributes of classes these variables hold, of classes that can be saved."""
        if not self._attributes:
            return frozenset()
        found = set()
        for name in names:
            reach = self.known[name].reach
            if reach is not None:
                found |= reach.owners_in(self._attributes)
        return frozenset(at for at in found if self._can_define(at[0]))

    def _can_define(self, token):
        try:
            _groups.define(token, self.memory, self.limits)
        except Exception:  # noqa: BLE001 -- a value may raise anything, and is not ours
            return False
        return True

    def _drop(self, names):
        group = self.groups.pop(names, None)
        if group is not None:
            self._used -= group.bytes

    def _keep(self, names, group):
        before = self.groups.get(names)
        used = self._used + group.bytes - (before.bytes if before is not None else 0)
        if used > self.limits.total:
            self._refuse_all(names, "too_large", "all variables together are larger than what may be saved")
            return
        self._used = used
        self.groups[names] = group
        for name in names:
            known = self.known[name]
            known.group, known.status, known.why = names, "saved", None

    def _refuse_all(self, names, status, why):
        for name in names:
            self._refuse(name, status, why)

    def _refuse(self, name, status, why):
        known = self.known[name]
        self._drop(known.group)
        known.group, known.status, known.why = None, status, why

    def _define(self):
        """The definitions of all classes that saved values need; values of a class without one are refused."""
        self.definitions, self._reads, refused = {}, {}, {}
        todo = {token for group in self.groups.values() for token in group.classes}
        while todo:
            token = todo.pop()
            if token in self.definitions or token in refused:
                continue
            try:
                self.definitions[token], self._reads[token] = _groups.define(token, self.memory, self.limits)
                todo.update(self.definitions[token]["classes"])
            except Exception as error:  # noqa: BLE001 -- a value may raise anything, and is not ours
                refused[token] = _reason(error, self.limits)
        for names, group in list(self.groups.items()):
            for token in self._all_classes(group.classes, refused):
                if token in refused:
                    why = "its class {} cannot be saved: {}".format(token.partition(" ")[0], refused[token][1])
                    for name in names:
                        self._refuse(name, "failed", why)
                    break

    def _all_classes(self, tokens, refused):
        found, todo = set(), list(tokens)
        while todo:
            token = todo.pop()
            if token not in found:
                found.add(token)
                if token in self.definitions:
                    todo.extend(self.definitions[token]["classes"])
        return found

    def _class_reads(self, token, seen):
        if token in seen:
            return set()
        seen.add(token)
        found = set(self._reads.get(token, ()))
        for other in self.definitions.get(token, {}).get("classes", ()):
            found |= self._class_reads(other, seen)
        return found


def _never():
    return False


def _atom(name, value):
    group = _groups.Group((name,))
    group.inline = pickle.dumps({name: value}, 5)
    group.bytes = len(group.inline)
    group.digest = hashlib.sha256(group.inline).hexdigest()
    return group


def _reason(error, limits):
    if isinstance(error, _unsavable.Unsavable):
        return "live", f"it holds {error.args[0]}"
    if isinstance(error, _objects.TooLarge):
        return "too_large", f"it is larger than the {limits.variable // 1_000_000} MB a variable may have"
    if isinstance(error, _chunks.ChangedMeanwhile):
        return "failed", "a thread changed it while it was saved"
    if isinstance(error, MemoryError):
        return "too_large", "there is not enough memory to save it"
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 -- as above
        text = type(error).__name__
    return "failed", text[:300]


def _is_module(value):
    return issubclass(type(value), types.ModuleType) and sys.modules.get(value.__name__) is value


def type_name(kind):
    """A type as a person would name it."""
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"
