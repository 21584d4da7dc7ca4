"""Looks at a kernel's variables from inside. This text is sent to the kernel and runs there, under any Python since 3.8.

It lives in ``sys.modules`` only. Questions come as ``comm_info_request`` on the control channel, with a key of ours in
them: a request that answers its asker alone, that is heard while a cell runs, that touches neither history nor counters,
that fires none of IPython's hooks, that neither Jupyter Server nor JupyterLab takes for the kernel's being busy, and that
leaves what threads print with the cell that they print for.
"""
# mypy: ignore-errors
# It looks at values of any kind, in another Python than ours.

import builtins
import contextvars
import ctypes
import datetime
import decimal
import itertools
import re
import reprlib
import sys
import threading
import time
import types
import uuid

KEY = "hdsp_agent"
_PLAIN = (bool, int, float, complex, type(None))
_CELL = 120
"""Characters of one value in a table."""
_MOST_COUNTED = 1_000_000
"""Rows. Of more only the missing numbers are counted: texts take long, and the kernel does nothing else then."""
_RELATIONS = {("duckdb", "DuckDBPyRelation"), ("_duckdb", "DuckDBPyRelation")}
_QUERIES = _RELATIONS | {
    *((package, "DataFrame") for package in ("pyspark", "bigframes", "datafusion")),
    *((package, "Series") for package in ("pyspark", "bigframes")),
    ("ibis", "Expr"),
    ("django", "QuerySet"),
    ("sql", "ResultSet"),
}
"""Their repr runs them, or fetches rows."""
_ADDRESSES = {("sqlalchemy", "URL"), ("sqlalchemy", "Engine"), ("sqlalchemy", "AsyncEngine")}
"""Their repr hides the password, but not what the address has for parameters."""
_PASSWORD = re.compile(r"(://[^\s/:\[]*:)(?!\d{1,5}(?:[/?#,;)\]}\s'\"]|\Z))(?:\S*(@)|\S*?(\.{3}|…))")
"""Up to the last ``@``, or to where others have cut the text. Behind a port comes none."""
_BEYOND = 1000
"""Characters after the last one shown that are looked through: a password may end there."""
_SHORT_FAMILIES = {("numpy", "generic"), ("pandas", "Interval"), ("pandas", "Period")}
_SHORT = (bool, int, float, complex, datetime.date, datetime.timedelta, decimal.Decimal, uuid.UUID)
_missing = object()


def install():
    """Answer questions from now on."""
    import IPython

    shell = IPython.get_ipython()
    kernel = shell.kernel
    before = kernel.control_handlers.get("comm_info_request")
    before = getattr(before, "hdsp_agent_before", before)

    def comm_info_request(stream, ident, parent):
        asked = parent["content"].get(KEY)
        if asked is None:
            return before(stream, ident, parent) if before is not None else None

        def reply(told):
            kernel.session.send(stream, "comm_info_reply", {"status": "ok", "comms": {}, KEY: told}, parent, ident)

        if "databases" in asked:

            def send(told):
                (kernel.control_thread or kernel).io_loop.add_callback(reply, told)

            databases = sys.modules["_hdsp_agent_databases"]
            return databases.answer(kernel, shell, asked["databases"], lambda: _print_for(shell, parent), send)

        if "widget" in asked:

            def set_widget():
                _print_for(shell, parent)
                try:
                    told = _set_widget(kernel, **asked["widget"])
                except Exception as error:  # noqa: BLE001 -- as below
                    told = {"error": _said(error)}
                (kernel.control_thread or kernel).io_loop.add_callback(reply, told)

            # As a page's message would be, when the main thread has time; but what threads print stays where it was.
            return kernel.io_loop.add_callback(set_widget)

        def work():
            _print_for(shell, parent)
            try:
                told = (table if "table" in asked else report)(asked)
            except BaseException as error:  # noqa: BLE001 -- a value may raise anything, and is not ours
                told = {"error": _said(error)}
            (kernel.control_thread or kernel).io_loop.add_callback(reply, told)

        # The control channel has to stay free for interruptions.
        threading.Thread(target=contextvars.Context().run, args=(work,), name="hdsp-agent-probe", daemon=True).start()

    comm_info_request.hdsp_agent_before = before
    kernel.control_handlers["comm_info_request"] = comm_info_request
    return True


def _set_widget(kernel, comm_id, outputs, append):
    """Set an output widget's outputs as a page does; with ``append``, after those that it has."""
    told = kernel.comm_manager.get_comm(comm_id)._msg_callback
    base = list(told.__self__.outputs)
    state = {"outputs": base + outputs if append else outputs}
    content = {"comm_id": comm_id, "data": {"method": "update", "state": state, "buffer_paths": []}}
    told({"content": content, "buffers": []})
    return {"base": base}


