"""Calls that exist on some operating systems only, each with its substitute on the others.

No other module of the package uses these calls: tests/house checks that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

IS_WINDOWS = os.name == "nt"

HAS_THREADS = sys.platform != "emscripten"
"""Whether threads can be started: not in a browser, where Pyodide runs Python."""

SEPARATORS = (os.sep, os.altsep or os.sep)
"""Separators of folders in a path: two on Windows, one elsewhere."""

SAFE_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opens a file without waiting for the writer of a pipe, and without converting line ends."""

SAFE_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""Creates a file that does not exist yet, and converts no line ends."""

NO_LINKS_FLAG: int = getattr(os, "O_NOFOLLOW", 0)
"""Refuses to open a symbolic link. 0 on Windows, where only administrators create links."""


def num_processors() -> int:
    """Counts the processors of the affinity mask, or all if the system has no mask.

    One without threads, as more cannot be used.
    """
    if not HAS_THREADS:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_background(work: Callable[[], object], name: str) -> None:
    """Runs work on a thread of this name, or without threads in the event loop, soon."""
    if HAS_THREADS:
        from threading import Thread

        Thread(target=work, name=name, daemon=True).start()
    else:
        import asyncio

        asyncio.get_running_loop().call_soon(work)


def user_id() -> int | None:
    """Returns the effective user; None on Windows, whose files have no such owner."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def after_fork_in_child(function: Callable[[], object]) -> None:
    """Calls a function in each forked child. Windows has no fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def lock_file(descriptor: int) -> bool:
    """Locks an open file until it is closed.

    Returns whether that worked: never on Windows, nor in a browser.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return False
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def lower_thread_priority(niceness: int) -> None:
    """Lowers the priority of this thread, on Linux.

    Other systems have no niceness per thread: there, the number of a thread may be that of another
    process.
    """
    if sys.platform != "linux":
        return
    import threading
    from contextlib import suppress

    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def library_name(name: str) -> str:
    """Returns the file name of a shared library."""
    if IS_WINDOWS:
        return f"{name}.dll"
    return f"lib{name}.dylib" if sys.platform == "darwin" else f"lib{name}.so"


def replace_file(source: Path, target: Path) -> None:
    """Renames a file. Says which file is in use, because Windows keeps files that are open."""
    try:
        source.replace(target)
    except PermissionError as error:
        if not IS_WINDOWS:
            raise
        message = "expected a file to replace, found one in use: close it in other programs"
        raise PermissionError(error.errno, message, str(target)) from None


def is_closed_pipe(error: OSError) -> bool:
    """Whether the reader of an output is gone. Windows reports that as an invalid argument."""
    import errno

    return isinstance(error, BrokenPipeError) or (IS_WINDOWS and error.errno == errno.EINVAL and error.filename is None)


def is_missing_file(error: OSError) -> bool:
    """Whether an error is that of the system for a missing file, which Windows words otherwise."""
    import errno

    if getattr(error, "winerror", None) is not None:
        return isinstance(error, FileNotFoundError)
    return isinstance(error, FileNotFoundError) and error.strerror == os.strerror(errno.ENOENT)


def quoted(word: str) -> str:
    """Quotes a word for the shell of this system."""
    if IS_WINDOWS:
        from subprocess import list2cmdline

        return list2cmdline([word])
    import shlex

    return shlex.quote(word)


def split_words(line: str) -> list[str]:
    """Splits a line as the shell of this system does: on Windows, a backslash separates folders.

    Raises ValueError for an open quote.
    """
    import shlex

    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if IS_WINDOWS:
        lexer.escape = ""
    return list(lexer)


def free_memory() -> int | None:
    """Returns the bytes of free memory; None if the system does not tell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
