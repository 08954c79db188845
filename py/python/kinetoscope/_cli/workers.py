"""Processes that read and analyse the ranks of a job for a command."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kinetoscope._cli.arguments import count

if TYPE_CHECKING:
    from concurrent.futures import Executor


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Adds the argument `workers`."""
    parser.add_argument(
        "--workers", type=count, metavar="N", help="read and analyse the ranks of a folder in N processes"
    )


@contextmanager
def worker_processes(number: int | None) -> Generator[Executor | None]:
    """Yields an executor with as many processes; None without a number."""
    if not number:
        yield None
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A copy of this process would hold locks of its threads.
    with ProcessPoolExecutor(number, multiprocessing.get_context("spawn")) as executor:
        yield executor
