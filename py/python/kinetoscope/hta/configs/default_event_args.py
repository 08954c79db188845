"""Arguments that frames can have as columns, and their text form in YAML."""

from __future__ import annotations

import json

from kinetoscope.hta.configs.default_values import ValueType

ARGUMENTS: tuple[tuple[str, str, str, ValueType, int | float | str], ...] = (
    ("index::ev_idx", "ev_idx", "Ev Idx", ValueType.Int, -1),
    ("index::external_id", "external_id", "External id", ValueType.Int, -1),
    ("index::python_id", "python_id", "Python id", ValueType.Int, -1),
    ("index::python_parent_id", "python_parent_id", "Python parent id", ValueType.Int, -1),
    ("cpu_op::concrete_inputs", "concrete_inputs", "Concrete Inputs", ValueType.Object, "[]"),
    ("cpu_op::fwd_thread", "fwd_thread_id", "Fwd thread id", ValueType.Int, -1),
    ("cpu_op::input_dims", "input_dims", "Input Dims", ValueType.Object, "-1"),
    ("cpu_op::input_type", "input_type", "Input type", ValueType.Object, "-1"),
    ("cpu_op::input_strides", "input_strides", "Input Strides", ValueType.Object, "-1"),
    ("cpu_op::sequence_number", "sequence", "Sequence number", ValueType.Int, -1),
    ("cpu_op::kernel_backend", "kernel_backend", "kernel_backend", ValueType.String, ""),
    ("cpu_op::kernel_hash", "kernel_hash", "kernel_hash", ValueType.String, ""),
    ("correlation::cbid", "cbid", "cbid", ValueType.Int, -1),
    ("correlation::cpu_gpu", "correlation", "correlation", ValueType.Int, -1),
    ("sm::blocks", "blocks_per_sm", "blocks per SM", ValueType.Object, "[]"),
    ("sm::occupancy", "est_occupancy", "est. achieved occupancy %", ValueType.Int, -1),
    ("sm::warps", "warps_per_sm", "warps per SM", ValueType.Float, 0.0),
    ("data::bytes", "bytes", "bytes", ValueType.Int, -1),
    ("data::bandwidth", "memory_bw_gbps", "memory bandwidth (GB/s)", ValueType.Float, 0.0),
    ("cuda::context", "context", "context", ValueType.Int, -1),
    ("cuda::device", "device", "device", ValueType.Int, -1),
    ("cuda::stream", "stream", "stream", ValueType.Int, -1),
    ("kernel::queued", "queued", "queued", ValueType.Int, -1),
    ("kernel::shared_memory", "shared_memory", "shared memory", ValueType.Int, -1),
    ("threads::block", "block", "block", ValueType.Object, "[]"),
    ("threads::grid", "grid", "grid", ValueType.Object, "[]"),
    ("threads::registers", "registers_per_thread", "registers per thread", ValueType.Int, -1),
    ("cuda_sync::stream", "wait_on_stream", "wait_on_stream", ValueType.Int, -1),
    ("cuda_sync::event", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", ValueType.Int, -1),
    ("info::finished", "finished", "finished", ValueType.String, ""),
    ("info::labels", "labels", "labels", ValueType.String, ""),
    ("info::name", "name", "name", ValueType.Int, -1),
    ("info::op_count", "op_count", "Op count", ValueType.Int, -1),
    ("info::sort_index", "sort_index", "sort_index", ValueType.Int, -1),
    ("nccl::collective_name", "collective_name", "Collective name", ValueType.String, ""),
    ("nccl::in_msg_nelems", "in_msg_nelems", "In msg nelems", ValueType.Int, 0),
    ("nccl::out_msg_nelems", "out_msg_nelems", "Out msg nelems", ValueType.Int, 0),
    ("nccl::in_msg_size", "in_msg_size", "In msg size", ValueType.Int, 0),
    ("nccl::out_msg_size", "out_msg_size", "Out msg size", ValueType.Int, 0),
    ("nccl::group_size", "group_size", "Group size", ValueType.Int, 0),
    ("nccl::dtype", "msg_dtype", "dtype", ValueType.String, ""),
    ("nccl::in_split_size", "in_split_size", "In split size", ValueType.Object, "[]"),
    ("nccl::out_split_size", "out_split_size", "Out split size", ValueType.Object, "[]"),
    ("nccl::input_tensors_start", "input_tensors_start", "Input Tensors start", ValueType.Object, "[]"),
    ("nccl::output_tensors_start", "output_tensors_start", "Output Tensors start", ValueType.Object, "[]"),
    ("nccl::process_group_name", "process_group_name", "Process Group Name", ValueType.String, ""),
    ("nccl::process_group_desc", "process_group_desc", "Process Group Description", ValueType.String, ""),
    ("nccl::process_group_ranks", "process_group_ranks", "Process Group Ranks", ValueType.Object, "[]"),
    ("nccl::rank", "process_rank", "Rank", ValueType.Int, -1),
    ("nccl::seq", "seq_num", "Seq", ValueType.Int, -1),
    ("inference::batch_size", "batch_size", "batchSize", ValueType.Int, -1),
    ("inference::batch_id", "batch_id", "batchId", ValueType.String, ""),
)
"""Key, column, key in the trace, type and default value of each argument."""

ADDED_IN: dict[str, str] = {
    "cpu_op::kernel_hash": "1.1.0",
    "nccl::input_tensors_start": "1.2.0",
    "nccl::output_tensors_start": "1.2.0",
}
"""Version that added an argument, for arguments missing in the first version."""


def _yaml_entry(key: str, column: str, raw_name: str, value_type: ValueType, default: float | str) -> str:
    lines = [
        f"  {key}:",
        f"    name: {column}",
        f"    raw_name: {raw_name}",
        f"    value_type: {value_type.name}",
        f"    default_value: {json.dumps(default)}",
    ]
    if key in ADDED_IN:
        lines.append(f"    min_supported_version: {json.dumps(ADDED_IN[key])}")
    return "\n".join(lines)


DEFAULT_EVENT_ARGS_YAML: str = "\n".join(
    ["", "version: 1.0.0", "", "AVAILABLE_ARGS:", *(_yaml_entry(*argument) for argument in ARGUMENTS), ""]
)
"""The arguments as a YAML document."""
