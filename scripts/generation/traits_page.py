"""``docs/reference/traits.md``: what an operator may set in Jupyter's configuration."""

from __future__ import annotations

from typing import Final

from hdsp_agent.app import HdspAgentApp

from .markdown import code, header, one_line, table

__all__ = ["write_traits_page"]

_INTRODUCTION: Final = """
Set these in `jupyter_server_config.py` or `jupyter_hdsp_agent_config.py` as `c.HdspAgentApp.<name> = …`. On the command
line of Jupyter they are `--HdspAgentApp.<name>=…`. A wrong value stops the extension with a message that names it.

[Share on a hub](../guides/hub.md) says which of them you need.
"""

_COMPUTED: Final = {
    "storage_dir": "`~/.hdsp-agent`",
    "storage_backend": "`'files'`",
    "storage_url": "the environment",
    "local_models_dir": "the cache folder",
}
"""Defaults that depend on the environment."""


def write_traits_page() -> str:
    """The file's text, before prettier."""
    rows = [
        (code(name), _COMPUTED.get(name) or code(trait.default_value_repr()), one_line(trait.help))
        for name, trait in HdspAgentApp.class_own_traits(config=True).items()
    ]
    body = table(("Name", "Default", "What it does"), sorted(rows))
    return f"{header('Server options', 'hdsp_agent/app.py', _INTRODUCTION)}\n\n{body}\n"
