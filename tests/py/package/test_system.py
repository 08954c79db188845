from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from kinetoscope._base import system
from kinetoscope._io import user_secret

pytestmark = pytest.mark.unit


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the package does on Windows, as far as another system can show it."""
    monkeypatch.setattr(system, "IS_WINDOWS", True)


@pytest.mark.usefixtures("windows")
def test_windows_words() -> None:
    assert system.quoted(r"traces\run 1") == r'"traces\run 1"'
    assert system.quoted(r"traces\run") == r"traces\run"
    assert system.split_words(r"""--dir C:\traces\run --title 'a b' "c d" # e""") == [
        *("--dir", r"C:\traces\run", "--title", "a b", "c d", "#", "e"),
    ]


def test_other_words() -> None:
    assert system.split_words(r"a\ b 'c d' # e") == ["a b", "c d", "#", "e"]
    with pytest.raises(ValueError, match="No closing quotation"):
        system.split_words("'a")


@pytest.mark.usefixtures("windows")
def test_a_file_in_use_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Access is denied", "a.part")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError, match="found one in use") as raised:
        system.replace_file(tmp_path / "a.part", tmp_path / "a")
    assert raised.value.filename == str(tmp_path / "a")


@pytest.mark.usefixtures("windows")
def test_a_closed_pipe_of_windows() -> None:
    assert system.is_closed_pipe(OSError(errno.EINVAL, "Invalid argument"))
    assert not system.is_closed_pipe(OSError(errno.EINVAL, "Invalid argument", "a.json"))


def test_a_closed_pipe() -> None:
    assert system.is_closed_pipe(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert not system.is_closed_pipe(OSError(errno.EINVAL, "Invalid argument"))


def test_a_missing_file() -> None:
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a")
    assert system.is_missing_file(missing)
    assert not system.is_missing_file(FileNotFoundError(errno.ENOENT, "expected a folder, found none", "a"))
    missing.winerror = 2  # pyright: ignore[reportAttributeAccessIssue] - Windows has it
    missing.strerror = "The system cannot find the file specified"
    assert system.is_missing_file(missing)


def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    secret = user_secret.user_secret()
    assert user_secret.user_secret() == secret
    assert [path.name for path in (tmp_path / "kinetoscope").iterdir()] == ["cache.key"]
