"""An AI agent that lives in JupyterLab."""

from __future__ import annotations

from ._version import __version__

__all__ = ["__version__"]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "../labextension/dist", "dest": "hdsp-agent"}]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    # Imported here: naming the package must cost nothing.
    from .app import HdspAgentApp

    return [{"module": "hdsp_agent", "app": HdspAgentApp}]
