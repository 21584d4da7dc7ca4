"""The path police: which file a path from the model means, and what there is to say against touching it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from ._action import Risk
from ._ignore import HiddenFromAgent
from ._tool_failed import ToolFailed

__all__ = [
    "NOTEBOOK_ADVICE",
    "CheckedPath",
    "PathPolicy",
    "holds_credentials",
    "is_protected_name",
    "kind_of",
    "leads_elsewhere",
]

NOTEBOOK_ADVICE: Final = (
    "is a notebook. Notebooks are not touched as text, because their JSON breaks easily and an open notebook would not "
    "notice. Use the notebook tools; if you have none, tell the person what to change in which cell."
)

# What steers this agent, other agents or the editor; a change to it could widen what is allowed. Names that begin with a
# dot, such as .hdspmodes, .roo and .vscode, count without being listed.
_PROTECTED: Final = (
    "agents.md",
    "agents.local.md",
    "agent.md",
    "claude.md",
    "gemini.md",
    "*.code-workspace",
    # Jupyter reads these from the folder it runs in too, and runs what a kernelspec says; Python runs the others by itself.
    "jupyter*_config.py",
    "jupyter*_config.json",
    "jupyter*_config.d",
    "ipython*_config.py",
    "kernel.json",
    "kernelspecs",
    "labconfig",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
)
_CREDENTIALS: Final = (
    ".env",
    ".env.*",
    "*.env",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".htpasswd",
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".config",
    ".jupyter",
    ".password-store",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "id_*_sk",
    "_netrc",
    ".*_history",
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "credentials",
    "credentials.*",
    "secrets.toml",
    "secrets.json",
    "secrets.y*ml",
    "client_secret*.json",
    "service[-_]account*.json",
    "kaggle.json",
    ".envrc",
    ".renviron",
    ".boto",
    ".s3cfg",
    ".databrickscfg",
    ".my.cnf",
    ".vault-token",
    ".dockercfg",
    ".terraformrc",
    ".streamlit",
    ".kaggle",
    ".huggingface",
    ".hdsp-agent",
)
_NO_CREDENTIALS: Final = frozenset({".env.example", ".env.sample", ".env.template"})
# Reading here tells of processes and devices (``/proc/self/environ`` holds keys), and may never end.
_NO_FILES: Final = tuple(Path(folder) for folder in ("/proc", "/sys", "/dev"))
_KINDS: Final = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a directory"),
)


@dataclass(frozen=True)
class CheckedPath:
    """A path that may be touched, and what to know about it."""

    path: Path
    """Absolute, all symbolic links followed."""
    shown: str
    """As people and the model see it: relative inside the workspace, absolute outside."""
    is_outside: bool
    is_foreign: bool = False
    """It belongs to another person."""
    is_protected: bool = False
    holds_credentials: bool = False

    @property
    def read_risks(self) -> frozenset[Risk]:
        """What reading it risks."""
        far = self.is_outside or self.is_foreign or self.holds_credentials
        return frozenset({"read_outside" if far else "read"})

    @property
    def write_risks(self) -> frozenset[Risk]:
        """What changing it risks."""
        risks: set[Risk] = {"write_outside" if self.is_outside or self.is_foreign else "write"}
        if self.is_protected:
            risks.add("write_protected")
        return frozenset(risks)

    @property
    def risks(self) -> frozenset[Risk]:
        """Everything that is to be said against touching it."""
        return self.write_risks | (self.read_risks - {"read"})


class PathPolicy:
    """Decides about paths for one workspace. Everything here blocks, making one too.

    ``forbidden`` are folders no tool may touch, such as the agent's own storage; ``allow_outside`` false refuses
    everything outside the workspace instead of reporting it as a risk. ``around`` is the folder of all workspaces: in one
    below it, what is hidden, protected or full of keys as seen from there stays so, whoever chose the workspace.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        forbidden: Sequence[Path] = (),
        allow_outside: bool = True,
        around: Path | None = None,
    ) -> None:
        self._given_workspace = Path(os.path.abspath(workspace))
        self._workspace = Path(os.path.realpath(workspace))
        root = self._workspace if around is None else Path(os.path.realpath(around))
        self._root = root if self._workspace.is_relative_to(root) else self._workspace
        self._hidden_around = None if self._root == self._workspace else HiddenFromAgent(self._root)
        self._forbidden = tuple(Path(os.path.realpath(folder)) for folder in forbidden)
        self._allow_outside = allow_outside
        self._hidden = HiddenFromAgent(self._workspace)

    @property
    def workspace(self) -> Path:
        """The workspace itself, links followed."""
        return self._workspace

    def resolve(self, given: str) -> CheckedPath:
        """The file this path means; it need not exist. Raises ToolFailed if it may not be touched at all."""
        asked = self._asked(given)
        real = _real(asked, given)
        self._refuse_places(real, given)
        inside = real.is_relative_to(self._workspace)
        if not inside and not self._allow_outside:
            raise ToolFailed(
                f"{given} is outside the workspace {self._workspace}, and files there may not be touched here."
            )
        found = _lstat(real)
        is_directory = found is not None and stat.S_ISDIR(found.st_mode)
        # The link may be hidden, or what it leads to.
        for path in {self._relative(asked), self._relative(real)} - {None}:
            if path is not None and self._hidden.hides(path, is_directory=is_directory):
                raise _hidden(given)
        if any(self._is_hidden_around(path, is_directory=is_directory) for path in (asked, real)):
            raise _hidden(given)
        relative = self._relative(real)
        parts = self._parts(real)
        return CheckedPath(
            path=real,
            shown=real.as_posix() if relative is None else relative,
            is_outside=not inside,
            is_foreign=found is not None and _is_foreign(found),
            is_protected=is_protected_name(parts) or is_protected_name(asked.parts[-1:]),
            holds_credentials=holds_credentials(parts) or holds_credentials(asked.parts[-1:]),
        )

    def again(self, before: CheckedPath) -> None:
        """Raise unless the path still means the same file: time has passed, and a folder may be a link by now."""
        now = self.resolve(str(before.path))
        if now.path != before.path or not now.risks <= before.risks:
            raise leads_elsewhere(before.shown, now)

    def hides(self, path: Path, *, is_directory: bool) -> bool:
        """Whether a listing leaves out this real path."""
        if any(path.is_relative_to(folder) for folder in self._forbidden):
            return True
        if self._is_hidden_around(path, is_directory=is_directory):
            return True
        relative = self._relative(path)
        return relative is not None and self._hidden.hides(relative, is_directory=is_directory)

    def is_plain(self, path: Path) -> bool:
        """Whether leave to read the folder of this real path is leave to read it: no credentials, nobody else's."""
        found = _lstat(path)
        return found is not None and not _is_foreign(found) and not holds_credentials(self._parts(path))

    def shown(self, path: Path) -> str:
        """How a real path is called."""
        relative = self._relative(path)
        return path.as_posix() if relative is None else relative

    def _asked(self, given: str) -> Path:
        if not given or not given.strip():
            raise ToolFailed("The path is empty. Give a path relative to the workspace.")
        if "\0" in given:
            raise ToolFailed("The path contains a NUL character, which no file name can.")
        try:
            os.fsencode(given)
        except UnicodeError:
            raise ToolFailed("The path contains characters that no file name can have.") from None
        expanded = os.path.expanduser(given) if given.startswith("~") else given
        # Kept as written: collapsing ``..`` before links are followed would name another file than the system does.
        return self._workspace / expanded

    def _parts(self, real: Path) -> Sequence[str]:
        """The names in a real path that say what it is: those of the folders above do not count."""
        return real.relative_to(self._root).parts if real.is_relative_to(self._workspace) else real.parts

    def _is_hidden_around(self, path: Path, *, is_directory: bool) -> bool:
        tidy = Path(os.path.normpath(path))
        if self._hidden_around is None or not tidy.is_relative_to(self._root):
            return False
        return self._hidden_around.hides(tidy.relative_to(self._root).as_posix(), is_directory=is_directory)

    def _relative(self, path: Path) -> str | None:
        tidy = Path(os.path.normpath(path))
        for root in (self._workspace, self._given_workspace):
            if tidy.is_relative_to(root):
                return tidy.relative_to(root).as_posix()
        return None

    def _refuse_places(self, real: Path, given: str) -> None:
        for folder in self._forbidden:
            if real.is_relative_to(folder):
                raise ToolFailed(
                    f"{given} belongs to the agent's own storage. Tools may not touch it; "
                    "long outputs are read with read_command_output."
                )
        if os.name == "posix" and any(real.is_relative_to(folder) for folder in _NO_FILES):
            raise ToolFailed(f"{given} is no ordinary file. Use execute_command to ask the system for what you need.")


