"""What a cell's code reads, writes and does to the world, as far as its text tells."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import ast

_OPAQUE = {"exec", "eval", "globals", "locals", "vars", "get_ipython", "setattr", "delattr", "__import__", "sys", "gc",
           "inspect", "ctypes", "importlib", "__main__"}  # fmt: skip
_EFFECTS = {
    "files": {"open", "write", "write_text", "write_bytes", "to_csv", "to_parquet", "to_excel", "to_json", "to_pickle",
              "to_hdf", "to_feather", "savefig", "save", "savez", "savetxt", "dump", "remove", "unlink", "rename",
              "replace_file", "rmtree", "mkdir", "makedirs", "copyfile", "copy2", "copytree", "move", "rmdir",
              "touch", "symlink", "chmod", "truncate", "extractall", "memmap", "NamedTemporaryFile", "mkdtemp"},
    "network": {"requests", "urllib", "urlopen", "httpx", "aiohttp", "socket", "boto3", "urlretrieve", "smtplib",
                "ftplib", "paramiko", "websocket", "websockets", "openai", "anthropic", "gcsfs", "s3fs"},
    "database": {"sqlite3", "connect", "execute", "executemany", "executescript", "commit", "rollback", "to_sql",
                 "read_sql", "read_sql_query", "create_engine", "cursor", "psycopg2", "psycopg", "pymongo", "redis"},
    "processes": {"system", "getoutput", "subprocess", "Popen", "popen", "check_output", "check_call", "kill",
                  "multiprocessing", "run_cell_magic", "run_line_magic"},
    "input": {"input", "getpass"},
    "chance": {"random", "shuffle", "default_rng", "randint", "randn", "rand", "choice", "uuid4", "uuid1"},
    "time": {"now", "today", "time", "perf_counter", "monotonic", "sleep"},
}  # fmt: skip

_NAMING = {"FunctionDef", "AsyncFunctionDef", "ClassDef", "ExceptHandler", "MatchAs", "MatchStar"}


class Facts:
    """Of one cell. ``opaque`` code may read and write any name."""

    def __init__(self):
        self.reads = set()
        self.writes = set()
        self.changes = set()
        self.effects = set()
        self.opaque = False


def facts(source, transform=None):
    """What this source says. What cannot be parsed may do anything."""
    found = Facts()
    try:
        tree = ast.parse(transform(source) if transform is not None else source)
    except (SyntaxError, ValueError, RecursionError):
        found.opaque = True
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            _name(node, found)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            _import(node, found)
        elif isinstance(node, ast.Attribute):
            _effect(node.attr, found)
            if node.attr in ("__dict__", "__globals__", "f_globals", "f_locals"):
                found.opaque = True
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.writes.update(node.names)
        elif type(node).__name__ in _NAMING and node.name:
            found.writes.add(node.name)
        _mutation(node, found)
    # A name that is only written owes nothing to what it was; one that is changed does.
    found.reads |= found.changes
    return found


def _import(node, found):
    for alias in node.names:
        if alias.name == "*":
            found.opaque = True
        found.writes.add((alias.asname or alias.name).partition(".")[0])
        _effect(alias.name.partition(".")[0], found)
    if isinstance(node, ast.ImportFrom) and node.module:
        _effect(node.module.partition(".")[0], found)


def _name(node, found):
    if isinstance(node.ctx, ast.Load):
        found.reads.add(node.id)
        _effect(node.id, found)
        if node.id in _OPAQUE:
            found.opaque = True
    else:
        found.writes.add(node.id)


def _effect(name, found):
    for effect, names in _EFFECTS.items():
        if name in names:
            found.effects.add(effect)


def _mutation(node, found):
    targets = ()
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        targets = (node.target,)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        targets = (node.func,)
    for target in targets:
        if isinstance(node, ast.AugAssign) and isinstance(target, ast.Name):
            found.changes.add(target.id)
        inner = target
        while isinstance(inner, (ast.Attribute, ast.Subscript, ast.Starred)):
            inner = inner.value
        if inner is not target and isinstance(inner, ast.Name):
            found.changes.add(inner.id)
