"""Optional libraries: an error that tells how to install the missing one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def needed(purpose: str, install: str) -> Generator[None]:
    """Wraps the imports that `purpose` needs; `install` names what pip installs.

    Raises ImportError with the command for a missing library. Errors inside a library pass
    unchanged.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(error, purpose, install) from None


def expect(purpose: str, install: str, *modules: str) -> None:
    """Raises ImportError, as `needed`, if a library is missing."""
    from importlib import import_module

    with needed(purpose, install):
        for module in modules:
            import_module(module)


def missing(error: ModuleNotFoundError, purpose: str, install: str) -> ImportError:
    """Returns the error for a missing library."""
    quoted = f"'{install}'" if "[" in install else install
    library = (error.name or "a library").partition(".")[0]
    return ImportError(f"expected {library} for {purpose}, found none: pip install {quoted}", name=error.name)