def _print_for(shell, parent):
    """In this context what is printed or shown belongs to the question, which nobody shows."""
    for one in (sys.stdout, sys.stderr, shell, shell.displayhook, shell.display_pub):
        header = getattr(one, "_parent_header", None)
        if isinstance(header, contextvars.ContextVar):
            header.set(parent if one is shell else parent["header"])


def report(asked):
    """What was asked for: the variables named, or all a person would count as theirs."""
    import IPython

    shell = IPython.get_ipython()
    until = time.monotonic() + asked["seconds"]
    values = {name: value for name, value in dict(shell.user_ns).items() if type(name) is str}
    names = asked.get("names")
    if names is None:
        hidden = shell.user_ns_hidden
        names = [name for name, value in values.items() if _theirs(name, value, hidden)]
        names.reverse()
    told, missing = [], []
    for name in names:
        if len(told) >= asked["most"] or time.monotonic() > until:
            break
        value = values.get(name, _missing)
        if value is _missing:
            missing.append(name)
            continue
        told.append(_within(min(asked["each"], max(0.05, until - time.monotonic())), name, value, asked))
        if asked.get("names") is not None and sys.modules["_hdsp_agent_database_kinds"].is_connection(value):
            told[-1]["is_database"] = True
    seen = {one["name"] for one in told}.union(missing)
    return {"variables": told, "missing": missing, "unseen": [name for name in names if name not in seen][:1000]}


def table(asked):
    """A part of one variable as a table: rows from one on, columns with their types and how many values they lack."""
    import IPython

    name = asked["table"]
    value = IPython.get_ipython().user_ns.get(name, _missing)
    if value is _missing:
        return {"gone": True}
    return _within(asked["seconds"], name, value, asked, _table)


def _theirs(name, value, hidden):
    # By its type, not by isinstance: that asks the value, and a lazy proxy would load what it stands for.
    kind = type(value)
    if name.startswith("_") or value is hidden.get(name, _missing) or issubclass(kind, types.ModuleType):
        return False
    if issubclass(kind, type):
        return _of_type(value, "__module__") == "__main__"
    if issubclass(kind, (types.FunctionType, types.BuiltinFunctionType)):
        return getattr(value, "__module__", None) == "__main__"
    return True


def _within(seconds, name, value, asked, describe=None):
    """Describe it in a thread of its own, and give up on what takes too long."""
    kind = type(value)
    found = {"name": name, "type": _type_name(kind)}
    if kind in _PLAIN:
        found.update(_plain(value))
        return found
    described, ended = {}, []

    def work():
        try:
            (describe or _describe)(value, kind, asked, described)
        except BaseException as error:  # noqa: BLE001 -- as above
            described["error"] = _said(error)
        ended.append(True)

    # In this context what a repr prints belongs to the question, which nobody shows.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    thread.join(seconds)
    # What it found until then is told.
    found.update(dict(described))
    if not ended:
        found["error"] = f"looking at it took more than {seconds:.1f} s"
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(TimeoutError))
    return found


def _families(kind):
    return sys.modules["_hdsp_agent_database_kinds"].families_of_type(kind)


def _of_type(kind, name):
    return sys.modules["_hdsp_agent_database_kinds"].of_type(kind, name)


def _unasked(value, families):
    """How a value is shown that is not asked for its repr, or that tells too much there; None of all others."""
    if families & _QUERIES and not issubclass(type(value), list):
        return object.__repr__(value)
    if families & _ADDRESSES:
        shown = re.sub(r"\?[^)\s]*", "?…", repr(value))
        return sys.modules["_hdsp_agent_database_kinds"].FoundDatabase().without_secrets(shown)
    return None


