"""Lists the names that PyTorch, NCCL and the runtimes of devices have, for the redaction.

`public_names.py -o core/src/edit/public_names.txt FOLDER...` reads the packages in FOLDERs, each
laid out as `site-packages`: torch (several versions, to know older names), torchvision, fbgemm_gpu,
triton, nvidia, intel-sycl-rt. It runs in an environment with torch. `--traces` adds kernel names of
public traces, for libraries that come without symbols. It needs `c++filt` of binutils.

The file has sections: a line `# KIND GROUP`, then sorted names, one a line.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import importlib
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Sections = defaultdict[str, set[str]]

# Names that no source spells as a whole.
BY_HAND = {
    # Sources: VariableTypeManual.cpp, torch/csrc/profiler, torch/_dynamo, torch/csrc/jit.
    "annotation": "detach|detach_|copy_|_grad_sum_to_size|record_param_comms|DistributedDataParallel.forward|"
    "Torch-Compiled Region|[memory]|INVALID|## process_group:init ##|## forward ##|## backward ##|## optimizer ##|"
    "torch::jit::(anonymous namespace)::DifferentiableGraphBackward|<forward op>|<backward op>|"
    "[pytorch|profiler|execution_trace|thread]|[pytorch|profiler|execution_trace|process]|"
    "[pytorch|profiler|execution_graph|thread]|[pytorch|profiler|execution_graph|process]|"
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__|"
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__|"
    "torch.distributed.ddp.reducer::copy_bucket_to_grad|torch.distributed.ddp.reducer::search_unused_parameters",
    # Older versions than those that were read, as public traces show them.
    "operator aten": "_s_where|cudnn_convolution_backward|cudnn_convolution_backward_input|"
    "cudnn_convolution_backward_weight",
    "call ur": "urEnqueueKernelLaunch|urEnqueueCooperativeKernelLaunchExp|"
    "urEnqueueKernelLaunchCustomExp|urCommandBufferEnqueueExp",
    # torch/csrc/distributed/c10d: titles whose last part follows at run time, and older ones.
    "collective": "all_reduce|all_gather|broadcast|reduce|reduce_scatter|all_to_all|send|recv|gather|scatter|barrier|"
    "_all_gather_base|_reduce_scatter_base|allreduce_coalesced|allgather_coalesced|reduce_scatter_tensor_coalesced|"
    "all_gather_into_tensor_coalesced|coalesced|recvAnySource|recvAnysource|sendrecv|all_reduce_sparse",
    "backend": "gloo|mpi|ucc",
    "backward": "AddmmBackward|CopyBackwards|GraphRoot|AccumulateGrad",
    # Prefixes of the vendors whose runtimes publish no package, and the words of their calls.
    "callword": "acl|acl@|aclmdl|aclnn|aclop|aclrt|aiu|ascend|cl|mtia|syn|ur|xpu|ze|exp|ext|ri|node|usm|args|async|"
    "capture|compute|control|blocks|data|transfer|dma|dmi|event|events|external|file|host|launch|memcpy|memset|mem|"
    "copy|kernel|malloc|free|model|query|record|resize|tensor|allocation|runtime|schedule|wait|stream|synchronize|"
    "device|execute|with|begin|end|enqueue|op|to|task|append|"
    "barrier|command|fence|fill|finish|immediate|list|memory|module|pool|queue|reset|signal|context|create|destroy|get|set|matmul|add|mul",
    # Starts of the names of kernels that generators make: cuBLAS, cuDNN, MIOpen, Tensile, Inductor.
    "kernel": "ampere|at|at_cuda_detail|attn|batched|bounds|c10|cask_cudnn|cask_cudnn_infer|cask_cudnn_train|cijk|ck|"
    "ck_tile|cublas|cublaslt|cudnn|cudnn_infer|cub|cute|cutlass|cutlass_cudnn_infer|cutlass_cudnn_train|deep_ep|deep|"
    "explicit|fbgemm_gpu|fft2d|flash|flashinfer|fmha|gemm|gemv|hccl|hcom|hipcub|igemm|implicit|internode|"
    "internode_ll|intranode|maxwell|memcpy|memset|miopen|nccl|nvjet|oneccl|pytorch_flash|rccl|rocblas|rocprim|"
    "rocshmem|nvshmem|sm50|sm70|sm75|sm80|sm86|sm89|sm90|sm100|sm120|std|thrust|transformer_engine|triton|turing|"
    "vllm|vision|volta|winograd|xmma|senrdma|aclnn|sgemm|hgemm|cunn|"
    "splitkreduce_kernel|dot_kernel|reduce_1block_kernel|scal_kernel|wgrad_alg0_engine|gemmsn|gemmk1_kernel|gemvnsp|"
    "nchwtonhwckernel|nhwctonchwkernel|foldednhwctonhwckernel|nhwctofoldednhwckernel|multi_tensor_apply_kernel|"
    "elementwise_kernel_with_index|softmax_warp_forward|softmax_warp_backward|compute_cuda_kernel|split|permute",
    # Words that these generators put together, and words of types and of lambdas.
    "kernelword": "ampere|volta|turing|maxwell|poi|per|red|tem|tile|fused|nn|nt|tn|tt|void|anonymous|namespace|"
    "lambda|operator|const|unsigned|int|long|float|double|char|bool|short|signed|nv|hip|bfloat|half|std|cijk|"
    "open|fwd|bwd|spatial|variance|sub|val|work|elem|enable|if|type|generic|simple|ring|tree|ll|nvls|collnet|chain|direct|sum|prod|min|max|premulsum|dev|ul|ld|de|r2c|c2r|c2c|e4m3|e5m2",
}

# Examples in the sources, and texts in calls of the same name.
MOST_SHARED = 64
"""Letters that a character counts: `0` to `p`."""
NO_ANNOTATIONS = {"", "foo", "TORCHDYNAMO", "_CALLABLE"}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SCHEMA = re.compile(r"- func: ([\w:]+)(?:\.(\w+))?(\(.*)")
_KERNELS = re.compile(rb"__device_stub_*(_?Z\w+)|(_ZN7cutlass\w*6Kernel\w+)")
_PLAIN_KERNELS = re.compile(
    rb"(?<![0-9A-Za-z_])(?:sm\d+_xmma|ampere|volta|turing|maxwell|nvjet|ncclDevKernel)_\w{4,250}"
)
# Mangled parameters follow a plain name.
_MANGLED = re.compile(r"\d+nccl\w*$|EE\w*$")


def files(folders: list[Path], pattern: str) -> Iterator[Path]:
    """Yields the files of all packages, in a fixed order."""
    for folder in folders:
        yield from sorted(folder.glob(pattern))


def text(path: Path) -> str:
    """Returns the text of a file."""
    return path.read_text(encoding="utf-8", errors="replace")


def read_schemas(found: Sections, folders: list[Path]) -> None:
    """Adds operators, their overloads, and the words of their schemas."""
    torch: Any = importlib.import_module("torch")
    importlib.import_module("torch.distributed")
    importlib.import_module("torch._inductor.lowering")
    schemas = [(schema.name, schema.overload_name, str(schema)) for schema in torch._C._jit_get_all_schemas()]  # noqa: SLF001 - no public function lists them
    schemas += [(*name.partition(".")[::2], "") for name in torch._C._dispatch_get_all_op_names()]  # noqa: SLF001 - no public function lists them
    for path in files(folders, "torchgen/packaged/ATen/native/native_functions.yaml"):
        schemas += [
            (f"aten::{name.removeprefix('aten::')}", overload, signature)
            for name, overload, signature in _SCHEMA.findall(text(path))
        ]
    for name, overload, signature in schemas:
        namespace, _, operator = name.partition("::")
        if namespace not in {"_test", "export"}:
            found[f"operator {namespace}"].add(operator)
            found["overload"].add(overload)
            found["schema"].update(re.findall(r"[A-Za-z_]\w*", signature.partition("(")[2]))
    for namespace, package in (("torchvision", "torchvision"), ("fbgemm", "fbgemm_gpu")):
        libraries = b"".join(path.read_bytes() for path in files(folders, f"{package}/**/*.so"))
        names = re.findall(rb"(?<![\w:])(?:fbgemm::)?([A-Za-z_]\w+)\((?:Tensor|SymInt|int|bool|str)\b", libraries)
        found[f"operator {namespace}"].update(name.decode() for name in names)
        for path in files(folders, f"{package}/**/*.py"):
            found[f"operator {namespace}"].update(re.findall(rf"ops\.{namespace}\.([a-z]\w+)", text(path)))


def read_autograd(found: Sections, folders: list[Path]) -> None:
    """Adds nodes of the backward graph: generated ones, those of C++, and those of Python."""
    for path in files(folders, "torch/include/torch/csrc/autograd/generated/Functions.h"):
        names = re.findall(r"struct (?:\w+ )?(\w+) : public \w+", text(path))
        found["backward"].update(name.rstrip("0123456789") for name in names)
    for path in files(folders, "torch/include/torch/csrc/autograd/**/*.h"):
        if path.parent.name == "generated":
            continue
        names = re.findall(r"struct (?:\w+ )?(\w+) : public (?:Node|FunctionTask|TraceableFunction)\b", text(path))
        found["operator torch"].update(f"autograd::{name}" for name in names)
    for path in files(folders, "torch/lib/libtorch_cpu.so"):
        names = re.findall(rb"torch::distributed::reducer::\w+(?=\0)", path.read_bytes())
        found["operator torch"].update(name.decode().removeprefix("torch::") for name in names)


def is_function(base: ast.expr) -> bool:
    """Whether a base class is `torch.autograd.Function`."""
    return ast.unparse(base) in {"Function", "autograd.Function", "torch.autograd.Function"}


def read_python(found: Sections, folders: list[Path]) -> None:
    """Adds names that the Python code of torch gives to its annotations, modules and optimizers."""
    for path in files(folders, "torch/**/*.py"):
        source = text(path)
        module = path.as_posix()
        is_module, is_optimizer = "/nn/modules/" in module or "/nn/parallel/" in module, "torch/optim/" in module
        is_test = "/testing/" in module or "/_testing/" in module
        if is_test or not (
            is_module or is_optimizer or re.search(r"record_?function|Function\)", source, re.IGNORECASE)
        ):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                if is_module:
                    found["module"].add(node.name)
                if is_optimizer:
                    found["optimizer"].add(node.name)
                if any(map(is_function, node.bases)):
                    found["function"].add(node.name)
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.args[0].value
                is_record = re.search(r"record_?function", ast.unparse(node.func), re.IGNORECASE) is not None
                if is_record and isinstance(name, str) and name not in NO_ANNOTATIONS:
                    found["annotation"].add(name)


def read_calls(found: Sections, folders: list[Path]) -> None:
    """Adds the functions of runtimes and drivers, and the collectives that PyTorch annotates."""
    for path in files(folders, "nvidia/**/cupti_*_cbid.h"):
        for name in re.findall(r"CBID_(_*cu\w+)\s*=", text(path)):
            plain = re.sub(r"(_ptsz|_ptds|_v\d+)+$", "", name)
            found["call cuda" if "cuda" in plain[:8] else "call cu"].add(plain)
    for path in files(folders, "triton/backends/amd/include/rocprofiler-sdk/hip/runtime_api_id.h"):
        found["call hip"].update(re.findall(r"API_ID_(_*hip[A-Z]\w+)", text(path)))
    for path in files(folders, "triton/backends/amd/include/h*/*.h"):
        found["call hip"].update(re.findall(r"\b(hip[A-Z]\w+)\s*\(", text(path)))
        found["call hsa"].update(re.findall(r"\b(hsa_\w+)\s*\(", text(path)))
    for path in files(folders, "**/unified-runtime/ur_api.h"):
        found["call ur"].update(re.findall(r"\b(ur[A-Z]\w+)\s*\(", text(path)))
    for path in files(folders, "nvidia/nccl/include/nccl.h"):
        found["call nccl"].update(re.findall(r"\b(nccl[A-Z]\w+)\s*\(", text(path)))
    for path in files(folders, "torch/lib/libtorch_c*.so"):
        names = re.findall(rb"(?:nccl|gloo|ucc|mpi):(\w+)(?=[ \0])", path.read_bytes())
        found["collective"].update(name.decode() for name in names)


def kernels(folders: list[Path], traces: Path | None) -> set[str]:
    """Returns names of kernels, demangled."""
    mangled: set[str] = set()
    plain: set[str] = set()
    for pattern in ("torch/lib/libtorch_cuda*.so", "nvidia/**/libcublasLt.so*", "nvidia/**/libcudnn_*.so*"):
        for path in files(folders, pattern):
            content = path.read_bytes()
            mangled.update(f"_{(stub or kernel).decode().lstrip('_')}" for stub, kernel in _KERNELS.findall(content))
            plain.update(_MANGLED.sub("", name.decode()) for name in _PLAIN_KERNELS.findall(content))
    for path in files(folders, "nvidia/nccl/lib/libnccl.so*"):
        plain.update(_MANGLED.sub("", name.decode()) for name in _PLAIN_KERNELS.findall(path.read_bytes()))
    command = [shutil.which("c++filt") or "c++filt"]
    names = "\n".join(sorted(mangled))
    lines = subprocess.run(command, input=names, capture_output=True, text=True, check=True)  # noqa: S603 - a constant
    plain.update(line for line in lines.stdout.splitlines() if not line.startswith("_Z"))
    for path in sorted(traces.rglob("*.json*")) if traces else []:
        plain.update(traced_kernels(path))
    return plain


def traced_kernels(path: Path) -> Iterator[str]:
    """Yields the kernels of a trace; none of another file."""
    content = path.read_bytes()
    try:
        trace: Any = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (ValueError, OSError, EOFError):
        return
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    for event in events or []:
        if isinstance(event, dict) and str(event.get("cat")).lower() == "kernel":
            yield str(event.get("name"))


def words(name: str) -> set[str]:
    """Splits a name into words, in lower case, as the redaction does."""
    return {word.lower() for word in _WORD.findall(name)}


def first(kernel: str) -> str:
    """Returns the namespace or function that a kernel starts with."""
    start = re.sub(r"^(void |static |\(anonymous namespace\)::)+", "", kernel)
    return (re.findall(r"[A-Za-z_]\w*", start) or [""])[0]


def read_kernels(found: Sections, folders: list[Path], traces: Path | None) -> None:
    """Adds the words of kernels whose namespace or start is that of a known library."""
    public = set().union(
        *(words(name) for kind, names in found.items() for name in names if kind.startswith("operator "))
    )
    for name in kernels(folders, None):
        if "::" in name or not re.match(r"[a-z]+\d*_", name):
            found["kernel"].add(first(name).lower())
        found["kernelword"].update(words(name))
    # A start with an underscore behind it already stands for these.
    starts = set(BY_HAND["kernel"].split("|"))
    long = {name for name in found["kernel"] if name.partition("_")[0] in starts}
    found["kernel"] = {name for name in found["kernel"] - long if len(name) > 1 and name[0] != "_"} | starts
    for name in kernels([], traces):
        root = first(name).lower()
        if root in found["kernel"] or root.partition("_")[0] in found["kernel"]:
            found["kernelword"].update(words(name))
    found["kernelword"] = {word for word in found["kernelword"] - public if len(word) > 1}


def versions(folders: list[Path]) -> Iterator[str]:
    """Yields the packages that were read, with their versions."""
    for path in files(folders, "*-*.d*"):
        name, _, version = path.name.removesuffix(".dist-info").removesuffix(".data").partition("-")
        if re.fullmatch(r"torch|torchvision|triton|fbgemm_gpu_cpu|nvidia_(nccl|cuda|cublas|cudnn)\w*|intel_\w+", name):
            yield f"{name} {version}"


def shortened(names: list[str]) -> Iterator[str]:
    """Replaces what a name shares with the one before by a count: `0` for no letter, `1` for one.

    The list travels in every page, and is a tenth shorter so, also when it is compressed.
    """
    for before, name in zip(["", *names], names, strict=False):
        letters = os.path.commonprefix([before, name])  # noqa: RUF071 - letters are meant
        shared = min(len(letters), MOST_SHARED)
        yield f"{chr(ord('0') + shared)}{name[shared:]}"


def main() -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folders with packages")
    parser.add_argument("--traces", type=Path, help="folder with public traces")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    found: Sections = defaultdict(set)
    for kind, names in BY_HAND.items():
        found[kind].update(re.split(r"(?<![\[\w]pytorch)\|(?!profiler|execution_|thread\]|process\])", names))
    for read in (read_schemas, read_autograd, read_python, read_calls):
        read(found, arguments.folders)
    read_kernels(found, arguments.folders, arguments.traces)
    lines: list[str] = []
    for section in sorted(found):
        lines += [f"# {section}", *shortened(sorted(name for name in found[section] if name))]
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sources = "\n".join(sorted(set(versions(arguments.folders))))
    arguments.output.with_suffix(".sources.txt").write_text(f"{sources}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
