"""Build the wheel where Python is the only tool, install it into an empty environment, and ask Jupyter about it.

What is built is what git knows, in a folder of its own, so that nothing left lying about can help.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "wheel-check"
START_PATIENCE_SECONDS = 60
PLUGINS = ("hdsp-agent:channel", "hdsp-agent:panel", "hdsp-agent:review", "hdsp-agent:timeline")


def path_without_node() -> str:
    """PATH without any folder that has a node, npm or yarn."""
    tools = ("node", "npm", "yarn", "jlpm")
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(f for f in folders if not any((Path(f) / tool).exists() for tool in tools))


def run(*command: str | Path, env: dict[str, str], cwd: Path | None = None) -> str:
    """Run a command; on failure show what it said and stop."""
    done = subprocess.run(list(map(str, command)), env=env, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}\nexit code {done.returncode}")
    return done.stdout + done.stderr


def copy_sources(target: Path) -> None:
    """Copy the files git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def new_environment(folder: Path) -> Path:
    """An empty environment; returns its programs' folder."""
    venv.create(folder, with_pip=True)
    return folder / "bin"


def build(programs: Path, work: Path, env: dict[str, str]) -> Path:
    """Build the wheel with pip alone, which leaves the environment as empty as it was."""
    sources = work / "sources"
    sources.mkdir()
    copy_sources(sources)
    run(programs / "python", "-m", "pip", "wheel", "--no-deps", "--wheel-dir", work, ".", env=env, cwd=sources)
    (wheel,) = work.glob("hdsp_agent-*.whl")
    return wheel


def check_front_end(wheel: Path) -> None:
    """The page's half must hold our code: the builder once said "compiled successfully" and had left all of it out."""
    with zipfile.ZipFile(wheel) as files:
        scripts = [
            name for name in files.namelist() if "/labextensions/hdsp-agent/static/" in name and name.endswith(".js")
        ]
        code = "".join(files.read(name).decode("utf-8") for name in scripts)
    missing = [plugin for plugin in PLUGINS if plugin not in code]
    if missing:
        sys.exit(f"The built front end lacks {', '.join(missing)}; it has {len(scripts)} files.")


def ask_health(port: int) -> dict[str, object]:
    """Ask the running server until it answers."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/hdsp-agent/api/health", headers={"Authorization": f"token {TOKEN}"}
    )
    deadline = time.monotonic() + START_PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                health: dict[str, object] = json.load(answer)
                return health
        except (urllib.error.URLError, ConnectionError) as error:
            if time.monotonic() > deadline:
                sys.exit(f"The installed server did not answer: {error}")
            time.sleep(0.3)


def check_installed(programs: Path, work: Path, env: dict[str, str]) -> None:
    """Jupyter must list both halves as OK, and the server must answer."""
    for kind in ("server extension", "labextension"):
        said = run(programs / "jupyter", *kind.split(), "list", env=env, cwd=work)
        if not any(
            name in line and "OK" in line for line in said.splitlines() for name in ("hdsp_agent", "hdsp-agent")
        ):
            sys.exit(f"`jupyter {kind} list` does not say OK:\n{said}")
    port = 18000 + os.getpid() % 2000
    server = subprocess.Popen(
        [programs / "jupyter", "server", "--allow-root", "--no-browser", "--ServerApp.port_retries=0",
         f"--ServerApp.port={port}", f"--IdentityProvider.token={TOKEN}"],
        env=env, cwd=work, stdout=subprocess.DEVNULL, stderr=(work / "server.log").open("w"),
    )  # fmt: skip
    try:
        health = ask_health(port)
    finally:
        server.terminate()
        server.wait(timeout=20)
    print(f"The wheel installs and answers without Node: version {health['version']}, {health['status']}.")


def main() -> None:
    """Build, install, ask."""
    with tempfile.TemporaryDirectory(prefix="hdsp-wheel-") as folder:
        work = Path(folder)
        home = work / "home"
        home.mkdir()
        env = {**os.environ, "PATH": path_without_node(), "HDSP_AGENT_HOME": str(home / "hdsp")}
        env.pop("HATCH_JUPYTER_BUILDER_SKIP_NPM", None)
        programs = new_environment(work / "empty-env")
        wheel = build(programs, work, env)
        check_front_end(wheel)
        # Most of what JupyterLab brings is not imported here: what is, Python compiles by itself.
        run(programs / "python", "-m", "pip", "install", "--quiet", "--no-compile", wheel, env=env)
        # Only now an empty HOME: pip's and yarn's caches may serve the build.
        check_installed(programs, work, {**env, "HOME": str(home), "PATH": f"{programs}{os.pathsep}{env['PATH']}"})


if __name__ == "__main__":
    main()