def _describe(value, kind, asked, found):
    families = _families(kind)
    most = asked["head"]
    unasked = None if families & _RELATIONS else _unasked(value, families)
    if unasked is not None:
        found["head"] = _short(unasked, most)
    elif ("pandas", "DataFrame") in families:
        _frame(value, asked, found)
    elif ("pandas", "Series") in families:
        found.update(shape=list(value.shape), dtype=str(value.dtype), memory=int(value.memory_usage(deep=False)))
        found["head"] = _short(value.head(asked["rows"]).to_string(), most)
    elif ("polars", "DataFrame") in families:
        found.update(shape=list(value.shape), memory=int(value.estimated_size()))
        found["columns"] = [
            [_short(name, _CELL), _short(dtype, _CELL)]
            for name, dtype in itertools.islice(value.schema.items(), asked["columns"])
        ]
        found["head"] = _short(str(value.head(asked["rows"])), most)
    elif families & _RELATIONS:
        kinds = sys.modules["_hdsp_agent_database_kinds"]
        columns = itertools.islice(zip(value.columns, value.types), asked["columns"])  # noqa: B905 -- not in Python 3.8
        found["columns"] = [
            [_short(name, _CELL), _short(kinds.without_values(str(kind)), _CELL)] for name, kind in columns
        ]
    elif ("numpy", "ndarray") in families:
        found.update(shape=list(value.shape), dtype=str(value.dtype), memory=int(value.nbytes))
        found["head"] = _short(repr(list(value.flat[: asked["items"]])), most)
    elif issubclass(kind, (str, bytes, bytearray)):
        found.update(length=len(value), memory=sys.getsizeof(value), head=_short(repr(value[: most + _BEYOND]), most))
    elif issubclass(kind, dict):
        # Not value.items(): a subclass may make it do anything.
        items = itertools.islice(dict.items(value), asked["items"])
        head = ", ".join(f"{_brief(key)}: {_brief(item)}" for key, item in items)
        _container(value, ("{", "}"), head, dict.__len__(value), asked, found)
    elif issubclass(kind, (list, tuple, set, frozenset)):
        base = next(one for one in (list, tuple, set, frozenset) if issubclass(kind, one))
        head = ", ".join(_brief(item) for item in itertools.islice(base.__iter__(value), asked["items"]))
        around = {list: ("[", "]"), tuple: ("(", ")")}.get(base, ("{", "}"))
        _container(value, around, head, base.__len__(value), asked, found)
    elif issubclass(kind, (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)):
        found["head"] = _short(object.__repr__(value), most)
    elif isinstance(value, type) or (callable(value) and isinstance(value, types.FunctionType)):
        found["head"] = _short(_signature(value), most)
    else:
        _arraylike(value, kind, found)
        found["memory"] = found.get("memory") or sys.getsizeof(value)
        found["head"] = _short(repr(value), most)


def _frame(value, asked, found):
    found.update(shape=list(value.shape), memory=int(value.memory_usage(deep=False).sum()))
    columns = list(itertools.islice(value.dtypes.items(), asked["columns"]))
    found["columns"] = [[_short(name, _CELL), _short(dtype, _CELL)] for name, dtype in columns]
    found["has_text_columns"] = all(isinstance(name, str) and len(name) <= _CELL for name, _ in columns)
    part = value.iloc[: asked["rows"], : asked["columns"]]
    found["head"] = _short(part.to_string(max_colwidth=40), asked["head"])


def _table(value, kind, asked, found):
    families = _families(kind)
    if _unasked(value, families) is not None:
        # An address is a tuple, with its password in it.
        return _describe(value, kind, asked, found)
    start, rows, columns = asked["start"], asked["rows"], asked["columns"]
    until = time.monotonic() + asked["seconds"] / 2
    if families & {("pandas", "DataFrame"), ("pandas", "Series")}:
        _pandas_table(value, ("pandas", "Series") in families, asked, until, found)
    elif families & {("polars", "DataFrame"), ("polars", "Series")}:
        frame = value if ("polars", "DataFrame") in families else value.to_frame()
        part = frame[:, :columns]
        lines = [[_cell(one) for one in row] for row in part.slice(start, rows).rows()]
        fields = [
            [_short(one, _CELL), _short(part[one].dtype, _CELL), int(part[one].null_count())] for one in part.columns
        ]
        found.update(shape=list(frame.shape), fields=fields, rows=lines, index=_numbers(start, lines))
    elif ("numpy", "ndarray") in families and value.ndim in (1, 2) and value.dtype.names is None:
        part = value[start : start + rows] if value.ndim == 1 else value[start : start + rows, :columns]
        # Moments are numbers to tolist().
        items = (part.astype(str) if value.dtype.kind in "mM" else part).tolist()
        lines = [[_cell(one) for one in (row if value.ndim == 2 else [row])] for row in items]
        names = [""] if value.ndim == 1 else [str(at) for at in range(part.shape[1])]
        fields = [[name, str(value.dtype), 0] for name in names]
        found.update(shape=list(value.shape), fields=fields, rows=lines, index=_numbers(start, lines))
    elif issubclass(kind, dict):
        items = list(itertools.islice(dict.items(value), start, start + rows))
        lines = [[_brief(item)] for _, item in items]
        found.update(
            length=dict.__len__(value), fields=[["", "", 0]], rows=lines, index=[_brief(key) for key, _ in items]
        )
    elif issubclass(kind, (list, tuple)):
        base = list if issubclass(kind, list) else tuple
        lines = [[_brief(item)] for item in base.__getitem__(value, slice(start, start + rows))]
        found.update(length=base.__len__(value), fields=[["", "", 0]], rows=lines, index=_numbers(start, lines))
    else:
        _describe(value, kind, asked, found)


