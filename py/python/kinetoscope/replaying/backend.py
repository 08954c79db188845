"""The interface to torch.distributed. Imports torch when a replay starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib import import_module
from typing import Any, final

from kinetoscope.profiling.rank import local_rank
from kinetoscope.replaying.contents import Parts
from kinetoscope.replaying.message import Group, Message
from kinetoscope.replaying.options import Options
from kinetoscope.replaying.world import World, meeting_place

_NAMES = {
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "complexhalf": "complex32",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
}
_POLL_S = 0.0005
_GONE = "expected all ranks to respond in time, found that some exited or are late"


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("replay_comms: expected PyTorch, found none: pip install torch") from error
    return torch


@contextmanager
def _raised_as(kind: type[Exception], message: str) -> Generator[None, None, None]:
    """Converts RuntimeErrors of torch to another class, with a message before theirs."""
    try:
        yield
    except RuntimeError as error:
        raise kind(f"{message}: {' '.join(str(error).split())}") from error


@final
class Work:
    """A started communication."""

    def __init__(self, backend: Backend, works: Sequence[Any], buffers: Buffers, started: Any) -> None:
        self.buffers = buffers
        self._backend, self._works, self._started = backend, works, started
        self._ended: Any = None

    def set_end(self, ended: Any) -> None:
        """Sets the time at which the communication ended."""
        self._ended = ended

    def wait(self) -> None:
        """Waits until the communication is complete, or ordered before later device work.

        Raises TimeoutError after the timeout, or if another rank has exited.
        """
        with _raised_as(TimeoutError, f"expected {self.buffers.message} to complete in time, found a failure"):
            for work in self._works:
                if work is not None:
                    work.wait()
        if self._ended is None:
            self._ended = self._backend.mark()

    def dur_ns(self) -> int:
        """Duration in ns. Valid after `Backend.finish`."""
        return self._backend.between(self._started, self._ended)


@final
class Buffers:
    """Tensors of a communication."""

    def __init__(self, message: Message, given: list[Any], taken: list[Any]) -> None:
        self.message, self.given, self.taken = message, given, taken

    @property
    def results(self) -> list[Any]:
        """Tensors that receive the results."""
        return self.taken or self.given

    def fill(self, contents: Sequence[Parts]) -> None:
        """Writes values into the input tensors."""
        for tensor, parts in zip(self.given, contents, strict=False):
            start = 0
            for elems, value in parts:
                tensor[start : start + elems] = value
                start += elems

    def wrong(self, contents: Sequence[Parts]) -> str | None:
        """Describes the first wrong element of the results; None if all are right."""
        for number, (tensor, parts) in enumerate(zip(self.results, contents, strict=False)):
            start = 0
            for elems, value in parts:
                part = tensor[start : start + elems]
                is_wrong = part != tensor.new_tensor(value)
                if bool(is_wrong.any()):
                    place = int(is_wrong.nonzero()[0])
                    return (
                        f"expected {value:g} at element {start + place} of tensor {number}, found {part[place].item()}"
                    )
                start += elems
        return None


@final
class Backend:
    """torch.distributed on one rank."""

    def __init__(self, world: World, options: Options) -> None:
        self._torch = _torch()
        self._distributed = self._torch.distributed
        self._is_own = not self._distributed.is_initialized()
        self.rank, self.size = world
        self._is_on_gpu = options.is_on_gpu
        self._place = options.init_method
        self._timeout = options.timeout
        self.device = self._torch.device("cuda", local_rank()) if options.is_on_gpu else self._torch.device("cpu")
        self._name = options.backend_name
        if self._is_on_gpu:
            self._expect_gpu()
        self._begin(world)
        self._groups: dict[Group, Any] = {}

    def _expect_gpu(self) -> None:
        cuda = self._torch.cuda
        if not cuda.is_available() or cuda.device_count() <= local_rank():
            raise ValueError(f"expected a GPU for rank {self.rank}, found {cuda.device_count()}")
        cuda.set_device(self.device)
        self._side_stream = cuda.Stream()

    def _begin(self, world: World) -> None:
        limit = timedelta(seconds=self._timeout)
        if self._is_own:
            # Imported later, this module would keep the group, whose threads can abort the process.
            import_module("torch.distributed.nn")
            place = self._place or meeting_place()
            with _raised_as(TimeoutError, f"expected {world.size} ranks at {place} (MASTER_ADDR), found fewer"):
                self._distributed.init_process_group(
                    "gloo", init_method=place, rank=world.rank, world_size=world.size, timeout=limit
                )
        self.rank, self.size = int(self._distributed.get_rank()), int(self._distributed.get_world_size())
        has_gloo = self._distributed.get_backend() == "gloo"
        self._hosts = None if has_gloo else self._distributed.new_group(backend="gloo", timeout=limit)

    def end(self) -> None:
        """Removes the process groups that this object created."""
        groups = [*self._groups.values(), self._hosts]
        self._groups.clear()  # a group ends with its last reference, and its threads with it
        self._hosts = None
        if self._is_own:
            self._distributed.destroy_process_group()
            return
        for group in groups:
            if group not in {None, self._distributed.GroupMember.NON_GROUP_MEMBER}:
                with suppress(ValueError):  # already destroyed
                    self._distributed.destroy_process_group(group)

    # --- with the other ranks ---------------------------------------------------------------------

    def all(self, mine: Any) -> list[Any]:
        """Returns the values of all ranks, in rank order. Raises TimeoutError."""
        values: list[Any] = [None] * self.size
        with _raised_as(TimeoutError, _GONE):
            self._distributed.all_gather_object(values, mine, group=self._hosts)
        return values

    def gather_at_first(self, mine: Any) -> list[Any]:
        """Returns the values of all ranks at rank 0, and only `mine` elsewhere.

        Raises TimeoutError.
        """
        values: list[Any] | None = [None] * self.size if self.rank == 0 else None
        with _raised_as(TimeoutError, _GONE):
            self._distributed.gather_object(mine, values, group=self._hosts)
        return [mine] if values is None else values

    def meet(self) -> None:
        """Waits for all ranks. Raises TimeoutError."""
        with _raised_as(TimeoutError, _GONE):
            self._distributed.barrier(group=self._hosts)

    def make_groups(self, groups: Sequence[Group]) -> None:
        """Creates process groups. All ranks must pass the same groups in the same order."""
        limit = timedelta(seconds=self._timeout)
        for group in groups:
            with _raised_as(
                TimeoutError,
                f"expected all {len(group.members)} ranks of group {group.name} to create it, found a failure",
            ):
                self._groups[group] = self._distributed.new_group(
                    list(group.members), backend=self._name, timeout=limit
                )

    # --- communications ---------------------------------------------------------------------------

    def buffers(self, message: Message) -> Buffers:
        """Allocates the tensors of a message. Raises ValueError for a type unknown to torch."""
        dtype = getattr(self._torch, _NAMES.get(message.dtype, message.dtype), None)
        is_known = isinstance(dtype, self._torch.dtype)
        if not is_known:
            raise ValueError(f"expected a type of torch, found {message.dtype} in {message}")

        def made(sizes: Sequence[int]) -> list[Any]:
            return [self._torch.zeros(elems, dtype=dtype, device=self.device) for elems in sizes]

        has_two = message.is_gathered or message.is_scattered or message.is_exchange
        has_two |= message.collective in {"gather", "scatter"}
        given = made(message.in_elems or (message.out_elems if not has_two else ()))
        return Buffers(message, given, made(message.out_elems) if has_two else [])

    def start(self, buffers: Buffers) -> Work:
        """Starts a collective, or a single send or receive.

        Raises ValueError if the backend does not support it.
        """
        started = self.mark()
        with _raised_as(ValueError, f"expected a communication that {self._name} supports, found {buffers.message}"):
            work = Work(self, [self._call(buffers)], buffers, started)
        self._record_end(work)
        return work

    def start_batch(self, batch: Sequence[Buffers]) -> list[Work]:
        """Starts sends and receives as one batch."""
        started = self.mark()
        distributed = self._distributed
        calls = [
            distributed.P2POp(
                self._side_of(each),
                each.given[0],
                self._peer(each.message),
                self._group(each.message),
                each.message.tag or 0,
            )
            for each in batch
        ]
        works = distributed.batch_isend_irecv(calls)
        return [Work(self, works, each, started) for each in batch]

    def _record_end(self, work: Work) -> None:
        """Records the end time on the host, from the thread that completes the work."""
        if self._is_on_gpu:
            return
        with suppress(RuntimeError, AttributeError, NotImplementedError):  # some works have no future
            for each in work._works:  # noqa: SLF001 - a class of this module
                each.get_future().then(lambda _: work.set_end(time.perf_counter_ns()))

    def _group(self, message: Message) -> Any:
        return self._groups[message.group] if message.group else None

    def _peer(self, message: Message) -> int:
        return message.group.members[message.peer or 0] if message.group else 0

    def _side_of(self, buffers: Buffers) -> Any:
        return self._distributed.isend if buffers.message.collective == "send" else self._distributed.irecv

    def _call(self, buffers: Buffers) -> Any:
        message, group = buffers.message, self._group(buffers.message)
        if message.is_p2p:
            return self._side_of(buffers)(buffers.given[0], self._peer(message), group, message.tag or 0)
        return _CALLS[message.collective](self._distributed, buffers, group)

    # --- time -------------------------------------------------------------------------------------

    def mark(self) -> Any:
        """Returns the current time of the host, or an event on the device's stream."""
        if not self._is_on_gpu:
            return time.perf_counter_ns()
        event = self._torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def wait_on_side_stream(self, work: Work) -> None:
        """Marks the end of a work on another stream, so that the current stream does not wait."""
        if self._is_on_gpu:
            self._side_stream.wait_stream(self._torch.cuda.current_stream())
            with self._torch.cuda.stream(self._side_stream):
                work.wait()

    def between(self, start: Any, end: Any) -> int:
        """Returns the nanoseconds between two marks."""
        return int(start.elapsed_time(end) * 1e6) if self._is_on_gpu else end - start

    def finish(self) -> None:
        """Waits for all device work. Raises TimeoutError."""
        if not self._is_on_gpu:
            return
        event = self._torch.cuda.Event()
        self._torch.cuda.current_stream().wait_stream(self._side_stream)
        event.record()
        deadline = time.monotonic() + self._timeout
        while not event.query():
            if time.monotonic() > deadline:
                raise TimeoutError(f"expected all device work to end in {self._timeout:g} s, found unfinished work")
            time.sleep(_POLL_S)


