"""Options of a replay, for the command line and Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetoscope.replaying.message import named

BACKENDS = ("gloo", "nccl")
DEVICES = ("cpu", "cuda")
REBALANCE = ("equal",)
_SMALLEST = {"num_replays": 1, "max_msg_bytes": 1, "warmup_iter": 0, "max_msg_cnt": 0, "profiler_num_replays": 1}


class Options(NamedTuple):
    """Parameters of `replay_comms`, which describes them."""

    backend: str | None = None
    device: str | None = None
    dry_run: bool = False
    warmup_iter: int = 2
    num_replays: int = 5
    allow_ops: Sequence[str] | None = None
    max_msg_cnt: int | None = None
    max_msg_bytes: int = 4 << 30
    use_timestamp: bool = False
    rebalance: str | None = None
    blocking: bool = False
    shrink: bool = False
    check: bool = False
    timeout: float = 300.0
    profile: str | None = None
    profiler_num_replays: int | None = None
    profiler_num_replays_start: int = 0
    init_method: str | None = None
    init_only: bool = False
    use_one_trace: bool = False

    @property
    def is_on_gpu(self) -> bool:
        """Whether messages are in GPU memory."""
        return (self.device or ("cuda" if self.backend == "nccl" else "cpu")) == "cuda"

    @property
    def backend_name(self) -> str:
        """The given backend, or the default for the device."""
        return self.backend or ("nccl" if self.is_on_gpu else "gloo")


def validated(options: Options) -> Options:
    """Returns the options with canonical names in `allow_ops`.

    Raises ValueError for invalid values.
    """
    for name, known in (("backend", BACKENDS), ("device", DEVICES), ("rebalance", REBALANCE)):
        if getattr(options, name) not in {None, *known}:
            raise ValueError(f"expected {name} of {', '.join(known)}, found {getattr(options, name)}")
    if options.backend == "nccl" and options.device == "cpu":
        raise ValueError("expected a GPU for nccl, found device cpu")
    for name, minimum in _SMALLEST.items():
        value = getattr(options, name)
        if value is not None and value < minimum:
            raise ValueError(f"expected {name} of at least {minimum}, found {value}")
    if options.timeout <= 0:
        raise ValueError(f"expected timeout above 0, found {options.timeout:g}")
    if options.profiler_num_replays is not None or options.profiler_num_replays_start:
        if options.profile is None:
            raise ValueError("expected a folder for the recording (profile), found none")
        end = options.profiler_num_replays_start + (options.profiler_num_replays or 1)
        if end > options.num_replays:
            raise ValueError(f"expected at least {end} measured passes, found {options.num_replays}: raise num_replays")
    options = options._replace(max_msg_cnt=options.max_msg_cnt or None)
    return options._replace(allow_ops=None if options.allow_ops is None else named(options.allow_ops))
