from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hdsp_agent.config import keys_in_use
from hdsp_agent.errors import ArtifactStoreUnavailable, InvalidSetting, Unsupported
from hdsp_agent.persistence.objects import _s3_store
from hdsp_agent.persistence.objects._object_store import ObjectMissing, ObjectStore
from hdsp_agent.persistence.objects._store_address import open_object_store

from .._helpers.object_store import SECRET, S3Server

ABSENT = "s3://key:secret-of-nobody@bucket/x?endpoint=http://127.0.0.1:9"


@pytest.fixture(params=["s3", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "s3":
        return open_object_store(request.getfixturevalue("s3").url())
    (tmp_path / "shared").mkdir()
    return open_object_store((tmp_path / "shared").as_uri())


def test_what_is_put_is_read_back_listed_and_deleted(store: ObjectStore) -> None:
    store.put("ada%40x/secret/one", b"first")
    store.put("ada%40x/secret/two", b"")
    store.put("bob/secret/one", b"his")
    store.put("ada%40x/secret/one", b"\x00again")
    assert store.read("ada%40x/secret/one", 6) == b"\x00again"
    assert store.read("ada%40x/secret/two", 0) == b""
    listed = {each.key: each for each in store.listed("ada%40x/secret")}
    assert {key: each.size for key, each in listed.items()} == {"ada%40x/secret/one": 6, "ada%40x/secret/two": 0}
    assert all(each.modified.tzinfo is not None for each in listed.values())
    store.delete(["ada%40x/secret/one", "ada%40x/secret/two", "never/there"])
    assert list(store.listed("ada%40x/secret")) == []
    with pytest.raises(ObjectMissing):
        store.read("ada%40x/secret/one", 6)
    assert store.read("bob/secret/one", 3) == b"his"


def test_no_more_is_read_than_there_should_be(store: ObjectStore) -> None:
    store.put("ada/one", b"longer than it should be")
    assert store.read("ada/one", 6) == b"longer"


def test_a_large_object_is_read_in_ranges(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_s3_store, "_RANGE_BYTES", 1_000)
    store = open_object_store(s3.url())
    data = bytes(range(256)) * 10
    store.put("ada/large", data)
    assert store.read("ada/large", len(data)) == data


def test_a_folder_that_is_not_mounted_is_not_made(tmp_path: Path) -> None:
    store = open_object_store((tmp_path / "shared").as_uri())
    for use in (lambda: store.put("a/b", b"x"), lambda: store.read("a/b", 1), lambda: store.delete(["a/b"])):
        with pytest.raises(ArtifactStoreUnavailable, match="does not exist"):
            use()
    assert not (tmp_path / "shared").exists()


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o777)
    open_object_store((tmp_path / "shared").as_uri()).put("ada/one", b"x")
    assert (tmp_path / "shared" / "ada" / "one").stat().st_mode & 0o077 == 0
    assert (tmp_path / "shared" / "ada").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_store_that_is_away_is_given_up_soon_and_back_when_it_is(s3: S3Server) -> None:
    store = open_object_store(s3.url())
    store.put("ada/one", b"kept")
    with (
        s3.killed(),
        pytest.raises(ArtifactStoreUnavailable, match=r"is away \(it cannot be reached\).*Nothing is lost"),
    ):
        store.read("ada/one", 4)
    assert store.read("ada/one", 4) == b"kept"


def test_a_store_that_answers_nothing_is_given_up(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = s3.url()
    with monkeypatch.context() as hurried:
        hurried.setattr(_s3_store, "_REQUEST_SECONDS", 1)
        hurried.setattr(_s3_store, "_RETRY_SECONDS", 1)
        store = open_object_store(url)
    with s3.hanging(), pytest.raises(ArtifactStoreUnavailable, match="cannot be reached"):
        store.put("ada/one", b"x")
    open_object_store(url).put("ada/one", b"x")


def test_putting_a_large_object_may_take_longer(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = s3.url()
    data = bytes(10_000)
    with monkeypatch.context() as hurried, ThreadPoolExecutor(1) as thread:
        hurried.setattr(_s3_store, "_REQUEST_SECONDS", 0.2)
        hurried.setattr(_s3_store, "_RETRY_SECONDS", 1)
        hurried.setattr(_s3_store, "_RANGE_BYTES", len(data) - 1)
        store = open_object_store(url)
        with s3.hanging():
            large = thread.submit(store.put, "ada/large", data)
            with pytest.raises(ArtifactStoreUnavailable):
                store.put("ada/small", data[1:])
        large.result()
    assert open_object_store(url).read("ada/large", len(data)) == data


@pytest.mark.parametrize(
    ("wrong", "told"),
    [({"secret": "of-somebody-else"}, "refuses the server's key"), ({"bucket": "nobodys-bucket"}, "no such bucket")],
)
def test_what_is_wrong_with_a_store_is_told(s3: S3Server, wrong: dict[str, str], told: str) -> None:
    store = open_object_store(s3.url(**wrong))
    with pytest.raises(ArtifactStoreUnavailable, match=told):
        store.read("ada/one", 1)


def test_the_key_is_nowhere_to_be_seen(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    # A key in the environment does not get in its way.
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-something-else")
    store = open_object_store(s3.url())
    store.put("ada/one", b"x")
    absent = open_object_store(ABSENT)
    with pytest.raises(ArtifactStoreUnavailable) as refused:
        absent.put("ada/one", b"x")
    seen = f"{store.__dict__} {store.name} {absent.__dict__} {refused.value.message} {refused.value.params}"
    assert SECRET not in seen and "secret-of-nobody" not in seen
    assert refused.value.__cause__ is None and refused.value.__suppress_context__
    for text in (f"It is {SECRET} here", "It is correct%2Fhorse%2Bbattery-staple here", "token-of-something-else"):
        assert "battery" not in keys_in_use.mask(text) and "something-else" not in keys_in_use.mask(text)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("s3://key:secret-of-nobody@bucket", "s3://bucket"),
        ("s3://key:secret-of-nobody@my.bucket/a/b/?region=eu-west-1&addressing=virtual", "s3://my.bucket/a/b"),
        (ABSENT, "s3://bucket/x"),
    ],
)
def test_a_store_is_told_by_its_bucket_and_prefix(monkeypatch: pytest.MonkeyPatch, address: str, name: str) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert open_object_store(address).name == f"the object store {name}"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "https://s3.example.org/bucket",
        "s3://key:secret-of-nobody@",
        "s3://key:secret-of-nobody@Bucket_/prefix",
        "s3://key:secret/of-nobody@bucket/prefix",
        "s3://key:secret-of-nobody@[bucket/prefix",
        "s3://key@bucket/prefix",
        "s3://key:secret-of-nobody@bucket/../other",
        "s3://key:secret-of-nobody@bucket/a//b",
        "s3://key:secret-of-nobody@bucket/prefix?endpoint=127.0.0.1:9000",
        "s3://key:secret-of-nobody@bucket/prefix?endpoint=https://key:secret-of-nobody@s3.example.org",
        "s3://key:secret-of-nobody@bucket/prefix?endpiont=https://s3.example.org",
        "s3://key:secret-of-nobody@bucket/prefix?region=",
        "file://host/srv/artifacts",
        "file:srv",
        "file:///",
    ],
)
def test_an_address_that_makes_no_sense_is_refused_and_not_quoted(wrong: str) -> None:
    with pytest.raises(InvalidSetting, match="artifact_store_url") as refused:
        open_object_store(wrong)
    assert "secret-of-nobody" not in f"{refused.value.message} {refused.value.params}"
    assert refused.value.field == "artifact_store_url"


def test_without_its_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(Unsupported, match=r"pip install 'hdsp-agent\[object-store\]'"):
        open_object_store(ABSENT)


def test_a_connection_is_not_waited_for_at_an_address_that_takes_none(silent_port: int) -> None:
    store = open_object_store(f"s3://key:secret-of-nobody@bucket/x?endpoint=http://127.0.0.1:{silent_port}")
    with pytest.raises(ArtifactStoreUnavailable):
        store.put("ada/one", b"x")


@pytest.fixture
def silent_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(_s3_store, "_REQUEST_SECONDS", 1)
    monkeypatch.setattr(_s3_store, "_RETRY_SECONDS", 1)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=1)) as silent:
        yield silent.getsockname()[1]
