"""What is mutated, and the tests that must notice: only those that are fast and in one process."""

from __future__ import annotations

from typing import Final

__all__ = ["LEFT_OUT", "TARGETS"]

LEFT_OUT: Final = (
    "tests/agent/approval/test_command_approval.py::test_a_text_that_crashes_the_grammars_scanner_does_not_reach_it",
    "tests/agent/approval/test_command_approval.py::test_nested_and_long_texts_are_decided_soon",
    "tests/persistence/test_vendor_tokens.py::test_time_grows_with_the_text_and_no_faster",
    "tests/persistence/test_vendor_tokens.py::test_nearly_every_token_drawn_by_lot_goes",
    "tests/tools/notebook/test_code_risks.py::test_a_cell_made_to_take_long_does_not",
)
"""What runs code of its own in another process, or measures time: it would find mutants by accident, and slowly."""

_APPROVAL: Final = "tests/agent/approval"
_PLAIN: Final = ("tests/tools/test_plain_command.py",)
_TABLES: Final = (
    f"{_APPROVAL}/test_listed_programs.py",
    f"{_APPROVAL}/test_decision_boundaries.py",
    f"{_APPROVAL}/test_denied_commands.py",
)
_COMMANDS: Final = (
    *_TABLES, f"{_APPROVAL}/test_command_approval.py", f"{_APPROVAL}/test_known_bypasses.py", f"{_APPROVAL}/test_engine.py",
)  # fmt: skip
_USUAL: Final = (*_COMMANDS, f"{_APPROVAL}/test_usual_commands.py")
_FLAGS: Final = (f"{_APPROVAL}/test_command_warnings.py", *_TABLES)
_CELLS: Final = (
    "tests/tools/notebook/test_listed_magics.py",
    "tests/tools/notebook/test_cell_limits.py",
    "tests/tools/notebook/test_code_risks.py",
)
_ENGINE: Final = (
    f"{_APPROVAL}/test_engine.py",
    f"{_APPROVAL}/test_rule_suggestions.py",
    f"{_APPROVAL}/test_command_warnings.py",
)
_PATHS: Final = ("tests/tools/test_listed_paths.py", "tests/tools/test_path_policy.py")
_EDGES: Final = "tests/persistence/test_masking_edges.py"
_MASKING: Final = (_EDGES, "tests/persistence/test_masking.py", "tests/persistence/test_masking_streams.py")
_TOKENS: Final = (
    _EDGES,
    "tests/persistence/test_command_secrets.py",
    "tests/config/test_keys_in_use.py",
    "tests/persistence/test_vendor_tokens.py",
)

TARGETS: Final[dict[str, tuple[str, ...]]] = {
    "hdsp_agent/agent/approval/_command_approval.py": _COMMANDS,
    "hdsp_agent/agent/approval/_engine.py": _ENGINE,
    "hdsp_agent/agent/approval/_denied_commands.py": _COMMANDS,
    "hdsp_agent/agent/approval/_file_patterns.py": _USUAL,
    "hdsp_agent/agent/approval/_command_warnings.py": _FLAGS,
    "hdsp_agent/agent/approval/_git_commands.py": _COMMANDS,
    "hdsp_agent/agent/approval/_git_settings.py": (f"{_APPROVAL}/test_git_settings.py", *_COMMANDS),
    "hdsp_agent/agent/approval/_workspace_bounds.py": _USUAL,
    "hdsp_agent/agent/approval/_plain_command_check.py": (*_FLAGS, *_USUAL),
    "hdsp_agent/agent/approval/_program_languages.py": _USUAL,
    "hdsp_agent/agent/approval/_program_options.py": _USUAL,
    "hdsp_agent/agent/approval/_programs.py": (*_FLAGS, *_USUAL),
    "hdsp_agent/agent/approval/_wrapper_programs.py": _COMMANDS,
    "hdsp_agent/agent/approval/_command_rules.py": (f"{_APPROVAL}/test_command_rules.py", *_COMMANDS, *_ENGINE),
    "hdsp_agent/agent/approval/_rule_suggestions.py": (
        f"{_APPROVAL}/test_listed_suggestions.py",
        f"{_APPROVAL}/test_rule_suggestions.py",
    ),
    "hdsp_agent/tools/_command_line.py": (
        "tests/tools/test_command_line.py",
        *_FLAGS,
        *_COMMANDS,
        "tests/tools/test_shell.py",
    ),
    "hdsp_agent/tools/_plain_command.py": (*_PLAIN, *_COMMANDS),
    "hdsp_agent/tools/_plain_rendering.py": (*_PLAIN, *_COMMANDS),
    "hdsp_agent/tools/_deceptive_characters.py": (*_PLAIN, *_FLAGS),
    "hdsp_agent/tools/_hidden_files.py": (
        "tests/tools/test_hidden_files.py",
        f"{_APPROVAL}/test_known_bypasses.py",
        "tests/tools/test_shell.py",
    ),
    "hdsp_agent/tools/notebook/_code_risks.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_findings.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_ipython_calls.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_literals.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_magics.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_programs.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_reader.py": _CELLS,
    "hdsp_agent/tools/notebook/cell_code/_shell_text.py": _CELLS,
    "hdsp_agent/tools/_path_policy.py": _PATHS,
    "hdsp_agent/tools/_ignore.py": (*_PATHS, "tests/tools/test_ignore_rules.py"),
    "hdsp_agent/tools/_file_access.py": ("tests/tools/test_file_access.py", "tests/tools/test_read_file.py"),
    "hdsp_agent/persistence/masking/_assignments.py": _MASKING,
    "hdsp_agent/persistence/masking/_rule_candidates.py": _MASKING,
    "hdsp_agent/persistence/masking/_command_secrets.py": _TOKENS,
    "hdsp_agent/persistence/masking/_key_stream.py": _TOKENS,
    "hdsp_agent/persistence/masking/_masker.py": (*_MASKING, *_TOKENS),
    "hdsp_agent/persistence/masking/_masking_rules.py": _MASKING,
    "hdsp_agent/persistence/masking/_token_forms.py": _TOKENS,
    "hdsp_agent/persistence/masking/_tokens.py": _MASKING,
    "hdsp_agent/persistence/masking/_values.py": _MASKING,
    "hdsp_agent/persistence/masking/_vault.py": _MASKING,
    "hdsp_agent/persistence/masking/_vendor_tokens.py": _TOKENS,
}