def _pandas_table(value, is_series, asked, until, found):
    start, rows = asked["start"], asked["rows"]
    part = value.iloc[start : start + rows]
    if is_series:
        names, dtypes, columns = ["" if value.name is None else value.name], [value.dtype], [value]
        part = part.to_frame()
    else:
        part = part.iloc[:, : asked["columns"]]
        names, dtypes = list(part.columns), list(part.dtypes)
        columns = [value.iloc[:, at] for at in range(len(names))]
    fields = [[_short(name, _CELL), _short(dtypes[at], _CELL), None] for at, name in enumerate(names)]
    lacks = part.isna().to_numpy()
    lines = [
        [None if lacks[line, at] else _cell(one) for at, one in enumerate(row)]
        for line, row in enumerate(part.itertuples(index=False, name=None))
    ]
    found.update(shape=list(value.shape), fields=fields, rows=lines, index=[_short(one, _CELL) for one in part.index])
    # Last: it may take long.
    for at, column in enumerate(columns):
        if time.monotonic() > until:
            break
        if len(value) <= _MOST_COUNTED or getattr(dtypes[at], "kind", "O") in "biufcmM":
            fields[at][2] = int(column.isna().sum())


def _numbers(start, lines):
    return [str(start + line) for line in range(len(lines))]


def _cell(value):
    """One value of a table; None for one that is not there. It may raise anything."""
    try:
        if value is None:
            return None
        if isinstance(value, str):
            return _short(str.__getitem__(value, slice(_CELL + _BEYOND)), _CELL)
        # Others may hold more than anybody looks at.
        is_short = isinstance(value, _SHORT) or _families(type(value)) & _SHORT_FAMILIES
        return _short(str(value) if is_short else _brief(value), _CELL)
    except Exception as error:  # noqa: BLE001 -- the others are shown
        return f"<{_said(error)}>"


def _arraylike(value, kind, found):
    """What has a shape and a dtype by its type: tensors, sparse and lazy arrays."""
    if not (hasattr(kind, "shape") and hasattr(kind, "dtype")):
        return
    shape = value.shape
    found["shape"] = [int(one) if isinstance(one, int) else None for one in tuple(shape)]
    found["dtype"] = str(value.dtype)
    if hasattr(kind, "nbytes"):
        found["memory"] = int(value.nbytes)
    if hasattr(kind, "device"):
        found["device"] = str(value.device)


def _container(value, around, head, length, asked, found):
    found.update(length=length, memory=sys.getsizeof(value))
    found["head"] = _short(around[0] + head + (", …" if length > asked["items"] else "") + around[1], asked["head"])


def _plain(value):
    if type(value) is int and value.bit_length() > 1000:
        return {"head": f"an integer of {value.bit_length()} bits", "memory": sys.getsizeof(value)}
    return {"head": repr(value)}


def _signature(value):
    import inspect

    try:
        return f"{value.__qualname__}{inspect.signature(value)}"
    except (TypeError, ValueError):
        return value.__qualname__


def _type_name(kind):
    module, name = _of_type(kind, "__module__"), _of_type(kind, "__qualname__")
    return f"{module}.{name}" if type(module) is str and module not in ("builtins", "__main__") else name


class _Reprs(reprlib.Repr):
    def repr1(self, value, level):
        unasked = _unasked(value, _families(type(value)))
        return super().repr1(value, level) if unasked is None else unasked

    def repr_str(self, value, level):
        return _short(repr(value[: _CELL + _BEYOND]), _CELL)

    def repr_instance(self, value, level):
        # The end is not kept, as the base would: a password is found only before anything is cut.
        try:
            return _short(repr(value), _CELL)
        except Exception:  # noqa: BLE001 -- the others are shown
            return object.__repr__(value)


_brief = _Reprs().repr


def _short(text, most):
    text = _PASSWORD.sub(r"\1***\2\3", builtins.str(text)[: most + _BEYOND])
    secretive = sys.modules["_hdsp_agent_database_kinds"].SECRETIVE
    text = re.sub(r"([?&]" + secretive + r"=)[^&#\s'\"]*", r"\1***", text)
    text = text if len(text) <= most else text[:most] + "…"
    # Half a pair of surrogates is no text for others.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _said(error):
    try:
        return _short(f"{type(error).__name__}: {error}", 300)
    except BaseException:  # noqa: BLE001 -- as above
        return type(error).__name__
