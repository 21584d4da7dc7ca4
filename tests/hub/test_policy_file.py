"""The file of policies: what is read, and that each mistake is told with its line, its field and what is expected."""

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.config import keys_in_use
from hdsp_agent.hub import LoadedPolicies, PolicyFileError, load_policies
from hdsp_agent.hub.policy_watch import PolicyWatch

from ..cli._helpers.homes import Home
from ._helpers.policy_files import ENVIRONMENT, KEY, SMALL, write


def loaded(tmp_path: Path, text: str = SMALL) -> LoadedPolicies:
    return load_policies(write(tmp_path, text), ENVIRONMENT)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(PolicyFileError) as caught:
        loaded(tmp_path, text)
    return [str(problem) for problem in caught.value.problems]


def test_people_have_the_policy_of_their_first_group(tmp_path: Path) -> None:
    policies = loaded(tmp_path).policies
    teacher = policies.policy_of(["students", "teachers"])
    assert teacher is not None and teacher[0] == "teachers"
    assert list(policies.models_of(teacher[1])) == [("anthropic", "claude-sonnet-5-5")]
    other = policies.policy_of([])
    assert other is not None and other[0] == "default"
    assert [model for _, model in policies.models_of(other[1])] == ["claude-sonnet-5-5", "qwen3"]
    # Those of the group, then those for everybody.
    assert [budget.per for budget in policies.budgets_for(other[1], "qwen3")] == ["user", "all"]


def test_keys_come_from_variables_and_files_and_are_masked_from_then_on(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("sk-from-a-file-0123456789\n")
    text = SMALL.replace(
        "url: http://vllm.example:8000/v1", "url: http://vllm.example:8000/v1\n        key_file: secret"
    )
    keys = loaded(tmp_path, text).keys
    assert keys["anthropic"].get_secret_value() == KEY
    assert keys["vllm"].get_secret_value() == "sk-from-a-file-0123456789"
    assert KEY not in keys_in_use.mask(f"It said {KEY}.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["line 1: the file is empty"]),
        ("providers: [", ["line 1: is not YAML: expected the node content, but found '<stream end>'"]),
        ("providers: {}\nproviders: {}", ["line 2: providers: stands here twice"]),
        ("providers: {}", ["line 1: providers: must not be empty"]),
        (
            SMALL.replace("key_env: A_KEY", "key: sk-1"),
            [
                "line 5: providers.anthropic.key: is not known here; known are protocol, url, key_env, key_file, models",
            ],
        ),
        (
            SMALL.replace("key_env: A_KEY\n", "\n"),
            ["line 3: providers.anthropic: has no key: name it in key_env or key_file"],
        ),
        (
            SMALL.replace("key_env: A_KEY", "key_env: ELSEWHERE"),
            ["line 5: providers.anthropic.key_env: the environment variable ELSEWHERE is not set"],
        ),
        (
            SMALL.replace("key_env: A_KEY", "key_file: none"),
            ["line 5: providers.anthropic.key_file: none cannot be read: No such file or directory"],
        ),
        (SMALL.replace("protocol: openai", "protocol: chat"), ["line 9: providers.vllm.protocol: must be 'openai' or 'anthropic'"]),
        (
            SMALL.replace("http://vllm.example:8000/v1", "vllm.example"),
            ["line 10: providers.vllm.url: must begin with http:// or https:// and name a host"],
        ),
        (SMALL.replace("period: day", "period: year"), ["line 19: default.budgets[0].period: must be 'day', 'week' or 'month'"]),
        (SMALL.replace("tokens: 100000, ", ""), ["line 19: default.budgets[0]: needs tokens or money"]),
        (
            SMALL.replace("per: user", "per: all"),
            ["line 19: default.budgets[0].per: must be user or group here; budgets for all stand at the top"],
        ),
        (
            SMALL.replace("input_price: 0, output_price: 0, ", ""),
            [
                "line 14: budgets[0].money: nobody knows the price of qwen3: "
                + "give it input_price and output_price (0 if it costs nothing)"
            ],
        ),
        (SMALL.replace('["claude-*"]', '["gpt-*"]'), ["line 23: groups.teachers.models[0]: no provider above has a model gpt-*"]),
        (
            SMALL.replace("default_model: qwen3", "default_model: qwen4"),
            ["line 17: default.default_model: qwen4 is not among the models of this policy"],
        ),
        (SMALL.replace("autoApprovalEnabled: false", "autoApprovalEnabled: 3"), ["line 20: default.fixed.autoApprovalEnabled: must be a valid boolean"]),
        (SMALL.replace("autoApprovalEnabled: false", "nothing: 3"), ["line 20: default.fixed.nothing: there is no setting of this name"]),
        (SMALL.replace("autoApprovalEnabled: false", "apiKey: sk-1"), ["line 20: default.fixed.apiKey: is a key; keys belong to providers above"]),
        (SMALL.replace("autoApprovalEnabled: false", "apiModelId: x"), ["line 20: default.fixed.apiModelId: is given by the service itself"]),
        (SMALL.replace("[ask, code]", "ask"), ["line 24: groups.teachers.limits.allowed_modes: must be a list"]),
        (
            SMALL.replace("per: user}", "per: user, models: [gpt-*]}"),
            ["line 19: default.budgets[0].models[0]: no provider above has a model gpt-*"],
        ),
        (SMALL.replace("teachers:", "default:"), ["line 22: groups.default: is the name of the policy for people in no group; rename that group"]),
        (
            SMALL.replace("qwen3: {", "claude-sonnet-5-5: {").replace("protocol: openai", "protocol: anthropic").replace("default_model: qwen3", ""),
            ["line 12: providers.vllm.models.claude-sonnet-5-5: is a model of anthropic too; one model has one provider"],
        ),
        ("    time_zone: Mars/One" + SMALL, ["line 1: time_zone: must be a time zone such as Asia/Seoul or UTC"]),
    ],
)  # fmt: skip
def test_each_mistake_is_told_where_it_stands(tmp_path: Path, text: str, told: list[str]) -> None:
    assert problems(tmp_path, text) == told