# --- one call each --------------------------------------------------------------------------------


def _reduction(distributed: Any, message: Message) -> Any:
    return getattr(distributed.ReduceOp, (message.reduction or "sum").upper(), distributed.ReduceOp.SUM)


def _root(message: Message) -> int:
    return message.group.members[message.root or 0] if message.group else 0


def _all_reduce(distributed: Any, buffers: Buffers, group: Any) -> Any:
    if len(buffers.given) != 1:
        return _allreduce_coalesced(distributed, buffers, group)
    return distributed.all_reduce(
        buffers.given[0], _reduction(distributed, buffers.message), group=group, async_op=True
    )


def _allreduce_coalesced(distributed: Any, buffers: Buffers, group: Any) -> Any:
    options = distributed.AllreduceCoalescedOptions()
    options.reduceOp = _reduction(distributed, buffers.message)
    return group.allreduce_coalesced(buffers.given, options)


def _all_gather(distributed: Any, buffers: Buffers, group: Any) -> Any:
    taken = buffers.taken
    if len(taken) == 1 < group.size():
        taken = list(taken[0].chunk(group.size()))
    return distributed.all_gather(taken, buffers.given[0], group=group, async_op=True)


def _all_gather_base(distributed: Any, buffers: Buffers, group: Any) -> Any:
    return distributed.all_gather_into_tensor(buffers.taken[0], buffers.given[0], group=group, async_op=True)


