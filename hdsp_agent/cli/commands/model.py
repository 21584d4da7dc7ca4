"""``hdsp-agent model``: embedded models on this machine, and getting or removing one."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._amounts import bytes_text
from .._columns import table
from .._command import CliCommand, ExitCode
from .._keyboard import says_yes

if TYPE_CHECKING:
    from ...local import LocalModels, LocalModelView, Progress
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_SOURCES: Final = {
    "file": "copying",
    "disk": "copying from this disk",
    "hub": "from the model's hub",
    "packages": "from the package index",
    "check": "checking",
}
_ABILITIES: Final = {
    "small": "Small steps in one notebook. It is often wrong: check what it did.",
    "larger": "Small steps in one notebook, right more often than the smaller one. Check what it did.",
    "unknown": "Nobody has tried it with this agent.",
}
_MEGABYTE: Final = 1_000_000


def _arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions.add_parser("list", help="list models, and which ones are downloaded", allow_abbrev=False))
    get = actions.add_parser(
        "get", help="download a model, after you agree to its size and license", allow_abbrev=False
    )
    get.add_argument(
        "model", nargs="?", metavar="MODEL",
        help="its id from list, or a file of the hub as owner/repository:file.gguf (default: the first)",
    )  # fmt: skip
    get.add_argument("--from", dest="path", metavar="FILE", type=Path, help="use this file of yours")
    get.add_argument("--yes", action="store_true", help="agree to its size and license without being asked")
    license_of = actions.add_parser("license", help="print the license of a listed model", allow_abbrev=False)
    remove = actions.add_parser("remove", help="delete a model, or a partial download", allow_abbrev=False)
    for parser_of_one in (license_of, remove):
        parser_of_one.add_argument("model", metavar="MODEL", help="its id from list")
    for parser_of_one in (get, license_of, remove):
        _action(parser_of_one)


def _action(parser: ArgumentParser) -> None:
    # What may stand after `model` may stand after `model get` too.
    for option, meaning in (("--json", "print JSON"), ("--quiet", "no progress, no notes, no warnings")):
        parser.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=meaning)


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...local import LocalModels, licence_text
    from .._operator_policy import local_models_folder, operator_policy

    policy = operator_policy()
    models = LocalModels(local_models_folder(), policy=lambda: policy)
    match options.action:
        case "list":
            _show(terminal, models, await models.states())
        case "get":
            return await _get(terminal, models, options)
        case "license":
            text = licence_text(options.model)
            _tell(terminal, {"id": options.model, "license": text}, text)
        case _:
            freed = await models.remove(options.model)
            _tell(
                terminal, {"freed": freed}, f"{bytes_text(freed)} freed." if freed else "There was nothing to delete."
            )
    return ExitCode.OK


def _tell(terminal: Terminal, document: dict[str, object], text: str) -> None:
    if terminal.json:
        terminal.document(document)
    else:
        terminal.line(text)


async def _get(terminal: Terminal, models: LocalModels, options: Namespace) -> ExitCode:
    from ...local import Consent

    models.check_allowed()
    model = await _named(terminal, models, options.model)
    if model is None:
        return ExitCode.BAD_REQUEST
    if model.state != "ready" and not options.yes and not await _agrees(terminal, models, model, options.path):
        terminal.error("nothing was downloaded; to agree, answer y or use --yes")
        return ExitCode.BAD_REQUEST
    # The two that were shown, or that --yes speaks of.
    await models.begin(model.id, Consent(model.licence, model.size), path=options.path and options.path.absolute())
    path = await models.got(model.id, lambda progress: _draw(terminal, progress))
    _tell(terminal, {"id": model.id, "path": str(path), "size": model.size, "sha256": model.sha256}, str(path))
    terminal.note(f"{model.name} is ready. Choose the provider 'Embedded model' in a profile to use it.")
    return ExitCode.OK


async def _named(terminal: Terminal, models: LocalModels, name: str | None) -> LocalModelView | None:
    """The model that is meant; None where a repository has several, which are listed."""
    if name is None:
        return (await models.states())[0]
    if "/" not in name:
        return await models.state(name)
    found = await models.look_up(name)
    if len(found) == 1:
        return found[0]
    repository = name.strip().partition(":")[0]
    terminal.error(f"{repository} has several models; name one of them:")
    for model in found:
        file = next(source.file for source in model.sources if source.kind == "hub")
        terminal.note(f"  {repository}:{file}  {bytes_text(model.size)}")
    return None


async def _agrees(terminal: Terminal, models: LocalModels, model: LocalModelView, path: Path | None) -> bool:
    terminal.note(
        f"{model.name} is a download of {bytes_text(model.size)} to {models.folder.path}. It needs about "
        f"{bytes_text(model.memory)} of memory while it runs. {_ability(model)}"
    )
    terminal.note(f"Its license is {model.licence or 'not declared'}: {model.licence_url}")
    for source in _origins(model):
        terminal.note(source)
    if terminal.quiet or not sys.stdin.isatty():
        return False
    return await says_yes("Copy it?" if path else "Download it?")


def _ability(model: LocalModelView) -> str:
    """What it can do, and how much it was seen to do."""
    held_out = model.held_out
    seen = f" Of {held_out.of} tasks it had never seen, it did {held_out.done:.0f}% right." if held_out else ""
    return _ABILITIES[model.ability] + seen


def _origins(model: LocalModelView) -> list[str]:
    """Where it comes from, plainly."""
    told = []
    for source in model.sources:
        if source.kind == "hub":
            told.append(f"From {source.repository} on the hub, commit {source.revision}, sha256 {model.sha256}")
        else:
            told.append(f"Or from packages on the package index that hold its weights ({source.label})")
    return told


def _draw(terminal: Terminal, progress: Progress) -> None:
    terminal.progress(f"MB {_SOURCES[progress.source]}", progress.done // _MEGABYTE, progress.total // _MEGABYTE)


def _show(terminal: Terminal, models: LocalModels, states: list[LocalModelView]) -> None:
    if terminal.json:
        terminal.document({"folder": str(models.folder.path), "models": [state.to_wire() for state in states]})
        return
    rows = [
        (
            state.id + (" (offered)" if state.is_offered else ""),
            bytes_text(state.size),
            bytes_text(state.memory),
            f"{state.context:,}",
            state.licence or "none",
            f"{state.done / state.size:.0%} downloaded" if state.state == "partial" else state.state,
        )
        for state in states
    ]
    heads = ("MODEL", "SIZE", "MEMORY", "WINDOW", "LICENSE", "STATE")
    terminal.lines(table(heads, rows, right=frozenset({1, 2, 3}), width=terminal.width))
    for state in states:
        terminal.note(f"{state.name}: {_ability(state)}")
    terminal.note(f"Stored in {models.folder.path}")


COMMAND: Final = CliCommand(
    help="list, download and remove embedded models",
    run=_run,
    arguments=_arguments,
    details="get downloads a model after you agree to its size and license: from your file, this disk, the model's hub, or\n"
    "packages that contain only its data (through your pip configuration; nothing is installed). It is verified\n"
    "before it is used. HDSP_AGENT_MODELS sets another folder, HF_ENDPOINT a mirror of the hub.",
    interrupted="interrupted; the partial download is kept, and the same command continues it",
)
