"""A folder of snapshots: transparent, and never in the way."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.main import main
from kinetoscope._io import cache

pytestmark = pytest.mark.unit


@pytest.fixture
def job(data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(data / "mlp_gloo", tmp_path / "job"))


@pytest.fixture
def kineto(job: Path) -> Path:
    return job / "kineto_trace_0.json.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the user's key."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home/kinetoscope/cache.key"


@pytest.fixture
def read_counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many snapshots were kept: one for each trace that was not in the cache."""
    counts: list[int] = []
    store = cache._store

    def counted(trace: _native.Trace, entry: Path, secret: bytes) -> None:
        counts.append(1)
        store(trace, entry, secret)

    monkeypatch.setattr(cache, "_store", counted)
    yield counts
    monkeypatch.setattr(cache, "_folder", [])


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_the_second_time_it_is_loaded(kineto: Path, folder: Path, read_counts: list[int]) -> None:
    first = ks.read(kineto, cache=folder)
    second = ks.read(kineto, cache=folder)
    assert len(read_counts) == len(entries(folder)) == 1
    for table in _native.Trace.table_names():
        assert first.table(table).rows() == second.table(table).rows(), table
    assert (first.source, first.execution_source) == (second.source, second.execution_source)
    assert ks.read(entries(folder)[0]).num_events == first.num_events


def test_what_makes_it_another(kineto: Path, folder: Path, read_counts: list[int]) -> None:
    ks.read(kineto, cache=folder)
    ks.read(kineto, et=False, cache=folder)
    ks.read(kineto, max_bytes=10**9, cache=folder)
    os.utime(kineto, ns=(1, 1))
    ks.read(kineto, cache=folder)
    assert len(read_counts) == 4
    copy = shutil.copy2(kineto, kineto.with_name("copy.json.gz"))
    ks.read(copy, cache=folder, et=kineto.with_name("torch_et_0.json.gz"))
    assert len(read_counts) == 4
    about = kineto.stat()
    content = bytearray(kineto.read_bytes())
    content[4] ^= 1  # the time in gzip's header
    kineto.write_bytes(content)
    os.utime(kineto, ns=(about.st_atime_ns, about.st_mtime_ns))
    ks.read(kineto, cache=folder)
    assert len(read_counts) == 5


def test_a_large_file_is_known_by_parts_of_it(folder: Path, tmp_path: Path, read_counts: list[int]) -> None:
    event = b'{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 2},\n'
    path = tmp_path / "large.json"
    path.write_bytes(b"[" + event * 100_000 + b"{}]")
    assert path.stat().st_size > 64 * 65536
    about = path.stat()
    for _ in range(2):
        assert ks.read(path, cache=folder).num_events == 100_000
    path.write_bytes(b"[" + event * 99_999 + event.replace(b"X", b"i") + b"{}]")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert ks.read(path, cache=folder).num_events == 99_999
    assert len(read_counts) == 2


def test_a_corrupt_entry_is_told_and_written_anew(kineto: Path, folder: Path, read_counts: list[int]) -> None:
    expected = ks.read(kineto, cache=folder).events.rows()
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for broken in (b"", whole[:20], whole[:-1], bytes(flipped)):
        entry.write_bytes(broken)
        with pytest.warns(RuntimeWarning, match="cache entry .* was not read, reading the trace again"):
            assert ks.read(kineto, cache=folder).events.rows() == expected
        assert len(entry.read_bytes()) == len(whole)
    assert len(read_counts) == 5


def test_a_cache_that_cannot_be_written_is_no_hindrance(kineto: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning, match="cache entry .* was not (read|written)"):
        assert ks.read(kineto, cache=tmp_path / "file").num_events > 0


def test_errors_are_those_of_reading(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"{}")
    with pytest.raises(ks.TraceError, match=r"bad\.json"):
        ks.read(tmp_path / "bad.json", cache=folder)
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        ks.read(tmp_path / "none.json", cache=folder)
    assert not folder.exists()


