"""A training loop that no machine ran, for pictures of patterns; times are in microseconds."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from synthetic import Json, Recorder
from synthetic_cuda import ADAM, COMPUTE, RELU, SIDE, grid

HALF = "c10::BFloat16"
GEMM = "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNN"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)"
TOKENS, WIDTH = 2048, 1024
LAYERS = 6
BACKWARD_THREAD = 2
_BETWEEN_KERNELS_NS = 2_000


class Program(Recorder):
    """A loop of iterations on one rank, in the vocabulary of PyTorch."""

    def __init__(self, rank: int = 0, num_ranks: int = 1) -> None:
        super().__init__()
        self.is_observed = False  # no Execution Trace
        self.rank = rank
        self.num_ranks = num_ranks
        self._frames: list[int] = []
        self._next_frame = 1

    def document(self) -> bytes:
        """The Kineto trace as JSON."""
        kineto = self.kineto("patterns")
        kineto["traceEvents"].pop()  # the span of the recording would be a track of a picture
        if self.num_ranks > 1:
            kineto["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": self.num_ranks}
        return json.dumps(kineto).encode()

    def iterations(self, count: int = 3) -> Iterator[int]:
        """Yields the number of each iteration, inside of it."""
        with self.frame("train.py(88): main"):
            for number in range(count):
                with self.operator(f"ProfilerStep#{number}", category="user_annotation"):
                    yield number
                self.idle(15)

    # --- host ------------------------------------------------------------------------------------

    def idle(self, us: int, thread: int = 1) -> None:
        """The thread does something that is not recorded."""
        self.spend(thread, us * 1000)

    @contextmanager
    def frame(self, name: str) -> Generator[None]:
        """A call of a Python function."""
        number = self._next_frame
        self._next_frame += 1
        event = self._host_event("python_function", name, 1)
        event["args"] = {"Python id": number, "Python parent id": self._frames[-1] if self._frames else None}
        self._frames.append(number)
        self.spend(1, 700)
        yield
        self.spend(1, 500)
        self._frames.pop()
        event["dur"] = round((self.now(1) - event.pop("_start")) / 1000, 3)

    def instant(self, name: str, args: Json) -> None:
        """A record without a duration, such as one of the allocator."""
        self.memory(0, 0)
        self.events[-1] |= {"name": name, "args": args}

    def wait(self, call: str = "cudaStreamSynchronize", *, at_least: int = 3) -> None:
        """The main thread waits for the stream that computes."""
        busy_ns = self.stream_free.get(COMPUTE, 0) - self.now(1)
        self.runtime(call, dur_ns=max(busy_ns + 2_000, at_least * 1000))

    # --- device ----------------------------------------------------------------------------------

    def kernel(self, name: str, us: int, *, thread: int = 1, stream: int = COMPUTE, args: Json | None = None) -> None:
        """Launches a kernel that runs so long."""
        shape = grid(256, 384, 168, 99_328, 38)
        self.launch("cudaLaunchKernel", "kernel", name, stream, us * 1000, thread=thread, args=shape | (args or {}))
        self.stream_free[stream] += _BETWEEN_KERNELS_NS

    def sample(self, counter: str, value: float, start_ns: int, every_us: int = 20) -> None:
        """Samples a counter of the device from a time until now."""
        for time_ns in range(start_ns, self.now(1), every_us * 1000):
            event = {"ph": "C", "name": counter, "pid": "GPU 0 Counters", "ts": time_ns / 1000}
            self.events.append(event | {"args": {"": value}})

    def copy(self, route: str, num_bytes: int, us: int) -> None:
        """Launches a copy such as `HtoD (Pinned -> Device)`."""
        args = {"bytes": num_bytes, "memory bandwidth (GB/s)": round(num_bytes / us / 1000, 3)}
        self.launch("cudaMemcpyAsync", "gpu_memcpy", f"Memcpy {route}", COMPUTE, us * 1000, args=args)

    def compute(self, name: str, kernel: str, us: int, shapes: list[list[int]], thread: int = 1) -> None:
        """An operator with one kernel."""
        with self.operator(name, shapes, thread=thread, args={"Input type": [HALF] * len(shapes)}):
            self.idle(12, thread)
            self.kernel(kernel, us, thread=thread)

    # --- a model ---------------------------------------------------------------------------------

    def linear(self, us: int = 24, features: int = WIDTH) -> None:
        """A layer of a model: `aten::linear` without a bias."""
        shapes = [[TOKENS, WIDTH], [WIDTH, features]]
        with self.operator("aten::linear", shapes):
            self.compute("aten::mm", GEMM, us, shapes)

    def forward(self, *, us: int = 24, layers: int = LAYERS) -> None:
        """The forward pass."""
        with self.frame("model.py(41): forward"):
            for _ in range(layers):
                self.compute("aten::native_layer_norm", NORM, 10, [[TOKENS, WIDTH], [WIDTH]])
                self.linear(us)
                self.compute("aten::relu", RELU, 8, [[TOKENS, WIDTH]])

    def backward(self, *, us: int = 24, layers: int = LAYERS) -> None:
        """The backward pass: the main thread waits for the thread that launches it."""
        self.clock[BACKWARD_THREAD] = self.now(1) + 8_000
        with self.frame("torch/_tensor.py(648): backward"):
            for _ in range(layers):
                self.backward_of_linear(us)
            self.spend(1, max(0, self.now(BACKWARD_THREAD) - self.now(1)))

    def backward_of_linear(self, us: int) -> None:
        """Gradients of the input and the weight of `linear`."""
        thread, shapes = BACKWARD_THREAD, [[TOKENS, WIDTH], [WIDTH, WIDTH]]
        with self.operator("autograd::engine::evaluate_function: MmBackward0", thread=thread):
            with self.operator("MmBackward0", shapes[:1], thread=thread):
                for _ in range(2):
                    self.compute("aten::mm", GEMM, us, shapes, thread)

    def optimizer(self, us: int = 60) -> None:
        """The fused update of all parameters, after all gradients."""
        self.stream_free[COMPUTE] = max(self.stream_free.get(stream, 0) for stream in (COMPUTE, SIDE))
        with self.operator("Optimizer.step#AdamW.step", category="user_annotation"):
            self.compute("aten::_fused_adamw_", ADAM, us, [[WIDTH, WIDTH]] * LAYERS)

    def train(self) -> None:
        """Everything that an iteration does with its batch."""
        self.forward()
        self.backward()
        self.optimizer()

    def collective(self, operator: str, name: str, kernel: str, count: int, us: int) -> None:
        """A communication of all ranks, on a stream of its own, after the work that computes."""
        ranks = list(range(self.num_ranks))
        comms = {
            "Collective name": name, "dtype": "BFloat16", "In msg nelems": count, "Out msg nelems": count,
            "In split size": "[]", "Out split size": "[]", "Group size": len(ranks), "Process Group Name": "0",
            "Process Group Description": "default_pg", "Process Group Ranks": str(ranks), "Rank": self.rank,
            "Global rank start": 0, "Global rank stride": 1,
        }  # fmt: skip
        self.stream_free[SIDE] = max(self.stream_free.get(stream, 0) for stream in (COMPUTE, SIDE))
        thread = BACKWARD_THREAD
        self.clock[thread] = max(self.now(1), self.clock.get(thread, 0))
        with self.operator(operator, [[count]], thread=thread):
            with self.operator("record_param_comms", [[count]], thread=thread, args=comms):
                self.kernel(kernel, us, thread=thread, stream=SIDE, args=comms)
        self.spend(1, max(0, self.now(thread) - self.now(1)))
