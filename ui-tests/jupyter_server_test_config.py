"""The server that the tests in Chromium talk to: Galata's own configuration, with a storage folder of its own."""

import os
import sys
import tempfile
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server

sys.path.insert(0, str(Path(__file__).parent))

configure_jupyter_server(c)  # type: ignore[name-defined]  # noqa: F821  # Jupyter runs config files with `c` defined

c.ServerApp.ip = "127.0.0.1"  # type: ignore[name-defined]  # noqa: F821
c.ServerApp.allow_root = True  # type: ignore[name-defined]  # noqa: F821
# No story needs the last two, and they are a third of the time that a server takes to start.
c.ServerApp.jpserver_extensions = {  # type: ignore[name-defined]  # noqa: F821
    "hdsp_agent": True,
    "scripted_agent": True,
    "jupyter_lsp": False,
    "notebook_shim": False,
}
# A crowded machine takes longer than anybody's keyring to say that there is none.
c.HdspAgentApp.keyring_timeout = 30.0  # type: ignore[name-defined]  # noqa: F821
c.ServerApp.reraise_server_extension_failures = True  # type: ignore[name-defined]  # noqa: F821
c.HdspAgentApp.storage_dir = os.environ.get("HDSP_UI_HOME") or tempfile.mkdtemp(prefix="hdsp-ui-")  # type: ignore[name-defined]  # noqa: F821

if first := os.environ.get("HDSP_UI_KERNEL_PORTS"):
    from kernel_ports import keep_to

    keep_to(int(first))

if listed := os.environ.get("HDSP_UI_MODEL_LIST"):
    from hdsp_agent.local import _model_list

    # A story offers a model of its own; there is no other way to a list than ours.
    _model_list.DATA = Path(listed)  # type: ignore[misc]
