"""Reads the file of policies, and says of all that is wrong in it where it stands. Everything here blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, SecretStr, ValidationError

from ..config import (
    GlobalSettings,
    GroupLimits,
    ProviderSettings,
    check_setting,
    keys_in_use,
    provider_info,
    secret_keys,
    setting_keys,
    wire_names,
)
from ..errors import InvalidInput, InvalidSetting
from .model_prices import model_of
from .policies import DEFAULT_GROUP, GroupPolicy, HubPolicies, UsageBudget, matches
from .settings_answer import ANSWERED_SETTINGS

if TYPE_CHECKING:
    from yaml import Node

__all__ = ["LoadedPolicies", "PolicyFileError", "PolicyProblem", "load_policies"]

Path_ = tuple[str | int, ...]

_MOST_BYTES: Final = 1024 * 1024
_LONGEST_KEY: Final = 65_536


@dataclass(frozen=True)
class PolicyProblem:
    """Something wrong in the file: in which line, at which field, and what is expected there."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.field}: {self.message}" if self.field else f"{where}{self.message}"


class PolicyFileError(InvalidInput):
    """The file cannot be used."""

    def __init__(self, path: Path, problems: tuple[PolicyProblem, ...]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{path}: {problems[0]}{more}")
        self.problems = problems


@dataclass(frozen=True)
class LoadedPolicies:
    """The policies and the keys of their providers, by the provider's name here."""

    policies: HubPolicies
    keys: Mapping[str, SecretStr]


def load_policies(path: Path, environ: Mapping[str, str] | None = None) -> LoadedPolicies:
    """The policies, all checked. Raises PolicyFileError, which has everything that is wrong."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise PolicyFileError(path, (PolicyProblem(0, "", f"cannot be read: {error.strerror or error}"),)) from None
    if len(text) > _MOST_BYTES:
        raise PolicyFileError(path, (PolicyProblem(0, "", f"is larger than {_MOST_BYTES:,} bytes"),))
    try:
        document = _Document.read(text)
    except _Unreadable as error:
        raise PolicyFileError(path, (error.problem,)) from None
    try:
        policies = HubPolicies.model_validate(document.value)
    except ValidationError as error:
        raise PolicyFileError(path, tuple(sorted(_faults(error, document), key=lambda one: one.line))) from None
    for provider in policies.providers.values():
        for model in provider.models:
            # The catalogue is read here, not when the first request comes.
            model_of(provider, model)
    mistakes = dict.fromkeys(_mistakes(policies))
    problems = [PolicyProblem(document.line(where), _dotted(where), message) for where, message in mistakes]
    keys: dict[str, SecretStr] = {}
    for name, provider in policies.providers.items():
        try:
            key = _key(provider.key_env, provider.key_file, path.parent, os.environ if environ is None else environ)
        except ValueError as error:
            where = ("providers", name, "key_env" if provider.key_env else "key_file")
            problems.append(PolicyProblem(document.line(where), _dotted(where), str(error)))
        else:
            if key is not None:
                keys[name] = SecretStr(key)
                keys_in_use.add(key)
    if problems:
        raise PolicyFileError(path, tuple(sorted(problems, key=lambda one: one.line)))
    return LoadedPolicies(policies, keys)


def _key(variable: str | None, file: str | None, folder: Path, environ: Mapping[str, str]) -> str | None:
    if variable is not None:
        value = environ.get(variable, "").strip()
        if not value:
            raise ValueError(f"the environment variable {variable} is not set")
        return _sendable(value)
    if file is None:
        return None
    try:
        with (folder / Path(file).expanduser()).open("r", encoding="utf-8") as opened:
            value = opened.read(_LONGEST_KEY + 1).strip()
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ValueError(f"{file} cannot be read: {reason or type(error).__name__}") from None
    if not value:
        raise ValueError(f"{file} is empty")
    return _sendable(value)


def _sendable(key: str) -> str:
    if len(key) > _LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("the key is not one line of plain characters")
    return key


# ---- what a schema cannot say


def _mistakes(policies: HubPolicies) -> Iterator[tuple[Path_, str]]:
    owners: dict[tuple[str, str], str] = {}
    for name, provider in policies.providers.items():
        for model in provider.models:
            other = owners.setdefault((provider.protocol, model), name)
            if other != name:
                yield ("providers", name, "models", model), f"is a model of {other} too; one model has one provider"
    if DEFAULT_GROUP in policies.groups:
        yield ("groups", DEFAULT_GROUP), "is the name of the policy for people in no group; rename that group"
    for at, budget in enumerate(policies.budgets):
        yield from _budget_mistakes(policies, budget, ("budgets", at))
    for name, policy in policies.named():
        above: Path_ = ("default",) if name == DEFAULT_GROUP else ("groups", name)
        yield from _policy_mistakes(policies, policy, above)


def _policy_mistakes(policies: HubPolicies, policy: GroupPolicy, above: Path_) -> Iterator[tuple[Path_, str]]:
    yield from _unknown_models(policies, policy.models, (*above, "models"))
    allowed = [model for _, model in policies.models_of(policy)]
    if policy.default_model is not None and policy.default_model not in allowed:
        yield (*above, "default_model"), f"{policy.default_model} is not among the models of this policy"
    for at, budget in enumerate(policy.budgets):
        if budget.per == "all":
            yield (*above, "budgets", at, "per"), "must be user or group here; budgets for all stand at the top"
        yield from _budget_mistakes(policies, budget, (*above, "budgets", at))
    for part, values in (("settings", policy.settings), ("fixed", policy.fixed)):
        for key, value in values.items():
            if (reason := _setting_fault(key, value)) is not None:
                yield (*above, part, key), reason
    yield from _limit_mistakes(policy.limits, (*above, "limits"))


def _limit_mistakes(limits: GroupLimits, above: Path_) -> Iterator[tuple[Path_, str]]:
    for at, mode in enumerate(limits.allowed_modes or ()):
        if (reason := _setting_fault("mode", mode)) is not None:
            yield (*above, "allowed_modes", at), reason
    for at, provider in enumerate(limits.allowed_providers or ()):
        if provider_info(provider) is None:
            yield (*above, "allowed_providers", at), f"{provider} is no provider of HDSP Agent's"


def _unknown_models(policies: HubPolicies, patterns: Iterable[str], above: Path_) -> Iterator[tuple[Path_, str]]:
    known = [model for provider in policies.providers.values() for model in provider.models]
    for at, pattern in enumerate(patterns):
        if not any(matches(model, [pattern]) for model in known):
            yield (*above, at), f"no provider above has a model {pattern}"


def _budget_mistakes(policies: HubPolicies, budget: UsageBudget, above: Path_) -> Iterator[tuple[Path_, str]]:
    yield from _unknown_models(policies, budget.models, (*above, "models"))
    if budget.money is None:
        return
    for provider in policies.providers.values():
        for model in provider.models:
            info = model_of(provider, model)
            if budget.counts(model) and (info.input_price is None or info.output_price is None):
                yield (
                    (*above, "money"),
                    f"nobody knows the price of {model}: give it input_price and output_price (0 if it costs nothing)",
                )


def _setting_fault(key: str, value: object) -> str | None:
    if key in ANSWERED_SETTINGS:
        return "is given by the service itself"
    if key in secret_keys() or key in setting_keys():
        return "is a key; keys belong to providers above"
    model = ProviderSettings if key in wire_names(ProviderSettings) else GlobalSettings
    try:
        check_setting(model, key, value)  # type: ignore[arg-type]  # what YAML holds beyond JSON is refused there
    except InvalidSetting as error:
        return (
            "there is no setting of this name"
            if error.params.get("reason") == "unknown"
            else str(error.params.get("reason"))
        )
    return None


# ---- the schema's own words


def _faults(error: ValidationError, document: _Document) -> Iterator[PolicyProblem]:
    for fault in error.errors(include_url=False, include_input=False):
        where = tuple(step for step in fault["loc"] if step != "[key]")
        line = document.line(where)
        yield PolicyProblem(line, _dotted(where), _expectation(fault["type"], fault["msg"], where))


def _expectation(kind: str, message: str, where: Path_) -> str:
    match kind:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            known = _fields_at(where[:-1])
            return f"is not known here; known are {', '.join(known)}" if known else "is not known here"
        case "model_type" | "dict_type" | "model_attributes_type":
            return "must be a mapping of names to values"
        case "too_short":
            return "must not be empty"
        case _:
            text = message.removeprefix("Value error, ").rstrip(".")
            text = text.replace("Input should be", "must be").replace("Input should have", "must have")
            return text.replace("a valid tuple", "a list")


def _fields_at(above: Path_) -> list[str]:
    """The fields of the section at a place in the file."""
    section: type[BaseModel] | None = HubPolicies
    steps = list(above)
    while steps and section is not None:
        info = section.model_fields.get(str(steps.pop(0)))
        section = _section_in(info.annotation) if info is not None else None
        if info is not None and section is not None and steps and _has_names(info.annotation):
            steps.pop(0)
    return list(section.model_fields) if section is not None else []


def _section_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in getattr(annotation, "__args__", ()) if (found := _section_in(part))), None)


def _has_names(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) in (dict, tuple)


def _dotted(where: Path_) -> str:
    text = ""
    for step in where:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


# ---- where it stands


class _Unreadable(Exception):
    def __init__(self, problem: PolicyProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True)
class _Document:
    value: object
    lines: Mapping[Path_, int]

    @classmethod
    def read(cls, text: bytes) -> _Document:
        import yaml

        try:
            loader = yaml.SafeLoader(text)
            try:
                node = loader.get_single_node()
                if node is None:
                    raise _Unreadable(PolicyProblem(1, "", "the file is empty"))
                lines = dict(_lines(node, ()))
                return cls(loader.construct_document(node), lines)
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise _Unreadable(PolicyProblem(line, "", f"is not YAML: {error.problem or error.context}")) from None
        except (yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError, TypeError) as error:
            raise _Unreadable(PolicyProblem(1, "", f"is not YAML: {error}")) from None

    def line(self, where: Path_) -> int:
        """The line of a field, else of what it would be in."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)


def _lines(node: Node, where: Path_) -> Iterator[tuple[Path_, int]]:
    import yaml

    yield where, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                line = key.start_mark.line + 1
                raise _Unreadable(PolicyProblem(line, _dotted((*where, name)), "stands here twice"))
            seen.add(name)
            for place, line in _lines(value, (*where, name)):
                # A field is where its name is, not where its value begins.
                yield place, key.start_mark.line + 1 if place == (*where, name) else line
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            yield from _lines(value, (*where, at))
