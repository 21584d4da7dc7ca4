"""What the server asks for, and what happens after each run.

Questions come as ``comm_info_request`` with a key of ours: a request that answers its asker alone, touches neither history
nor counters and fires none of IPython's hooks. They come on the control channel: the newest request on shell gets what
threads print.
"""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import collections
import contextlib
import gc
import os
import platform
import sys
import threading
import time
import uuid
from importlib import metadata

from . import _chunks, _code, _groups, _main_thread, _objects, _restore, _sent_pieces, _sweep, _unsavable

KEY = "hdsp_agent_variables_6"

AT_ONCE = frozenset(("collect", "last", "send", "receive", "drop"))
"""Questions that are answered also while a cell runs, beside the main thread."""
_KEPT_RECORDS = 20
_KEPT_RUNS = 1000
_MOST_SOURCE = 100_000


class RunRecord:
    """One sweep, told when it is complete."""

    def __init__(self, number, run):
        self.number = number
        self.run = run
        self.ts = int(time.time() * 1000)
        self.seconds = 0.0
        self.done = threading.Event()
        self.failure = None
        self.parts = None

    def told(self):
        groups, variables, definitions, assumed = self.parts
        return {
            "groups": [{**group.told(), "assumed": names in assumed} for names, group in groups.items()],
            "variables": variables,
            "classes": definitions,
        }


