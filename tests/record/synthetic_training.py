"""Generates the trace that a newcomer would look at: a small transformer in training, as it might look on a GPU.

Nothing here was measured, and no file of it is kept: tests and pictures make it anew. Each iteration has Python frames
and modules around its operators, a forward and a backward pass, and gradients that are reduced beside it. Iteration 0
has the Execution Trace. Iteration 2 waits for its data; in iteration 3 one kernel takes far longer than in the others,
and `SLOW_FRAME` launched it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synthetic import Json, Recorder
from synthetic_cuda import ADAM, COMPUTE, GEMM, SIDE, all_reduce, grid

ITERATIONS = 5
OBSERVED, STALLED, SLOW = 0, 2, 3
SLOW_KERNEL = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::masked_fill_kernel("
    "at::TensorIterator&, c10::Scalar const&)::{lambda(float, bool)#1}> >(int)"
)
SLOW_FRAME = "model.py(31): hide_padding"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float const*)"
ATTENTION = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4> >(Params)"
ATTENTION_BACKWARD = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<64, 128, 128, 8>(Params)"
GELU = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)>(int)"
TOKENS, WIDTH, BLOCKS = 2048, 512, 3


class Training:
    """The program that is being profiled, on one rank."""

    def __init__(self, rank: int = 0, *, attention_ns: int = 70_000) -> None:
        self.recorder = Recorder()
        self.rank = rank
        self.attention_ns = attention_ns
        self.random = random.Random(rank)
        self.seq = 0
        self.allocated = 4_000_000
        self._frames: list[int] = []
        self._next_frame = 1

    def run(self) -> Recorder:
        with self.frame("train.py(1): <module>"), self.frame("train.py(62): main"):
            for number in range(ITERATIONS):
                self.iteration(number)
        return self.recorder

    @contextmanager
    def frame(self, name: str) -> Iterator[None]:
        """A call of a Python function, or of a module."""
        recorder, number = self.recorder, self._next_frame
        self._next_frame += 1
        event = recorder._host_event("python_function", name, 1)
        event["args"] = {"Python id": number, "Python parent id": self._frames[-1] if self._frames else None}
        self._frames.append(number)
        recorder.spend(1, 700)
        yield
        recorder.spend(1, 500)
        self._frames.pop()
        event["dur"] = round((recorder.now(1) - event.pop("_start")) / 1000, 3)

    def iteration(self, number: int) -> None:
        recorder = self.recorder
        recorder.is_observed = number == OBSERVED
        with recorder.operator(f"ProfilerStep#{number}", category="user_annotation"):
            self.load(2_600_000 if number == STALLED else 60_000)
            with self.frame("train.py(71): step"):
                forward = self.forward(is_slow=number == SLOW)
                self.backward(forward)
                self.optimizer()
        recorder.spend(1, 15_000)

    def load(self, wait_ns: int) -> None:
        recorder, name = self.recorder, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        with self.frame("torch/utils/data/dataloader.py(733): __next__"):
            with recorder.operator(name, category="user_annotation"):
                with self.frame("multiprocessing/queues.py(103): get"):
                    recorder.spend(1, self.around(wait_ns))
        with self.frame("train.py(66): to_device"), recorder.operator("aten::copy_", [[TOKENS], [TOKENS]]):
            args = {"bytes": TOKENS * 8, "memory bandwidth (GB/s)": 1.1}
            recorder.launch(
                "cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", COMPUTE, 15_000, args=args
            )

    def forward(self, *, is_slow: bool) -> list[tuple[Json, str]]:
        """Each operator that has a backward, with the kernel of that."""
        done = []
        with self.frame("nn.Module: Transformer_0"), self.frame("model.py(52): forward"):
            for block in range(BLOCKS):
                with self.frame(f"nn.Module: Block_{block}"), self.frame("model.py(38): forward"):
                    done += self.block(is_slow=is_slow and block == 1)
            done.append(self.operator("aten::addmm", GEMM, 150_000))
        return done

    def block(self, *, is_slow: bool) -> list[tuple[Json, str]]:
        with self.frame("nn.Module: LayerNorm_0"):
            norm = self.operator("aten::native_layer_norm", NORM, 9_000)
        with self.frame("nn.Module: Attention_0"), self.frame("model.py(19): forward"):
            qkv = self.operator("aten::addmm", GEMM, 60_000)
            with self.frame(SLOW_FRAME):
                self.operator("aten::masked_fill_", SLOW_KERNEL, 620_000 if is_slow else 12_000)
            attention = self.operator("aten::_flash_attention_forward", ATTENTION, self.attention_ns)
        with self.frame("nn.Module: MLP_0"):
            wide = self.operator("aten::addmm", GEMM, 85_000)
            self.operator("aten::gelu", GELU, 14_000)
            narrow = self.operator("aten::addmm", GEMM, 80_000)
        return [norm, qkv, attention, wide, narrow]

    def operator(self, name: str, kernel: str, dur_ns: int) -> tuple[Json, str]:
        recorder = self.recorder
        self.seq += 1
        self.allocated += TOKENS * WIDTH * 4
        shapes = [[TOKENS, WIDTH], [WIDTH, WIDTH]]
        with recorder.operator(name, shapes, seq=self.seq) as event:
            recorder.memory(TOKENS * WIDTH * 4, self.allocated)
            recorder.spend(1, self.around(9_000))
            args = grid(128, 256, 96, 49_152, 50)
            recorder.launch("cudaLaunchKernel", "kernel", kernel, COMPUTE, self.around(dur_ns), args=args)
        return event | {"seq": self.seq}, ATTENTION_BACKWARD if kernel == ATTENTION else kernel

    def backward(self, forward: list[tuple[Json, str]]) -> None:
        """On the autograd thread, while the main thread waits; gradients are reduced beside it."""
        recorder = self.recorder
        recorder.clock[2] = max(recorder.now(1) + 8_000, recorder.clock.get(2, 0))
        with self.frame("torch/_tensor.py(527): backward"):
            for at, (event, kernel) in enumerate(reversed(forward)):
                self.backward_of(event, kernel)
                if at % 5 == 4:
                    self.all_reduce()
            recorder.spend(1, max(0, recorder.now(2) - recorder.now(1)))

    def backward_of(self, event: Json, kernel: str) -> None:
        recorder, seq = self.recorder, event["seq"]
        name = event["name"].removeprefix("aten::").lstrip("_").title().replace("_", "") + "Backward0"
        self.allocated -= TOKENS * WIDTH * 4
        with recorder.operator(f"autograd::engine::evaluate_function: {name}", thread=2, seq=seq):
            with recorder.operator(name, [[TOKENS, WIDTH]], thread=2, seq=seq) as backward:
                recorder.memory(-TOKENS * WIDTH * 4, self.allocated, thread=2)
                for _ in range(2 if kernel == GEMM else 1):
                    dur = self.around(2 * self.attention_ns if kernel == ATTENTION_BACKWARD else 70_000)
                    args = grid(128, 256, 128, 65_536, 44)
                    recorder.launch("cudaLaunchKernel", "kernel", kernel, COMPUTE, dur, thread=2, args=args)
        recorder.forward_backward(event, backward)

    def all_reduce(self) -> None:
        all_reduce(self.recorder, 5 * WIDTH * WIDTH, self.rank, self.around(260_000))

    def optimizer(self) -> None:
        recorder = self.recorder
        with self.frame("torch/optim/adamw.py(210): step"):
            with recorder.operator("Optimizer.step#AdamW.step", category="user_annotation"):
                with recorder.operator("aten::_fused_adamw_", [[WIDTH, WIDTH]] * BLOCKS):
                    start = max(recorder.stream_free[SIDE], recorder.stream_free[COMPUTE])
                    recorder.stream_free[COMPUTE] = start  # it waits for the gradients
                    args = grid(320, 512, 64, 0, 72)
                    recorder.launch("cudaLaunchKernel", "kernel", ADAM, COMPUTE, self.around(180_000), args=args)
        with self.frame("train.py(80): log"), recorder.operator("aten::item", [[]]):
            with recorder.operator("aten::_local_scalar_dense", [[]]):
                args = {"bytes": 4, "memory bandwidth (GB/s)": 0.002}
                name = "Memcpy DtoH (Device -> Pinned)"
                recorder.launch("cudaMemcpyAsync", "gpu_memcpy", name, COMPUTE, 2_000, args=args)
                recorder.synchronize()

    def around(self, ns: int) -> int:
        return int(ns * self.random.uniform(0.94, 1.06))


def write(folder: Path, *, ranks: int = 1, attention_ns: int = 70_000) -> Path:
    """The files of all ranks; returns that of the first."""
    for rank in range(ranks):
        Training(rank, attention_ns=attention_ns).run().finish(folder, "train", rank)
    return folder / "kineto_trace_0.json.gz"
