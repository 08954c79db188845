"""Traces at addresses, through fsspec."""

from __future__ import annotations

import io
import sys
import threading
import warnings
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope._io.paths import is_url
from kinetoscope._io.remote import public_url

fsspec = pytest.importorskip("fsspec")

pytestmark = pytest.mark.unit


@pytest.fixture
def memory(data: Path) -> Iterator[Any]:
    """The files of a job in fsspec's memory."""
    system = fsspec.filesystem("memory")
    for path in (data / "mlp_gloo").iterdir():
        system.pipe(f"/run/{path.name}", path.read_bytes())
    yield system
    system.rm("/", recursive=True)


class Quiet(SimpleHTTPRequestHandler):
    """Gives files, and lists no folders, as most servers do."""

    def list_directory(self, path: Any) -> io.BytesIO | None:  # noqa: ARG002 - the base class names it
        self.send_error(403)
        return None

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - as above
        pass


class Listing(Quiet):
    list_directory = SimpleHTTPRequestHandler.list_directory


@pytest.fixture(params=[Quiet, Listing])
def server(data: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    pytest.importorskip("aiohttp")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(request.param, directory=str(data)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_what_is_an_address() -> None:
    assert all(map(is_url, ["s3://b/x.json", "memory://x", "simplecache::gs://b/x", "https://h/x?y#z"]))
    assert not any(map(is_url, ["C:\\x.json", "C:/x.json", "x.json", "/a/b::c", Path("s3://b"), b"s3://b"]))


def test_a_trace_with_the_execution_trace_beside(memory: Any, data: Path) -> None:
    trace = ks.read("memory://run/kineto_trace_1.json.gz")
    local = ks.read(data / "mlp_gloo/kineto_trace_1.json.gz")
    assert trace.events.rows() == local.events.rows()
    assert trace.nodes.rows() == local.nodes.rows()
    assert trace.source == "memory://run/kineto_trace_1.json.gz"
    assert trace.title == "kineto_trace_1.json.gz"
    assert len(ks.read("memory://run/kineto_trace_1.json.gz", et=False).nodes) == 0
    assert len(ks.read("memory://run/kineto_trace_1.json.gz", "memory://run/torch_et_1.json.gz").nodes) > 0
    assert len(ks.read(data / "mlp_gloo/kineto_trace_1.json.gz", "memory://run/torch_et_1.json.gz").nodes) > 0


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("folder", ["memory://run", "memory://run/"])
def test_a_folder(memory: Any, folder: str, *, eager: bool) -> None:
    memory.pipe("/run/notes.txt", b"a note")
    memory.pipe("/run/more/kineto_trace_3.json", b"[]")
    job = ks.read_dir(folder, eager=eager)
    assert (job.ranks, list(job.skipped)) == ([0, 1], ["notes.txt"])
    assert all(len(trace.nodes) for trace in job)
    if not eager:
        lazy = ks.read_dir(folder, eager=False)
        assert [member.size for member in lazy.members] == [
            sum(memory.size(f"/run/{name}") for name in pair.names) for pair in lazy.pairs
        ]


def test_an_archive(memory: Any, data: Path, tmp_path: Path) -> None:
    import shutil

    archive = shutil.make_archive(str(tmp_path / "job"), "zip", data / "mlp_gloo")
    memory.pipe("/job.zip", Path(archive).read_bytes())
    job = ks.read("memory://job.zip")
    assert isinstance(job, ks.TraceSet)
    assert job.ranks == ks.read_dir("memory://job.zip").ranks == [0, 1]


def test_a_snapshot(memory: Any, data: Path) -> None:
    trace = ks.read(data / "mlp_gloo/kineto_trace_1.json.gz")
    memory.pipe("/run.kscope", trace.snapshot())
    assert ks.read("memory://run.kscope").nodes.rows() == trace.nodes.rows()


def test_over_http(server: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"{server}/mlp_gloo/kineto_trace_1.json.gz"
    trace = ks.read(address)
    assert trace.nodes.rows() == ks.read(data / "mlp_gloo/kineto_trace_1.json.gz").nodes.rows()
    assert main(["summary", address]) == 0
    assert capsys.readouterr().out.startswith("kineto_trace_1.json.gz: recording complete · span ")


def test_over_http_with_a_signature(server: str) -> None:
    trace = ks.read(f"{server}/mlp_gloo/kineto_trace_1.json.gz?signature=secret")
    assert trace.source == f"{server}/mlp_gloo/kineto_trace_1.json.gz"
    assert len(trace.nodes) > 0


def test_what_is_not_there(memory: Any, server: str, capsys: pytest.CaptureFixture[str]) -> None:
    for address in ("memory://run/none.json", f"{server}/none.json?signature=secret"):
        with pytest.raises(FileNotFoundError) as error:
            ks.read(address)
        assert "none.json" in str(error.value)
        assert main(["summary", address]) == 2
        assert capsys.readouterr().err == f"kinetoscope: no such file: {public_url(address)}\n"
    with pytest.raises(FileNotFoundError):
        ks.read_dir("memory://nowhere")


def test_what_is_no_trace(memory: Any) -> None:
    memory.pipe("/page.json", b"<html>")
    with pytest.raises(ks.UnsupportedTraceError, match=r"found an HTML or XML page \(memory://page.json"):
        ks.read("memory://page.json")


def test_secrets_stay_out_of_words() -> None:
    assert public_url("https://user:password@host/a.json?key=secret#part") == "https://host/a.json"
    assert public_url("simplecache::s3://key:secret@bucket/a.json") == "simplecache::s3://bucket/a.json"


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError, match=r"for s3://b/x, found none: pip install 'kinetoscope\[remote\]'"):
        ks.read("s3://key:secret@b/x")


def test_without_the_package_for_a_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("s3fs") is None:
        assert main(["doctor", "s3://key:secret@b/x"]) == 2
        told = capsys.readouterr().err
        assert "s3fs" in told
        assert "secret" not in told
    with pytest.raises(ValueError, match="expected a URL that fsspec can open, found nothing://x"):
        ks.read("nothing://x")


def test_options_reach_the_file_system(memory: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"skip_instance_cache": True}
        assert ks.read("memory://run/kineto_trace_0.json.gz", storage_options=options).rank == 0
        assert ks.read_dir("memory://run", storage_options=options).ranks == [0, 1]