class RuntimeProtocol:
    """The whole of it, for one kernel."""

    def __init__(self, shell):
        self.shell = shell
        self.life = uuid.uuid4().hex
        self.chunks = _chunks.Chunks()
        self.sent = _sent_pieces.SentPieces(self.chunks)
        self.memory = _objects.Memory(shell.user_ns)
        self.sweeper = _sweep.Sweeper(shell, self.memory, self.chunks)
        self.records = collections.OrderedDict()
        self.runs = collections.deque(maxlen=_KEPT_RUNS)
        self.run = 0
        self.follow = None
        self.trouble = None
        self._finisher = None
        self._touched = set()
        self._seed()
        shell.events.register("pre_run_cell", self.before_run)
        shell.events.register("post_run_cell", self.after_run)

    # ---- IPython's hooks

    def retire(self):
        """Another runtime takes over."""
        self.shell.events.unregister("pre_run_cell", self.before_run)
        self.shell.events.unregister("post_run_cell", self.after_run)

    def before_run(self, info=None):
        self.sweeper.next_cell.set()

    def after_run(self, result=None):
        try:
            self._after_run(result)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- the cell has run, and its person must not see it
            self.trouble = f"{type(error).__name__}: {error}"
            self._touched = None

    def _after_run(self, result):
        info = getattr(result, "info", None)
        source = getattr(info, "raw_cell", None)
        if not isinstance(source, str):
            return
        self._log(source, getattr(info, "cell_id", None), bool(getattr(result, "success", True)))
        if self.follow is not None:
            limits, seconds = self.follow
            record = self._sweep(limits, self._may_have_changed(), seconds)
            self.runs[-1]["sweep"] = record.number

    def _log(self, source, cell, success, count=None):
        facts = _code.facts(source, self.shell.input_transformer_manager.transform_cell)
        self.run += 1
        self.runs.append(
            {
                "run": self.run,
                "cell": cell if isinstance(cell, str) else None,
                "count": count,
                "source": source if len(source) <= _MOST_SOURCE else None,
                "ok": success,
                "reads": sorted(facts.reads),
                "writes": sorted(facts.writes),
                "changes": sorted(facts.changes),
                "effects": sorted(facts.effects),
                "opaque": facts.opaque,
                "ts": int(time.time() * 1000),
            }
        )
        if self._touched is not None:
            if facts.opaque or _unsavable.has_own_threads():
                self._touched = None
            else:
                self._touched |= facts.reads | facts.writes

    def _seed(self):
        """Runs from before anybody looked: IPython knows their sources, and not their cells."""
        for count, source in enumerate(list(self.shell.history_manager.input_hist_raw)):
            if source.strip():
                self._log(source, None, True, count)
        self._touched = None

    def _may_have_changed(self):
        touched, self._touched = self._touched, set()
        if touched is None or _unsavable.has_own_threads():
            return None
        return self.sweeper.reads_of(touched)

    # ---- questions

    def answer(self, asked):
        """One question's answer."""
        return getattr(self, "do_" + asked["do"])(asked)

    def do_nothing(self, asked):
        """It was only to be noticed."""
        return {}

    def do_hello(self, asked):
        """Who and what this kernel is, and whether it sees the store; with no ``probe``, it uses a folder of its own."""
        told = {"life": self.life, "run": self.run, "environment": environment(asked["libraries"])}
        try:
            if asked["probe"] is None:
                told["folder"] = asked["folder"] = self.sent.make()
            else:
                with open(os.path.join(asked["folder"], asked["probe"]), encoding="ascii") as file:
                    told["seen"] = file.read()
        except OSError as error:
            told["unseen"] = error.strerror or str(error)
            return told
        self._use(asked)
        if asked["follow"]:
            self.follow = _groups.Limits(asked["limits"]), asked["seconds"]
        return told

    def do_capture(self, asked):
        """Sweep now."""
        self._wait()
        self._use(asked)
        if not asked["thorough"] and self.records and not self._touched and self._touched is not None:
            record = self.records[next(reversed(self.records))]
            if record.run == self.run and record.failure is None:
                return {"sweep": record.number}
        touched = None if asked["thorough"] else self._may_have_changed()
        if asked["thorough"]:
            self._touched = set()
        return {"sweep": self._sweep(_groups.Limits(asked["limits"]), touched, asked["seconds"]).number}

    def do_collect(self, asked):
        """A sweep's record once all of it is on disk, and the runs since one."""
        record = self.records.get(asked["sweep"])
        if record is None:
            return {"gone": True}
        if not record.done.is_set():
            return {"pending": True}
        if record.failure is not None:
            return {"failed": record.failure}
        told = record.told()
        self.trouble, trouble = None, self.trouble
        told.update(
            sweep=record.number,
            run=record.run,
            ts=record.ts,
            seconds=record.seconds,
            trouble=trouble,
            life=self.life,
            runs=[run for run in list(self.runs) if asked["runs_after"] < run["run"] <= record.run],
        )
        return told

    def do_last(self, asked):
        """What was found after the last run, if that is all there is to know. Nothing is looked at for it."""
        if self.follow is None:
            return {"unknown": True}
        try:
            record = self.records[next(reversed(self.records))]
        except (KeyError, RuntimeError, StopIteration):
            # There is none, or the main thread is just making one.
            return {"pending": True}
        # Its bytes need not be written for it.
        parts = record.parts
        if record.run != self.run and self._touched is None:
            # It could not be looked at after the last run.
            return {"unknown": True}
        if record.run != self.run or (parts is None and not record.done.is_set()):
            return {"pending": True}
        if parts is None or record.failure is not None or self._touched is None or self._touched:
            return {"unknown": True}
        groups, variables, _, _ = parts
        shared = {name: (group.digest, len(names) == 1) for names, group in groups.items() for name in names}
        told = {
            name: {"type": one["type"], "status": one["status"], "number": one["number"]}
            for name, one in variables.items()
        }
        for name, (digest, alone) in shared.items():
            if name in told:
                told[name].update(digest=digest, alone=alone)
        return {"life": self.life, "variables": told}

    def do_restore(self, asked):
        """Go to the state described, as a whole or not at all."""
        self._wait()
        if asked["life"] != self.life or asked["run"] != self.run:
            return {"moved": True}
        self.chunks.folder = asked["folder"]
        self._touched = None
        with self.sweeper.lock, _without_collecting(lasting=True):
            told = _restore.restore(asked, self.sweeper, self.memory, self.chunks)
        return told

    def do_send(self, asked):
        """Pieces of the folder of this kernel's own."""
        return {"pieces": self.sent.read(asked["keys"])}

    def do_receive(self, asked):
        """Pieces that a restore is going to read there."""
        self.sent.write(asked["pieces"])
        return {}

    def do_drop(self, asked):
        """Pieces that are not needed there any more."""
        self.sent.drop(asked["keys"])
        return {}

    # ---- sweeping

    def _use(self, asked):
        if self.chunks.use(asked["folder"], asked["epoch"]) or asked.get("forget"):
            self.chunks.forget()
            with self.sweeper.lock:
                self.sweeper.forget()
            self._touched = None

    def _wait(self):
        if self._finisher is not None:
            self._finisher.join()
            self._finisher = None

    def _sweep(self, limits, touched, seconds):
        self._wait()
        sweeper = self.sweeper
        record = RunRecord(len(self.records) and next(reversed(self.records)) + 1, self.run)
        self.records[record.number] = record
        while len(self.records) > _KEPT_RECORDS:
            self.records.popitem(last=False)
        if self.sent.tidy(limits.total):
            self.chunks.forget()
        if self.chunks.failure is not None:
            self.chunks.use(self.chunks.folder, self.chunks.epoch)
            sweeper.forget()
        sweeper.next_cell.clear()
        began = time.perf_counter()
        try:
            with sweeper.lock, _without_collecting():
                later = sweeper.sweep(limits, touched, seconds)
        except _chunks.NotWritten as error:
            record.failure = str(error)
            record.done.set()
            return record
        except BaseException:
            # Somebody has interrupted it: what it had looked at says nothing.
            sweeper.forget()
            record.failure = "looking at them was interrupted"
            record.done.set()
            raise
        record.seconds = time.perf_counter() - began
        if later:
            values = sweeper.names()
            self._finisher = threading.Thread(
                target=self._finish, args=(record, later, values), name="hdsp-agent-sweep", daemon=True
            )
            self._finisher.start()
        else:
            self._complete(record)
        return record

    def _finish(self, record, later, values):
        try:
            self.sweeper.finish(later, values)
        except Exception as error:  # noqa: BLE001 -- or the server would wait for it in vain
            self.chunks.failure = self.chunks.failure or f"{type(error).__name__}: {error}"
        self._complete(record)

    def _complete(self, record):
        sweeper = self.sweeper
        record.parts = dict(sweeper.groups), sweeper.variables(), dict(sweeper.definitions), set(sweeper.assumed)

        def written():
            record.failure = self.chunks.failure
            record.done.set()

        self.chunks.after(written)