def _hidden(given: str) -> ToolFailed:
    return ToolFailed(f"{given} is hidden from you by .hdspignore. Do without it, or ask the person.")


def is_protected_name(parts: Sequence[str]) -> bool:
    """Whether a change below these path components could steer the agent, or run by itself: hidden files count."""
    return any(
        (part.startswith(".") and part not in {".", ".."})
        or any(fnmatchcase(part.casefold(), pattern) for pattern in _PROTECTED)
        for part in parts
    )


def holds_credentials(parts: Sequence[str]) -> bool:
    """Whether keys or passwords are commonly kept below these path components."""
    return any(
        any(fnmatchcase(part.casefold(), pattern) for pattern in _CREDENTIALS)
        for part in parts
        if part.casefold() not in _NO_CREDENTIALS
    )


def leads_elsewhere(shown: str, now: CheckedPath) -> ToolFailed:
    """Why nothing is done: a path means another file than when it was asked about."""
    return ToolFailed(
        f"{shown} became something else while the question waited for an answer: it now leads to {now.path}. "
        "Nothing was done. Look again and repeat the call if it is still right."
    )


def kind_of(mode: int) -> str | None:
    """What a file is in words if it is no ordinary one."""
    return next((words for test, words in _KINDS if test(mode)), None)


def _real(asked: Path, given: str) -> Path:
    try:
        return Path(os.path.realpath(asked, strict=True))
    except FileNotFoundError:
        # Not there yet: the part that exists is followed, the rest cannot be links.
        return Path(os.path.realpath(asked))
    except NotADirectoryError:
        raise ToolFailed(f"{given} cannot exist: a part of it before the last is a file, not a directory.") from None
    except OSError as error:
        reason = "its symbolic links lead in a circle" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise ToolFailed(f"{given} cannot be reached: {reason}.") from None


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_foreign(found: os.stat_result) -> bool:
    # What root owns is the system's, not somebody's.
    return os.name == "posix" and found.st_uid not in {0, os.geteuid()}
