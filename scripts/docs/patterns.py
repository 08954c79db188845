"""Synthetic traces of patterns that no trace of this repository has.

Nothing here was measured. Each function is a training loop with one fault, named after its rule.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import kinetoscope as ks
from kinetoscope._analysis.session import TimelineSession
from program import GEMM, HALF, LAYERS, NORM, TOKENS, WIDTH, Program
from synthetic_cuda import COMPUTE, RELU

FILL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<c10::BFloat16>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul>)"
)
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
)
ARGMAX = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::ArgMaxOps<float> > >"
SOFTMAX = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, c10::BFloat16>(int)"
CONVOLUTION = "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1"
BATCH_NORM = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<__nv_bfloat16, float, int, 512, true, 1, true>(float, float)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
ALL_TO_ALL = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
DECODE = "execute_context_0(0)_generation_4(4)"
LOADING = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
MIB = 2**20
NUM_RANKS = 4
LATE_RANK, BUSY_RANK = 2, 1
_WIDTH_PX = 960
_PADDED_LAYERS = 12


class Pattern(NamedTuple):
    """A rule of findings, with a trace or a job in which it finds something."""

    rule: str
    shown: ks.Trace | ks.TraceSet
    description: str
    """The fault, in one sentence."""
    is_small: bool
    """Whether the events that show it are too short for a picture of the whole trace."""

    def picture(self) -> str:
        """Draws the trace, or one of its iterations, as SVG."""
        if isinstance(self.shown, ks.TraceSet):
            return TimelineSession(self.shown.on_screen(), "clocks").picture(_WIDTH_PX)
        if not self.is_small:
            return self.shown.picture(_WIDTH_PX)
        start, dur = self.shown.iterations.select("start_ns", "dur_ns").rows()[1]
        return self.shown.picture(_WIDTH_PX, start_ns=start, end_ns=start + dur)


def examples() -> Iterator[Pattern]:
    """Yields the patterns."""
    for loops, is_small in ((_LARGE, False), (_SMALL, True)):
        for loop in loops:
            yield Pattern(loop.__name__, ks.read(_document(loop)), _description(loop), is_small)
    for loop in _OF_JOBS:
        yield Pattern(loop.__name__, _job(loop), _description(loop), is_small=False)


def _description(loop: Callable[[Program], None]) -> str:
    return loop.__doc__ or ""


def _document(loop: Callable[[Program], None], rank: int = 0, num_ranks: int = 1) -> bytes:
    program = Program(rank, num_ranks)
    loop(program)
    return program.document()


def _job(loop: Callable[[Program], None]) -> ks.TraceSet:
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(NUM_RANKS):
            Path(folder, f"kineto_trace_{rank}.json").write_bytes(_document(loop, rank, NUM_RANKS))
        job = ks.read_dir(folder, progress=False)
        job.load()
    return job


# --- copies and data -----------------------------------------------------------------------------


def pageable_copy(program: Program) -> None:
    """Each iteration waits for its batch, which is copied from pageable memory."""
    for _ in program.iterations():
        with program.frame("train.py(52): to_device"):
            _move(program, [32, 3, 224, 224], 9 * MIB, 1_300)
        program.train()


def created_on_host(program: Program) -> None:
    """`torch.zeros(…).to("cuda")` fills a mask on the host, then copies it."""
    shape = [2, 1024, 1024]
    for _ in program.iterations():
        with program.frame("model.py(17): make_mask"):
            with program.operator("aten::zeros", [[]]):
                with program.operator("aten::empty", [[]]):
                    program.idle(20)
                with program.operator("aten::zero_", [shape]):
                    program.idle(320)
            _move(program, shape, 4 * MIB, 620)
        program.train()


def _move(program: Program, shape: list[int], num_bytes: int, us: int) -> None:
    """Moves a tensor from pageable memory: the host waits until it is copied."""
    with program.operator("aten::to", [shape]), program.operator("aten::_to_copy", [shape]):
        with program.operator("aten::empty_strided", [[]]):
            program.idle(5)
        with program.operator("aten::copy_", [shape, shape], args={"Input type": [HALF, HALF]}):
            program.copy("HtoD (Pageable -> Device)", num_bytes, us)
            program.wait()


def data_loading_stall(program: Program) -> None:
    """Each iteration waits 1.8 ms for the workers of the DataLoader."""
    for _ in program.iterations():
        with program.frame("torch/utils/data/dataloader.py(739): __next__"):
            with program.operator(LOADING, category="user_annotation"), program.frame("queue.py(180): get"):
                program.idle(1_800)
        program.train()


# --- one-time work and memory --------------------------------------------------------------------


def start_up(program: Program) -> None:
    """The first operator of the recording loads the code of its kernel, which takes 6 ms."""
    for number in program.iterations(4):
        if number == 0:
            with program.frame("model.py(38): forward"), program.operator("aten::linear", [[TOKENS, WIDTH]]):
                with program.operator("aten::mm", [[TOKENS, WIDTH], [WIDTH, WIDTH]]):
                    program.runtime("cudaFuncGetAttributes", dur_ns=6_100_000)
                    program.kernel(GEMM, 24)
        program.train()


def allocation_in_steady_state(program: Program) -> None:
    """`torch.cuda.empty_cache()` ends each iteration, so the next one allocates memory again."""
    for _ in program.iterations():
        for _ in range(LAYERS):
            with program.operator("aten::empty", [[]]):
                program.runtime("cudaMalloc", dur_ns=110_000)
            program.forward(layers=1)
        program.backward()
        program.optimizer()
        with program.frame("torch/cuda/memory.py(221): empty_cache"):
            program.wait("cudaDeviceSynchronize")
            for _ in range(LAYERS):
                program.runtime("cudaFree", dur_ns=70_000)


def out_of_memory(program: Program) -> None:
    """The third batch is longer. Its attention asks for more memory than is free: the run ends."""
    lengths = (2048, 3072, 8192)
    for number in program.iterations(len(lengths)):
        is_last = number == len(lengths) - 1
        length = lengths[number]
        program.forward(layers=3)
        with program.frame("model.py(23): attention"):
            with program.operator("aten::bmm", [[32, length, 64], [32, 64, length]]):
                with program.operator("aten::empty", [[]]):
                    if is_last:
                        _fail_to_allocate(program, 2 * 32 * length * length)
            if is_last:
                continue
            program.compute("aten::softmax", SOFTMAX, 60, [[32, length, length]])
        program.forward(layers=3)
        program.backward()
        program.optimizer()


def _fail_to_allocate(program: Program, num_bytes: int) -> None:
    """The driver refuses, the allocator empties its cache, and the driver refuses again."""
    program.runtime("cudaMalloc", dur_ns=90_000)
    program.wait("cudaDeviceSynchronize")
    for _ in range(3):
        program.runtime("cudaFree", dur_ns=80_000)
    program.runtime("cudaMalloc", dur_ns=90_000)
    total = {"Total Allocated": 12_680 * MIB, "Total Reserved": 13_056 * MIB}
    program.instant("[OutOfMemory]", {"Bytes": num_bytes, "Device Type": 1, "Device Id": 0, **total})
    program.idle(60)


def memory_leak(program: Program) -> None:
    """A list keeps activations, so that each iteration takes 16 MiB more than the last."""
    for number in program.iterations(6):
        with program.frame("model.py(41): forward"):
            with program.operator("aten::relu", [[TOKENS, 4 * WIDTH]]):
                address, taken = number * 16 * MIB, 512 + 16 * (number + 1)
                totals = {"Total Allocated": taken * MIB, "Total Reserved": 1024 * MIB}
                place = {"Addr": address, "Device Type": 1, "Device Id": 0}
                program.instant("[memory]", {"Bytes": 16 * MIB, **place, **totals})
                program.kernel(RELU, 20)
        program.train()


# --- operators -----------------------------------------------------------------------------------


def gradients_zeroed(program: Program) -> None:
    """`zero_grad(set_to_none=False)` fills twelve gradients, one after another."""
    shape = [WIDTH, 4 * WIDTH]
    for _ in program.iterations():
        with program.operator("Optimizer.zero_grad#AdamW.zero_grad", category="user_annotation"):
            for _ in range(2 * LAYERS):
                with program.operator("aten::zero_", [shape]):
                    program.compute("aten::fill_", FILL, 9, [shape, []])
        program.train()
        program.wait()


def unaligned_matmul(program: Program) -> None:
    """The last layer scores the 50,257 tokens of GPT-2. Its kernel is the longest."""
    for _ in program.iterations():
        program.forward(layers=4)
        with program.frame("model.py(64): lm_head"):
            program.linear(330, 50_257)
        program.compute("aten::argmax", ARGMAX, 30, [[TOKENS, 50_257]])
        program.wait()


def conv_bias_before_batch_norm(program: Program) -> None:
    """Each `conv2d` launches a second kernel, which adds its bias. The batch norm subtracts it."""
    for _ in program.iterations():
        with program.frame("resnet.py(88): forward"):
            for _ in range(3):
                _convolution_and_norm(program)
        program.backward(layers=3)
        program.optimizer()
        program.wait()


def _convolution_and_norm(program: Program) -> None:
    image, weight, bias = [64, 256, 56, 56], [256, 256, 3, 3], [256]
    dtypes = {"Input type": [HALF] * 3}
    with program.operator("aten::conv2d", [image, weight, bias], args=dtypes):
        with program.operator("aten::_convolution", [image, weight, bias], args=dtypes):
            program.compute("aten::cudnn_convolution", CONVOLUTION, 60, [image, weight])
            program.compute("aten::add_", ADD, 30, [image, [1, 256, 1, 1]])
    with program.operator("aten::add_", [[]], args={"Input type": ["long int"]}):
        program.kernel(ADD, 2)
    with program.operator("aten::batch_norm", [image, bias], args={"Input type": [HALF] * 2}):
        program.compute("aten::cudnn_batch_norm", BATCH_NORM, 34, [image, bias])
    program.compute("aten::relu_", RELU, 20, [image])


def indexing_in_a_loop(program: Program) -> None:
    """`for token in range(24): loss = loss + losses[token]` launches 24 kernels of 2 µs."""
    for _ in program.iterations():
        program.forward(layers=4)
        with program.frame("train.py(61): loss"):
            for token in range(24):
                index = {"Input type": [HALF, "Scalar", "Scalar"], "Concrete Inputs": ["", "0", str(token)]}
                with program.operator("aten::select", [[24, 128], [], []], args=index):
                    program.idle(2)
                program.compute("aten::add", ADD, 2, [[128], [128]])
        program.backward(layers=4)
        program.optimizer()


# --- serving -------------------------------------------------------------------------------------


def uncaptured_decode(program: Program) -> None:
    """Each decode step launches 48 kernels of 3 µs. A launch takes longer than that."""
    for _ in range(6):
        with program.operator(DECODE, category="user_annotation"):
            for _ in range(48):
                program.compute("aten::linear", GEMM, 3, [[4, WIDTH], [WIDTH, WIDTH]])
            program.wait()


def padded_graph(program: Program) -> None:
    """Decode steps of 5 requests replay the graph that was captured for 8."""
    with program.frame("runner.py(31): capture"):
        program.runtime("cudaStreamBeginCapture")
        for _ in range(_PADDED_LAYERS):
            with program.operator("aten::mm", [[8, WIDTH], [WIDTH, WIDTH]]):
                program.runtime("cudaLaunchKernel")
        program.runtime("cudaStreamEndCapture")
    for _ in range(4):
        with program.operator("execute_context_0(0)_generation_5(5)", category="user_annotation"):
            program.kernel(GEMM, 30)
            _replayed(program, *[(GEMM, 30)] * (_PADDED_LAYERS - 1))
            program.wait()


def sampling_on_host(program: Program) -> None:
    """Each decode step copies its logits to the host, which sorts them to find the next tokens."""
    vocabulary = 128_256
    for _ in range(4):
        with program.operator(DECODE, category="user_annotation"):
            with program.frame("model.py(41): forward"):
                for _ in range(8):
                    program.compute("aten::linear", GEMM, 60, [[4, WIDTH], [WIDTH, WIDTH]])
            with program.frame("sampler.py(63): sample"):
                program.copy("DtoH (Device -> Pinned)", 8 * vocabulary, 30)
                program.wait()
                with program.operator("aten::sort", [[4, vocabulary], [], []]):
                    program.idle(420)
                with program.operator("aten::softmax", [[4, vocabulary], [], []]):
                    program.idle(160)


def kv_cache_copy(program: Program) -> None:
    """The cache is full: blocks of a request move to the host before each decode step."""
    for _ in range(4):
        with program.operator(DECODE, category="user_annotation"):
            with program.operator("_C_cache_ops::swap_blocks"):
                for _ in range(6):
                    program.copy("DtoH (Device -> Pinned)", MIB, 45)
            with program.frame("model.py(41): forward"):
                for _ in range(8):
                    program.compute("aten::linear", GEMM, 60, [[4, WIDTH], [WIDTH, WIDTH]])
            program.wait()


def graph_break(program: Program) -> None:
    """A call of `.item()` cuts the compiled function in two: the host checks guards in between."""
    for _ in program.iterations():
        with program.operator("Torch-Compiled Region: 0/0"):
            _graph(program, 3)
            with program.operator("aten::item", [[]]):
                program.idle(180)
            with program.operator("TorchDynamo Cache Lookup"):
                program.idle(90)
            with program.operator("Torch-Compiled Region: 1/0"):
                with program.frame("model.py(48): torch_dynamo_resume_in_forward_at_48"):
                    _graph(program, 3)
        program.wait()


def small_graphs(program: Program) -> None:
    """Each layer is a graph of three kernels. The launch of a graph takes longer than its work."""
    for _ in program.iterations():
        for _ in range(12):
            program.idle(30)
            program.kernel(NORM, 4)
            _replayed(program, (GEMM, 6), (RELU, 3))
        program.wait()


def missed_fusion(program: Program) -> None:
    """A custom operator changes its input, so the graph copies it before each call."""
    for _ in program.iterations():
        with program.operator("## Call CompiledFxGraph f3kpyormhod ##"):
            for _ in range(4):
                program.compute("aten::addmm", GEMM, 24, [[TOKENS, WIDTH], [WIDTH, WIDTH]])
                program.compute("aten::copy_", RELU, 16, [[TOKENS, WIDTH], [TOKENS, WIDTH]])
                with program.operator("my_ops::rotate_", [[TOKENS, WIDTH]]):
                    program.kernel("rotate_kernel(float*, int)", 12)
        program.wait()


def tensor_cores_idle(program: Program) -> None:
    """Products of few rows wait for their weights. Tensor cores are active for 6 % of the time."""
    start_ns = program.now(1)
    for _ in program.iterations():
        for _ in range(4):
            program.compute("aten::mm", GEMM, 90, [[8, WIDTH], [WIDTH, 4 * WIDTH]])
        program.wait()
    program.sample("Tensor Active [Throughput %]", 6, start_ns)


def _graph(program: Program, layers: int) -> None:
    """A call of a compiled graph."""
    with program.operator("## Call CompiledFxGraph f3kpyormhod ##"):
        for _ in range(layers):
            program.compute("aten::addmm", GEMM, 24, [[TOKENS, WIDTH], [WIDTH, WIDTH]])


def _replayed(program: Program, *kernels: tuple[str, int]) -> None:
    """Makes the last launch that of a graph, with further kernels."""
    call = next(event for event in reversed(program.events) if event.get("cat") == "cuda_runtime")
    call["name"], launch = "cudaGraphLaunch", call["args"]["correlation"]
    for name, us in kernels:
        start = program.stream_free[COMPUTE]
        program.device_event("kernel", name, COMPUTE, start, us * 1000, launch)
        program.stream_free[COMPUTE] = start + us * 1000 + 1_000


# --- several ranks -------------------------------------------------------------------------------


def exposed_communication(program: Program) -> None:
    """All gradients are reduced after the backward pass. Nothing is computed meanwhile."""
    program.num_ranks = 2
    for _ in program.iterations():
        program.forward()
        program.backward()
        program.collective("c10d::allreduce_", "allreduce", ALL_REDUCE, 4 * LAYERS * WIDTH * WIDTH, 420)
        program.optimizer()
        program.wait()


def straggler(program: Program) -> None:
    """Rank 2 loads its batches more slowly. The other ranks wait for it in the all-reduce."""
    is_late, late_us = program.rank == LATE_RANK, 600
    for _ in program.iterations():
        with program.operator(LOADING, category="user_annotation"):
            program.idle(40 + is_late * late_us)
        program.forward(layers=3)
        program.backward(layers=3)
        count, us = 4 * WIDTH * WIDTH, 120 + (not is_late) * late_us
        program.collective("c10d::allreduce_", "allreduce", ALL_REDUCE, count, us)
        program.optimizer()
        program.wait()


def imbalanced_ranks(program: Program) -> None:
    """The experts of rank 1 get most of the tokens. The other ranks wait for their results."""
    expert_us, longest_us = (420 if program.rank == BUSY_RANK else 110), 420
    for _ in program.iterations():
        for _ in range(2):
            program.forward(layers=1)
            _exchange(program, 50)
            with program.frame("moe.py(71): experts"):
                program.compute("aten::_grouped_mm", GEMM, expert_us, [[TOKENS, WIDTH], [8, WIDTH, WIDTH]])
            _exchange(program, 50 + longest_us - expert_us)
        program.wait()


def _exchange(program: Program, us: int) -> None:
    """Sends the tokens to the ranks of their experts, or back."""
    program.collective("c10d::alltoall_base_", "all_to_allv", ALL_TO_ALL, TOKENS * WIDTH, us)
    program.stream_free[COMPUTE] = max(program.stream_free.values())


Loops = tuple[Callable[[Program], None], ...]
_LARGE: Loops = (
    pageable_copy,
    created_on_host,
    data_loading_stall,
    start_up,
    allocation_in_steady_state,
    out_of_memory,
    memory_leak,
    exposed_communication,
    uncaptured_decode,
    padded_graph,
    sampling_on_host,
    kv_cache_copy,
    graph_break,
    missed_fusion,
    small_graphs,
    tensor_cores_idle,
)
_SMALL: Loops = (gradients_zeroed, unaligned_matmul, conv_bias_before_batch_norm, indexing_in_a_loop)
_OF_JOBS: Loops = (straggler, imbalanced_ranks)