def _all_gather_coalesced(_: Any, buffers: Buffers, group: Any) -> Any:
    return group.allgather_into_tensor_coalesced(buffers.taken, buffers.given)


def _reduce_scatter(distributed: Any, buffers: Buffers, group: Any) -> Any:
    given = buffers.given
    if len(given) == 1 < group.size():
        given = list(given[0].chunk(group.size()))
    reduction = _reduction(distributed, buffers.message)
    return distributed.reduce_scatter(buffers.taken[0], given, reduction, group=group, async_op=True)


def _reduce_scatter_base(distributed: Any, buffers: Buffers, group: Any) -> Any:
    reduction = _reduction(distributed, buffers.message)
    return distributed.reduce_scatter_tensor(buffers.taken[0], buffers.given[0], reduction, group=group, async_op=True)


def _reduce_scatter_coalesced(distributed: Any, buffers: Buffers, group: Any) -> Any:
    options = distributed.ReduceScatterOptions()
    options.reduceOp = _reduction(distributed, buffers.message)
    return group.reduce_scatter_tensor_coalesced(buffers.taken, buffers.given, options)


def _all_to_all(distributed: Any, buffers: Buffers, group: Any) -> Any:
    return distributed.all_to_all(buffers.taken, buffers.given, group=group, async_op=True)


