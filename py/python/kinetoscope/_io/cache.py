"""Which folder snapshots of what was read are kept in, so that reading it again is loading."""

from __future__ import annotations

import os

from kinetoscope._base import lazy

_VARIABLE = "KINETOSCOPE_CACHE"

_folder: list[str | None] = []


def use_cache(folder: str | os.PathLike[str] | None) -> None:
    """Lets every later `read` and `read_dir` keep snapshots in this folder, which is made; None for no cache.

    Until this is called, the environment's KINETOSCOPE_CACHE names the folder. Only files with a path are cached.
    """
    _folder[:] = [None if folder is None else os.fspath(folder)]


def cache_folder(cache: lazy.Cache) -> str | None:
    """The folder that `cache=` means: the one given, False for none, None for the one in use."""
    if cache is False:
        return None
    if cache is None:
        return _folder[0] if _folder else os.environ.get(_VARIABLE) or None
    return os.fspath(cache)
