"""Programs that are forked are, for who begins them, what they would be otherwise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from ._helpers.forked_python import forked_python

PROGRAMS = {"forked": forked_python, "of its own": lambda: sys.executable}
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="nothing is forked here"),
    pytest.mark.parametrize("python", PROGRAMS.values(), ids=PROGRAMS.keys()),
]
_LAST_WORDS = """
import atexit, os, sys
atexit.register(lambda: print("goodbye", flush=True))
print(sys.argv[1:], os.getcwd(), os.environ["A"], sys.stdin.read(), __name__)
print("wrong", file=sys.stderr)
sys.exit({end})
"""
_ASLEEP = "import time\nprint('here', flush=True)\ntime.sleep(60)"
Python = Callable[[], str]


@pytest.mark.parametrize(("end", "code", "told"), [("", 0, ""), ("3", 3, ""), ("'no'", 1, "no\n")])
def test_streams_arguments_surroundings_and_the_end_are_its_own(
    python: Python, tmp_path: Path, end: str, code: int, told: str
) -> None:
    done = subprocess.run(
        [python(), "-c", _LAST_WORDS.format(end=end), "one", "둘"],
        cwd=tmp_path, env={"A": "ö", "PYTHONUTF8": "1"}, input="안녕", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert done.stdout == f"['one', '둘'] {tmp_path} ö 안녕 __main__\ngoodbye\n"
    assert done.stderr == f"wrong\n{told}"


def test_modules_and_scripts_are_run(python: Python, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("import sys\nprint(sys.argv[1:], __name__)\n")
    (tmp_path / "script.py").write_text("import beside\n")
    for arguments, name in ((["-m", "beside", "x"], "__main__"), ([str(tmp_path / "script.py"), "x"], "beside")):
        said = subprocess.run([python(), *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert said.stdout == f"['x'] {name}\n"


def test_what_was_said_before_something_went_wrong_is_told_too(python: Python) -> None:
    code = "import atexit\natexit.register(lambda: print('goodbye'))\nprint('x')\n1 / 0"
    failed = subprocess.run([python(), "-c", code], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "x\ngoodbye\n")


def test_a_program_that_heeds_a_signal_ends_its_own_way(python: Python) -> None:
    code = "import signal, sys\nsignal.signal(15, lambda *_: sys.exit(5))\n" + _ASLEEP
    with subprocess.Popen([python(), "-c", code], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stdout.readline() == b"here\n"
        program.terminate()
        assert program.wait(30) == 5


def test_what_goes_wrong_is_told_and_warnings_can_be_errors(python: Python) -> None:
    failed = subprocess.run([python(), "-c", "1 / 0"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and failed.stderr.endswith("ZeroDivisionError: division by zero\n")
    warned = subprocess.run(
        [python(), "-W", "error", "-c", "import warnings; warnings.warn('x')"], capture_output=True, check=False
    )
    assert warned.returncode == 1 and b"UserWarning" in warned.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_it_and_it_ends_by_them(python: Python, number: signal.Signals) -> None:
    with subprocess.Popen([python(), "-c", _ASLEEP], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stdout.readline() == b"here\n"
        program.send_signal(number)
        assert program.wait(30) == -number


def test_what_is_killed_leaves_nothing(python: Python) -> None:
    code = f"import os\nprint(os.getpid(), flush=True)\n{_ASLEEP}"
    with subprocess.Popen([python(), "-c", code], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        process = int(program.stdout.readline())
        program.kill()
    deadline = time.monotonic() + 30
    while psutil.pid_exists(process):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_may_kill_itself_at_once(python: Python) -> None:
    code = "import os, signal\nprint('unsaid')\nos.kill(os.getpid(), signal.SIGKILL)"
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run([python(), "-c", code], capture_output=True, check=False, env=surroundings)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