def test_who_says_which_folder(
    job: Path, folder: Path, tmp_path: Path, read_counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kineto = job / "kineto_trace_0.json.gz"
    monkeypatch.setenv("KINETOSCOPE_CACHE", str(folder))
    ks.read(kineto)
    assert len(entries(folder)) == 1
    ks.use_cache(tmp_path / "other")
    ks.read_dir(job)
    assert len(entries(tmp_path / "other")) == 2
    ks.read(kineto, cache=False)
    ks.use_cache(None)
    ks.read(kineto)
    assert len(read_counts) == 3
    assert main(["doctor", str(kineto), "--cache", str(tmp_path / "third")]) == 0
    assert len(entries(tmp_path / "third")) == 1


def test_what_has_no_path_is_not_cached(kineto: Path, folder: Path, read_counts: list[int]) -> None:
    ks.read(kineto.read_bytes(), cache=folder)
    with kineto.open("rb") as file:
        ks.read(file, cache=folder)
    assert read_counts == []


def test_many_writers_at_once(kineto: Path, folder: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        counts = list(threads.map(lambda _: ks.read(kineto, cache=folder).num_events, range(64)))
    assert len(set(counts)) == 1
    assert [path.suffix for path in entries(folder)] == [".kscope"]


def test_a_file_that_changes_while_it_is_read_is_not_kept(kineto: Path, folder: Path) -> None:
    from kinetoscope._io.file import LocalFile

    def read() -> _native.Trace | _native.Tables:
        trace = _native.read([(str(kineto), None)])
        kineto.write_bytes(b"changed")
        return trace

    cache.read_cached(str(folder), [LocalFile(kineto)], read, max_bytes=None)
    assert not folder.exists()


def test_only_this_user_may_read_the_key_and_entries(kineto: Path, folder: Path, key: Path) -> None:
    ks.read(kineto, cache=folder)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (key, *entries(folder))] == [0o600, 0o600]
    assert len(key.read_bytes()) == 32


def test_an_entry_that_another_key_signed_is_not_taken(
    kineto: Path, folder: Path, key: Path, data: Path, read_counts: list[int]
) -> None:
    expected = ks.read(kineto, cache=folder).num_events
    (entry,) = entries(folder)
    own_name, own_key = entry.name, key.read_bytes()
    other = ks.read(data / "minimal_cpu/kineto_trace_0.json.gz")
    assert other.num_events != expected
    forged = other.snapshot()
    # with the checksum that everybody can compute, and with that of another key
    for digest in (hashlib.blake2b(forged, digest_size=32), hashlib.blake2b(forged, digest_size=32, key=bytes(32))):
        entry.write_bytes(forged + digest.digest())
        with pytest.warns(RuntimeWarning, match="found another"):
            assert ks.read(kineto, cache=folder).num_events == expected
    key.write_bytes(bytes(32))
    assert ks.read(kineto, cache=folder).num_events == expected
    assert {path.name for path in entries(folder)} > {own_name}, "another key gives another name"
    key.write_bytes(own_key)
    assert ks.read(kineto, cache=folder).num_events == expected
    assert len(read_counts) == 4


def test_a_link_is_not_followed(kineto: Path, folder: Path, tmp_path: Path) -> None:
    expected = ks.read(kineto, cache=folder).num_events
    (entry,) = entries(folder)
    private = tmp_path / "private"
    entry.rename(private)
    before = private.read_bytes()
    entry.symlink_to(private)
    with pytest.warns(RuntimeWarning, match="was not read"):
        assert ks.read(kineto, cache=folder).num_events == expected
    assert private.read_bytes() == before
    assert not entry.is_symlink()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_an_entry_of_another_user_is_not_read(kineto: Path, folder: Path) -> None:
    expected = ks.read(kineto, cache=folder).num_events
    os.chown(entries(folder)[0], 12345, -1)
    with pytest.warns(RuntimeWarning, match="found one of user 12345"):
        assert ks.read(kineto, cache=folder).num_events == expected


def test_without_a_place_for_the_key(
    kineto: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="the cache is not used"):
        assert ks.read(kineto, cache=folder).num_events > 0
    assert not folder.exists()


def test_many_readers_make_one_key(kineto: Path, folder: Path, key: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: ks.read(kineto, cache=folder), range(8)))
    assert len(entries(folder)) == 1
    assert [path.name for path in key.parent.iterdir()] == ["cache.key"]
