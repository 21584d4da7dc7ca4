"""Importing the vocabulary costs little, because nothing is built before it is used."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json, sys
from hdsp_agent import messages
from hdsp_agent.wire import WireModel

def models(model):
    for child in model.__subclasses__():
        if child.__module__.startswith("hdsp_agent.messages."):
            yield child
        yield from models(child)

built_by_import = sorted({model.__name__ for model in models(WireModel) if model.__pydantic_complete__})
frames = [messages.parse_client_frame({"op": "ping", "commId": "c"})]
messages.warm_up()
unbuilt = sorted({model.__name__ for model in models(WireModel) if not model.__pydantic_complete__} - {"Message", "Record"})
foreign = sorted({"tornado", "jupyter_server", "keyring", "zmq"} & set(sys.modules))
print(json.dumps([built_by_import, len(frames), unbuilt, foreign]))
"""


def test_importing_builds_nothing_and_warming_up_builds_everything() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    built_by_import, frames, unbuilt, foreign = json.loads(done.stdout)
    assert built_by_import == []
    assert frames == 1
    assert unbuilt == []
    assert foreign == []
