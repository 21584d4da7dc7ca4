"""What is mutated, and the tests that must notice: only those that are fast and in one process."""

from __future__ import annotations

from typing import Final

__all__ = ["TARGETS"]

_COMMANDS: Final = ("tests/agent/approval/test_commands.py", "tests/agent/approval/test_engine.py")
_ENGINE: Final = ("tests/agent/approval/test_engine.py", "tests/agent/approval/test_suggestions.py")
_PATHS: Final = ("tests/tools/test_paths.py",)
_MASKING: Final = ("tests/persistence/test_masking.py", "tests/persistence/test_masking_streams.py")

TARGETS: Final[dict[str, tuple[str, ...]]] = {
    "hdsp_agent/agent/approval/_commands.py": _COMMANDS,
    "hdsp_agent/agent/approval/_engine.py": _ENGINE,
    "hdsp_agent/agent/approval/_options.py": _COMMANDS,
    "hdsp_agent/agent/approval/_programs.py": _COMMANDS,
    "hdsp_agent/agent/approval/_rules.py": (*_COMMANDS, *_ENGINE),
    "hdsp_agent/agent/approval/_suggestions.py": ("tests/agent/approval/test_suggestions.py",),
    "hdsp_agent/tools/_command_line.py": (*_COMMANDS, "tests/tools/test_shell.py"),
    "hdsp_agent/tools/_hidden_words.py": ("tests/tools/test_shell.py",),
    "hdsp_agent/tools/notebook/_code_risks.py": ("tests/tools/notebook/test_code_risks.py",),
    "hdsp_agent/tools/_paths.py": _PATHS,
    "hdsp_agent/tools/_ignore.py": _PATHS,
    "hdsp_agent/tools/_file_access.py": ("tests/tools/test_file_access.py", "tests/tools/test_read_file.py"),
    "hdsp_agent/persistence/masking/_assignments.py": _MASKING,
    "hdsp_agent/persistence/masking/_candidates.py": _MASKING,
    "hdsp_agent/persistence/masking/_masker.py": _MASKING,
    "hdsp_agent/persistence/masking/_rules.py": _MASKING,
    "hdsp_agent/persistence/masking/_tokens.py": _MASKING,
    "hdsp_agent/persistence/masking/_values.py": _MASKING,
    "hdsp_agent/persistence/masking/_vault.py": _MASKING,
}