@contextlib.contextmanager
def _without_collecting(lasting=False):
    """Many objects are looked through or made: the collector would only look through them again and again.

    ``lasting``: what is made stays, so it counts as old at once.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
        if lasting and hasattr(gc, "freeze") and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
    finally:
        if collecting:
            gc.enable()


def environment(libraries):
    """What decides whether values can be read here."""
    versions = {name: _version(name) for name in libraries}
    return {
        "implementation": platform.python_implementation(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "libraries": {name: version for name, version in versions.items() if version is not None},
    }


def _version(name):
    version = getattr(sys.modules.get(name), "__version__", None)
    if version is not None:
        return str(version)
    try:
        return metadata.version({"sklearn": "scikit-learn"}.get(name, name))
    except metadata.PackageNotFoundError:
        return None


def install():
    """Answer questions from now on."""
    import IPython

    shell = IPython.get_ipython()
    answers = RuntimeProtocol(shell)

    def answer(asked):
        try:
            return answers.answer(asked)
        except BaseException as error:  # noqa: BLE001 -- a value may raise anything, and is not ours
            return {"error": f"{type(error).__name__}: {error}"}

    # A sweep may take long, and the cells that it looks at the values of must not run meanwhile.
    _main_thread.listen(shell, KEY, answer, lambda asked: asked["do"] in AT_ONCE)
    return answers