def test_the_command_checks_a_file(tmp_path: Path) -> None:
    home, path = Home(tmp_path), write(tmp_path, SMALL)
    good = home.run("hub", "--check", "--policies", str(path), env=ENVIRONMENT)
    assert (good.code, good.out.splitlines()[0]) == (0, f"{path} is valid.")
    assert "teachers: 1 models (claude-sonnet-5-5), 1 budgets" in good.out
    write(tmp_path, SMALL.replace("period: day", "period: year"))
    bad = home.run("hub", "--check", "--json", "--policies", str(path), env=ENVIRONMENT)
    assert bad.code == 3
    assert json.loads(bad.out)["problems"] == [
        {"line": 19, "field": "default.budgets[0].period", "message": "must be 'day', 'week' or 'month'"}
    ]


def test_the_example_of_the_guide_is_valid_and_so_is_the_mistake_it_shows(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/hub-service.md").read_text(encoding="utf-8")
    example = guide.partition("```yaml\n")[2].partition("```")[0]
    path = tmp_path / "hub-policies.yml"
    path.write_text(example, encoding="utf-8")
    policies = load_policies(path, {"ANTHROPIC_KEY": KEY}).policies
    assert [name for name, _ in policies.named()] == ["default", "teachers"]
    path.write_text(example.replace("period: day", "period: year"), encoding="utf-8")
    with pytest.raises(PolicyFileError) as caught:
        load_policies(path, {"ANTHROPIC_KEY": KEY})
    assert f"hub-policies.yml: {caught.value.problems[0]}\n" in guide


async def test_a_key_that_was_missing_is_seen_when_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hdsp_agent.hub.policy_watch._LOOK_SECONDS", 0.01)
    monkeypatch.setenv("A_KEY", KEY)
    outcomes: asyncio.Queue[bool] = asyncio.Queue()
    watch = PolicyWatch(write(tmp_path, SMALL), outcomes.put_nowait)
    await watch.start()
    try:
        assert await outcomes.get()
        write(tmp_path, SMALL.replace("key_env: A_KEY", "key_file: later"))
        assert not await outcomes.get()
        (tmp_path / "later").write_text("sk-that-came-later-0123456789")
        while not await outcomes.get():
            pass
        assert watch.now.keys["anthropic"].get_secret_value() == "sk-that-came-later-0123456789"
    finally:
        await watch.stop()
