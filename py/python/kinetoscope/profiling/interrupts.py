"""Delays Ctrl-C while a window is saved, because it would lose the window."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, final


@final
class Interrupts:
    """Delays the first Ctrl-C in a block until its end. The second one is raised at once."""

    def __init__(self) -> None:
        self._handler: Callable[..., Any] | None = None
        """The handler of Ctrl-C outside of the block; None outside of it."""
        self._pending: tuple[Any, ...] | None = None

    @contextmanager
    def delayed(self) -> Generator[None]:
        """Delays Ctrl-C in the block. Only the main thread gets it, so others need no delay."""
        handler = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or not callable(handler) or self._handler:
            yield
            return
        self._handler = handler
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, handler)
            self._handler = None
            self._raise(handler)

    @contextmanager
    def allowed(self) -> Generator[None]:
        """Lets Ctrl-C through in a part of the block that is the caller's."""
        handler = self._handler
        if handler is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        signal.signal(signal.SIGINT, handler)
        try:
            self._raise(handler)
            yield
        finally:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, *given: Any) -> None:
        if self._pending and self._handler:
            self._pending = None
            self._handler(*given)
        self._pending = given

    def _raise(self, handler: Callable[..., Any]) -> None:
        pending, self._pending = self._pending, None
        if pending:
            handler(*pending)
