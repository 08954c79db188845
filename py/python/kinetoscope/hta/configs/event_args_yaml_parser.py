"""Arguments of a version, in the groups that a `ParserConfig` selects from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kinetoscope.hta.configs.default_event_args import ADDED_IN, ARGUMENTS, DEFAULT_EVENT_ARGS_YAML
from kinetoscope.hta.configs.default_values import AttributeSpec, EventArgs, ValueType, YamlVersion

__all__ = [
    "ARGS_BANDWIDTH_FUNC",
    "ARGS_COMMUNICATION_FUNC",
    "ARGS_COMPLETE_FUNC",
    "ARGS_DEFAULT_FUNC",
    "ARGS_INDEX_FUNC",
    "ARGS_INFO_FUNC",
    "ARGS_INPUT_SHAPE_FUNC",
    "ARGS_MINIMUM_FUNC",
    "ARGS_SYNC_FUNC",
    "ARGS_TRITON_KERNELS_FUNC",
    "DEFAULT_EVENT_ARGS_YAML",
    "ValueType",
    "main",
    "parse_event_args_yaml",
    "v1_0_0",
]

v1_0_0: YamlVersion = YamlVersion(1, 0, 0)

_Selector = Callable[[dict[str, AttributeSpec]], list[AttributeSpec]]


def _selector(*keys: str) -> _Selector:
    """Returns a function that selects arguments by key.

    The function raises KeyError for a missing key.
    """

    def select(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:
        return [available_args[key] for key in keys]

    return select


def _select_index(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:
    keys = ("index::external_id", "index::python_id", "index::python_parent_id")
    return [available_args[key] for key in keys if key in available_args]


def _select_complete(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:
    return [spec for key, spec in available_args.items() if not key.startswith("info")]


def _select_default(available_args: dict[str, AttributeSpec]) -> list[AttributeSpec]:
    groups = (
        ARGS_MINIMUM_FUNC,
        ARGS_BANDWIDTH_FUNC,
        ARGS_SYNC_FUNC,
        ARGS_INPUT_SHAPE_FUNC,
        ARGS_INDEX_FUNC,
        ARGS_COMMUNICATION_FUNC,
    )
    return [spec for group in groups for spec in group(available_args)]


ARGS_INDEX_FUNC: _Selector = _select_index
ARGS_INPUT_SHAPE_FUNC: _Selector = _selector("cpu_op::input_dims", "cpu_op::input_type", "cpu_op::input_strides")
ARGS_BANDWIDTH_FUNC: _Selector = _selector("data::bytes", "data::bandwidth")
ARGS_SYNC_FUNC: _Selector = _selector("cuda_sync::stream", "cuda_sync::event")
ARGS_MINIMUM_FUNC: _Selector = _selector("cuda::stream", "correlation::cpu_gpu")
ARGS_COMPLETE_FUNC: _Selector = _select_complete
ARGS_INFO_FUNC: _Selector = _selector("info::labels", "info::name", "info::sort_index")
ARGS_COMMUNICATION_FUNC: _Selector = _selector(
    "nccl::collective_name",
    "nccl::in_msg_nelems",
    "nccl::out_msg_nelems",
    "nccl::dtype",
    "nccl::group_size",
    "nccl::rank",
    "nccl::in_split_size",
    "nccl::out_split_size",
)
ARGS_TRITON_KERNELS_FUNC: _Selector = _selector("cpu_op::kernel_backend", "cpu_op::kernel_hash")
ARGS_DEFAULT_FUNC: _Selector = _select_default


@cache
def parse_event_args_yaml(version: YamlVersion) -> EventArgs:
    """Returns the arguments of a version.

    All versions have the same arguments, and all calls return the same object.
    """
    since = {key: YamlVersion.from_string(text) for key, text in ADDED_IN.items()}
    specs = {
        key: AttributeSpec(name, raw_name, value_type, default, since.get(key, version))
        for key, name, raw_name, value_type, default in ARGUMENTS
    }
    return EventArgs(
        AVAILABLE_ARGS=specs,
        ARGS_INPUT_SHAPE=ARGS_INPUT_SHAPE_FUNC(specs),
        ARGS_BANDWIDTH=ARGS_BANDWIDTH_FUNC(specs),
        ARGS_SYNC=ARGS_SYNC_FUNC(specs),
        ARGS_MINIMUM=ARGS_MINIMUM_FUNC(specs),
        ARGS_COMPLETE=ARGS_COMPLETE_FUNC(specs),
        ARGS_INFO=ARGS_INFO_FUNC(specs),
        ARGS_COMMUNICATION=ARGS_COMMUNICATION_FUNC(specs),
        ARGS_TRITON_KERNELS=ARGS_TRITON_KERNELS_FUNC(specs),
        ARGS_DEFAULT=ARGS_DEFAULT_FUNC(specs),
    )


def main() -> None:
    """Prints the arguments of the first version."""
    print(parse_event_args_yaml(v1_0_0))
    print(f"Printed event args for version {v1_0_0.get_version_str()}")


if __name__ == "__main__":
    main()
