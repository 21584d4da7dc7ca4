"""The process that runs the embedded model, and nothing else of ours. Run as a script of its own.

Reads one line of JSON from standard input: what to load, and the key to ask for. Answers one line: where it listens, or why
it cannot. When its input ends, whoever began it is gone, however it went, and so is this, at once. Its memory is given
back that way too. It needs the standard library and ``xllamacpp``; what the library logs goes to standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from typing import TextIO


def main() -> None:
    """Serve until standard input ends."""
    answers = _own_output()
    wanted = json.loads(sys.stdin.readline())
    # While the model is read nobody may be left waiting for us either.
    threading.Thread(target=_end_with_input, daemon=True).start()
    _die_before_others()
    try:
        import xllamacpp
    except ImportError as error:
        _answer(answers, failed="missing" if error.name == "xllamacpp" else "import", reason=str(error))
        return
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.model_alias = {wanted["name"]}
    # The library's own defaults let anybody on this machine in, show a page, and keep 8 GiB of old prompts.
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wanted["key"]]
    params.ui = False
    params.cors_origins = ""
    params.offline = True
    params.endpoint_slots = False
    params.n_parallel = 1
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
    params.n_ctx = wanted["context"]
    params.n_predict = wanted["output"]
    params.cache_ram_mib = wanted["cacheMib"]
    # Nothing of what people say is logged.
    params.warmup = False
    params.verbosity = 1
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # noqa: BLE001 -- whatever it is, whoever began us tells people
        _answer(answers, failed="load", reason=str(error))
        return
    _answer(answers, url=server.listening_address)
    threading.Event().wait()


def _own_output() -> TextIO:
    """Standard output for our answers alone; what the library prints there joins its log."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def _answer(answers: TextIO, **fields: str) -> None:
    answers.write(json.dumps(fields) + "\n")
    answers.flush()


def _end_with_input() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    # Not an orderly exit: it would wait for an answer that nobody reads any more.
    os._exit(0)


def _die_before_others() -> None:
    """Where memory runs out, Linux is to end this process and not the server with people's notebooks."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


if __name__ == "__main__":
    # Run by its path, it would find our own modules under top-level names.
    sys.path[:] = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
    main()
