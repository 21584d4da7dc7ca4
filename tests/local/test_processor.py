"""A processor that cannot run the models is found before anything is fetched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hdsp_agent.local import CpuTooOld, LocalModels
from hdsp_agent.local import _machine as machine_module
from hdsp_agent.local._machine import NEEDED, check_processor

from ._helpers.weights import consent_to

NEW = f"processor\t: 0\nflags\t\t: fpu sse {' '.join(NEEDED)}\n"


@pytest.fixture
def cpuinfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine_module, "_PROCESSORS", path)
    return path


@pytest.mark.parametrize("told", [NEW, "Features\t: fp asimd\n", "", None])
def test_a_processor_that_can_or_does_not_tell_is_let_be(cpuinfo: Path, told: str | None) -> None:
    if told is not None:
        cpuinfo.write_text(told, encoding="utf-8")
    check_processor("Small")


async def test_an_old_processor_fetches_nothing(cpuinfo: Path, tmp_path: Path) -> None:
    cpuinfo.write_text(NEW.replace(" avx2", ""), encoding="utf-8")
    models = LocalModels(tmp_path / "models")
    model = await models.state(None)
    with pytest.raises(CpuTooOld, match=r"\(avx2\)"):
        await models.begin(model.id, consent_to(model))
    assert (await models.state(None)).state == "absent" and not (tmp_path / "models").exists()
    await models.stop()


def test_what_is_needed_is_what_the_runtime_was_built_with() -> None:
    runtime = pytest.importorskip("xllamacpp", reason="the extra [local] is not installed")
    built = {name.lower() for name in re.findall(r"(\w+) = 1", runtime.get_system_info())}
    if "avx" not in built:
        pytest.skip("not a wheel for x86")
    assert set(NEEDED) == built & {"avx", "avx2", "f16c", "fma", "bmi2", "avx512", "amx_int8", "avx_vnni"}
