"""Generates tests/data/synthetic_cuda: three training iterations of four layers, as they might look on one GPU.

Nothing here was measured. It has what the viewer and the analyses must cope with: kernels on two streams that overlap,
copies and fills, an all-reduce, arrows from launch to device, a backward thread, two kernels that partly overlap on one
stream, a kernel whose launch lies before the window, and an arrow without a tail.

    python tests/record/synthetic_cuda.py
"""

from __future__ import annotations

import random
from pathlib import Path

from synthetic import Json, Recorder

FOLDER = Path(__file__).resolve().parents[1] / "data/synthetic_cuda"
COMPUTE, SIDE = 7, 20
BATCH, WIDTH, LAYERS = 64, 512, 4
GEMM = (
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_"
    "execute_segment_k_off_kernel__5x_cublas"
)
RELU = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar("
    "at::TensorIteratorBase&, c10::Scalar, c10::Scalar)::{lambda(float)#1}, std::array<char*, 2ul> >(int)"
)
ADAM = (
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
    "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4> >(float)"
)
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
ADDMM = "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"


def all_reduce(recorder: Recorder, count: int, rank: int, dur_ns: int) -> None:
    """One of two ranks, of so many floats, launched by the thread that computes gradients."""
    comms = {
        "Collective name": "allreduce", "dtype": "Float", "In msg nelems": count, "Out msg nelems": count,
        "In split size": "[]", "Out split size": "[]", "Group size": 2, "Process Group Name": "0",
        "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]", "Rank": rank,
        "Global rank start": 0, "Global rank stride": 1,
    }  # fmt: skip
    with recorder.operator("c10d::allreduce_", [[count]], thread=2):
        with recorder.operator("record_param_comms", [[count]], thread=2, args=comms):
            with recorder.operator("nccl:all_reduce", [[count]], thread=2, category="user_annotation"):
                args = grid(24, 512, 96, 82_240, 12) | comms
                recorder.launch("cudaLaunchKernelExC", "kernel", ALL_REDUCE, SIDE, dur_ns, thread=2, args=args)


def grid(blocks: int, threads: int, registers: int, shared: int, occupancy: int) -> Json:
    return {
        "queued": 0, "registers per thread": registers, "shared memory": shared,
        "blocks per SM": round(blocks / 100, 6), "warps per SM": round(blocks * threads / 3200, 6),
        "grid": [blocks, 1, 1], "block": [threads, 1, 1], "est. achieved occupancy %": occupancy,
    }  # fmt: skip