def _all_to_allv(distributed: Any, buffers: Buffers, group: Any) -> Any:
    in_split, out_split = (list(split) or None for split in buffers.message.splits())
    return distributed.all_to_all_single(
        buffers.taken[0], buffers.given[0], out_split, in_split, group=group, async_op=True
    )


def _broadcast(distributed: Any, buffers: Buffers, group: Any) -> Any:
    return distributed.broadcast(buffers.given[0], _root(buffers.message), group=group, async_op=True)


def _reduce(distributed: Any, buffers: Buffers, group: Any) -> Any:
    message = buffers.message
    return distributed.reduce(
        buffers.given[0], _root(message), _reduction(distributed, message), group=group, async_op=True
    )


def _gather(distributed: Any, buffers: Buffers, group: Any) -> Any:
    root = _root(buffers.message)
    taken = buffers.taken if root == distributed.get_rank() else None
    return distributed.gather(buffers.given[0], taken, root, group=group, async_op=True)


def _scatter(distributed: Any, buffers: Buffers, group: Any) -> Any:
    root = _root(buffers.message)
    given = buffers.given if root == distributed.get_rank() else None
    return distributed.scatter(buffers.taken[0], given, root, group=group, async_op=True)


def _barrier(distributed: Any, _: Buffers, group: Any) -> Any:
    return distributed.barrier(group=group, async_op=True)


_CALLS: dict[str, Callable[[Any, Buffers, Any], Any]] = {
    "all_reduce": _all_reduce,
    "allreduce_coalesced": _allreduce_coalesced,
    "all_gather": _all_gather,
    "all_gather_base": _all_gather_base,
    "allgather_into_tensor_coalesced": _all_gather_coalesced,
    "reduce_scatter": _reduce_scatter,
    "reduce_scatter_base": _reduce_scatter_base,
    "reduce_scatter_tensor_coalesced": _reduce_scatter_coalesced,
    "all_to_all": _all_to_all,
    "all_to_allv": _all_to_allv,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "gather": _gather,
    "scatter": _scatter,
    "barrier": _barrier,
}
