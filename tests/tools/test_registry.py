"""Which tools are offered, and what is said about arguments that are wrong."""

from __future__ import annotations

import json

import jsonschema
import pytest

from hdsp_agent.config import GlobalSettings, ModeConfig, OperatorPolicy
from hdsp_agent.errors import InvalidInput, NotFound
from hdsp_agent.tools import ToolRegistry, built_in_tools

from ._helpers.recording_context import CODE_MODE

COMPOUND = [
    "add_cell", "edit_cell", "run_cell", "rename_variable", "add_text", "delete_cell",
]  # fmt: skip
ALWAYS = ["ask_followup_question", "update_todo_list", "switch_mode", "new_task", "attempt_completion"]


def offered(
    mode: ModeConfig = CODE_MODE, policy: OperatorPolicy | None = None, settings: GlobalSettings | None = None
) -> list[str]:
    """The names of the tools the model is told of."""
    specs = ToolRegistry().specs(mode, policy or OperatorPolicy(), settings or GlobalSettings())
    return [spec.name for spec in specs]


def test_a_mode_has_the_tools_of_its_groups_in_a_fixed_order() -> None:
    reading = ModeConfig(slug="ask", name="Ask", role_definition="Answer.", groups=("read",))
    looking = ["read_notebook", "inspect_variables", "list_kernels"]
    memory = ["remember", "forget", "search_memory", "read_memory", "search_tasks"]
    assert offered(reading) == ["read_file", "list_files", "search_files", *looking, *memory, *ALWAYS]
    assert offered() == offered()
    assert set(offered()) > set(offered(reading))


def test_settings_and_the_operator_take_tools_away() -> None:
    assert "new_task" not in offered(settings=GlobalSettings(disabled_tools=("new_task",)))
    assert "remember" in offered() and "remember" not in offered(settings=GlobalSettings(memory_enabled=False))
    assert offered(policy=OperatorPolicy(allowed_tools=("read_file",))) == ["read_file"]


def test_a_weak_model_has_the_compound_tools_and_no_others() -> None:
    def compound(mode: ModeConfig, policy: OperatorPolicy | None = None, *disabled: str) -> list[str]:
        settings = GlobalSettings(disabled_tools=disabled)
        specs = ToolRegistry().specs(mode, policy or OperatorPolicy(), settings, tool_set="compound")
        return [spec.name for spec in specs]

    assert compound(CODE_MODE) == [*COMPOUND, "answer"]
    assert not set(offered()) & {*COMPOUND, "answer"}
    reading = ModeConfig(slug="ask", name="Ask", role_definition="Answer.", groups=("read",))
    assert compound(reading) == ["answer"]
    # What may not be done may not be done by another name.
    assert compound(CODE_MODE, None, "run_cells") == [
        "add_text",
        "delete_cell",
        "answer",
    ]
    assert compound(CODE_MODE, OperatorPolicy(allowed_tools=("read_notebook", "attempt_completion"))) == ["answer"]
    assert "delete_cell" not in compound(CODE_MODE, None, "delete_cell")


def test_fetching_is_off_until_it_is_turned_on() -> None:
    assert "fetch_url" not in offered()
    assert "fetch_url" in offered(settings=GlobalSettings(fetch_url_enabled=True))


def test_without_notebooks_there_are_no_tools_for_them() -> None:
    names = ToolRegistry(built_in_tools(notebooks=False)).names
    assert not [name for name in names if "notebook" in name or "cell" in name or "kernel" in name or "run" in name]
    assert set(ToolRegistry().names) - set(names) == {
        "read_notebook", "edit_cells", "run_cells", "wait_run", "run_code", "inspect_variables", "create_notebook",
        "list_kernels", "manage_kernel", "install_packages", *COMPOUND,
    }  # fmt: skip


def test_every_schema_is_one_and_describes_every_argument() -> None:
    registry = ToolRegistry()
    for spec in registry.specs(CODE_MODE, OperatorPolicy(), GlobalSettings(fetch_url_enabled=True)):
        jsonschema.Draft202012Validator.check_schema(spec.parameters)
        assert spec.parameters["type"] == "object"
        assert spec.parameters["additionalProperties"] is False
        properties = spec.parameters["properties"]
        assert isinstance(properties, dict)
        for name, schema in properties.items():
            assert isinstance(schema, dict)
            assert schema.get("description"), f"{spec.name}.{name}"


@pytest.mark.parametrize(
    ("arguments", "why", "field"),
    [
        ("{}", "path: is missing", "path"),
        ('{"path": 3}', "path: Input should be a valid string", "path"),
        ('{"file_path": "a"}', "file_path: is not an argument of this tool; did you mean path?", "path"),
        ('{"path": "a", "start_line": 0}', "start_line: Input should be greater than or equal to 1", "start_line"),
        ('{"path": "a", "start_line": 9, "end_line": 2}', "end_line 2 comes before start_line 9", None),
        ('{"path": "a"', "not valid JSON, at character 12", None),
        ("[1]", "must be a JSON object, not list", None),
        ("", "path: is missing", "path"),
    ],
)
def test_wrong_arguments_are_told_precisely(arguments: str, why: str, field: str | None) -> None:
    with pytest.raises(InvalidInput) as caught:
        ToolRegistry().validate("read_file", arguments)
    assert why in caught.value.message
    assert caught.value.field == field


def test_raw_newlines_in_strings_are_understood() -> None:
    arguments = ToolRegistry().validate("write_to_file", '{"path": "a", "content": "one\ntwo"}')
    assert json.loads(arguments.model_dump_json())["content"] == "one\ntwo"


def test_an_unknown_tool_is_answered_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="Did you mean read_file"):
        ToolRegistry().validate("readfile", "{}")