class Training:
    """The program that is being profiled."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.random = random.Random(0)
        self.seq = 0
        self.allocated = 1_000_000

    def around(self, ns: int) -> int:
        return int(ns * self.random.uniform(0.9, 1.1))

    def iteration(self, number: int) -> None:
        recorder = self.recorder
        with recorder.operator(f"ProfilerStep#{number}", category="user_annotation"):
            first = max(recorder.stream_free.get(COMPUTE, 0), recorder.now(1) + 30_000)
            self.load()
            layers = [self.layer() for _ in range(LAYERS)]
            self.backward(layers)
            self.optimizer()
            recorder.synchronize()
        end = recorder.stream_free[COMPUTE]
        step = recorder.device_event("gpu_user_annotation", f"ProfilerStep#{number}", COMPUTE, first, end - first, 0)
        step["args"] = {"External id": step["args"]["External id"]}
        recorder.spend(1, 40_000)

    def load(self) -> None:
        """The next batch is copied on the other stream, while the device still computes."""
        with self.recorder.operator("aten::copy_", [[BATCH, WIDTH], [BATCH, WIDTH]]):
            size = BATCH * WIDTH * 4
            args = {"bytes": size, "memory bandwidth (GB/s)": size / 11_000}
            self.recorder.launch(
                "cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", SIDE, 11_000, args=args
            )
        with self.recorder.operator("aten::zero_", [[WIDTH, WIDTH]]):
            args = {"bytes": WIDTH * WIDTH * 4, "memory bandwidth (GB/s)": 524.288}
            self.recorder.launch("cudaMemsetAsync", "gpu_memset", "Memset (Device)", COMPUTE, 2_000, args=args)

    def layer(self) -> Json:
        """Forward of one layer; returns the operator that its backward belongs to."""
        recorder = self.recorder
        self.seq += 1
        seq = self.seq
        self.allocated += BATCH * WIDTH * 4
        with recorder.operator("aten::linear", [[BATCH, WIDTH], [WIDTH, WIDTH], [WIDTH]]):
            shapes = [[WIDTH], [BATCH, WIDTH], [WIDTH, WIDTH]]
            with recorder.operator("aten::addmm", shapes, seq=seq, schema=ADDMM) as forward:
                recorder.memory(BATCH * WIDTH * 4, self.allocated)
                recorder.runtime("cudaOccupancyMaxActiveBlocksPerMultiprocessor", dur_ns=900)
                recorder.launch(
                    "cudaLaunchKernel",
                    "kernel",
                    GEMM,
                    COMPUTE,
                    self.around(42_000),
                    args=grid(128, 384, 168, 99_328, 38),
                )
        with (
            recorder.operator("aten::relu", [[BATCH, WIDTH]]),
            recorder.operator("aten::clamp_min", [[BATCH, WIDTH], []]),
        ):
            recorder.launch(
                "cudaLaunchKernel", "kernel", RELU, COMPUTE, self.around(3_000), args=grid(32, 128, 16, 0, 61)
            )
        recorder.spend(1, self.around(4_000))
        return forward | {"seq": seq}

    def backward(self, layers: list[Json]) -> None:
        """On the autograd thread, while the main thread waits; gradients are reduced on the other stream meanwhile."""
        recorder = self.recorder
        recorder.clock[2] = max(recorder.now(1) + 5_000, recorder.clock.get(2, 0))
        for forward in reversed(layers):
            name = "autograd::engine::evaluate_function: AddmmBackward0"
            with recorder.operator(name, [[BATCH, WIDTH]], thread=2, seq=forward["seq"]):
                with recorder.operator("AddmmBackward0", [[BATCH, WIDTH]], thread=2, seq=forward["seq"]) as backward:
                    for shape in ([WIDTH, BATCH], [BATCH, WIDTH]):
                        with recorder.operator("aten::mm", [shape, [shape[1], WIDTH]], thread=2):
                            kernel = grid(64, 384, 168, 99_328, 38)
                            dur = self.around(38_000)
                            recorder.launch("cudaLaunchKernel", "kernel", GEMM, COMPUTE, dur, thread=2, args=kernel)
            recorder.forward_backward(forward, backward)
            self.all_reduce()
        recorder.spend(1, max(0, recorder.now(2) - recorder.now(1)))

    def all_reduce(self) -> None:
        all_reduce(self.recorder, WIDTH * WIDTH, 0, self.around(55_000))

    def optimizer(self) -> None:
        recorder = self.recorder
        with recorder.operator("Optimizer.step#AdamW.step", category="user_annotation"):
            with recorder.operator("aten::_fused_adamw_", [[WIDTH, WIDTH]] * LAYERS):
                recorder.runtime("cudaStreamWaitEvent", dur_ns=1_200)
                recorder.launch(
                    "cudaLaunchKernel", "kernel", ADAM, COMPUTE, self.around(25_000), args=grid(320, 512, 64, 0, 72)
                )
        with recorder.operator("aten::item", [[]]), recorder.operator("aten::_local_scalar_dense", [[]]):
            args = {"bytes": 4, "memory bandwidth (GB/s)": 0.002}
            recorder.launch(
                "cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", COMPUTE, 2_000, args=args
            )

    def odd_ones(self) -> None:
        """What a well-behaved file would not have."""
        recorder = self.recorder
        recorder.device_event(
            "kernel", RELU, COMPUTE, recorder.start_ns + 1_000, 3_000, 7
        )  # launched before the window
        recorder.dangling_arrow(8, recorder.start_ns + 6_000)
        with recorder.operator("aten::copy_", [[16]]):
            args = {"bytes": 64, "memory bandwidth (GB/s)": 0.008}
            name = "Memcpy DtoD (Device -> Device)"
            recorder.launch("cudaMemcpyAsync", "gpu_memcpy", name, SIDE, 8_000, args=args)
            recorder.launch("cudaMemcpyAsync", "gpu_memcpy", name, SIDE, 12_000, args=args, overlap_ns=5_000)


def main() -> None:
    training = Training()
    for number in range(3):
        training.iteration(number)
    training.odd_ones()
    training.recorder.finish(FOLDER, "synthetic_cuda")


if __name__ == "__main__":
    main()
