"""Configuration of the columns and events in a trace's frame."""

from __future__ import annotations

import copy
import re
from enum import Enum
from pprint import pprint
from typing import TYPE_CHECKING, ClassVar

from kinetoscope.hta.common.constants import MAX_EVENT_DURATION_US
from kinetoscope.hta.configs.default_values import AttributeSpec, EventArgs, ValueType, YamlVersion
from kinetoscope.hta.configs.event_args_yaml_parser import parse_event_args_yaml, v1_0_0

if TYPE_CHECKING:
    import pandas

__all__ = [
    "AVAILABLE_ARGS",
    "DEFAULT_PARSE_VERSION",
    "DEFAULT_VER_EVENT_ARGS",
    "MAX_EVENT_DURATION_US",
    "AttributeSpec",
    "EventArgs",
    "ParserBackend",
    "ParserConfig",
    "TraceType",
    "ValueType",
    "YamlVersion",
    "parse_event_args_yaml",
    "v1_0_0",
]


class ParserBackend(str, Enum):
    """JSON readers of HTA. Iterative readers skip events of `skip_event_types`."""

    JSON = "json"
    IJSON = "ijson"
    IJSON_BATCHED = "ijson_batched"
    IJSON_BATCH_AND_COMPRESS = "ijson_batch_and_compress"


class TraceType(str, Enum):
    """Workload that a trace records."""

    Training = "training"
    TrainingWoProfilerstepAnnot = "training_wo_profilerstep_annot"
    Inference = "inference"


DEFAULT_PARSE_VERSION: YamlVersion = v1_0_0
DEFAULT_VER_EVENT_ARGS: EventArgs = parse_event_args_yaml(DEFAULT_PARSE_VERSION)
AVAILABLE_ARGS: dict[str, AttributeSpec] = dict(DEFAULT_VER_EVENT_ARGS.AVAILABLE_ARGS)
"""Arguments by key, such as `cuda::stream`."""

_DEFAULTS: dict[type, tuple[ValueType, object]] = {
    int: (ValueType.Int, 0),
    float: (ValueType.Float, 0.0),
    str: (ValueType.String, ""),
    object: (ValueType.Object, None),
}


class ParserConfig:
    """Selects the optional columns of a frame, and the events that a frame omits."""

    ARGS_INPUT_SHAPE: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_INPUT_SHAPE
    ARGS_BANDWIDTH: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_BANDWIDTH
    ARGS_SYNC: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_SYNC
    ARGS_MINIMUM: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_MINIMUM
    ARGS_COMPLETE: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_COMPLETE
    ARGS_INFO: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_INFO
    ARGS_TRITON_KERNELS: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_TRITON_KERNELS
    ARGS_COMMUNICATION: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_COMMUNICATION
    ARGS_DEFAULT: ClassVar[list[AttributeSpec]] = DEFAULT_VER_EVENT_ARGS.ARGS_DEFAULT
    DEFAULT_MIN_REQUIRED_COLS: ClassVar[list[str]] = ["ts", "dur", "name", "cat", "pid", "tid"]
    _default: ClassVar[ParserConfig]

    def __init__(
        self,
        args: list[AttributeSpec] | None = None,
        user_provide_trace_type: TraceType | None = None,
        version: YamlVersion = DEFAULT_PARSE_VERSION,
        parse_all_args: bool = False,
        selected_arg_keys: list[str] | None = None,
        skip_event_types: set[str] | None = None,
        convert_ts_to_integer: bool = True,
    ) -> None:
        # copies: add_args and set_args must change neither the caller's list nor the groups of the
        # class
        self.args: list[AttributeSpec] = list(args) if args else self.get_default_args(version)
        """Arguments to read, each a column."""
        self.arg_map: dict[str, AttributeSpec] = {spec.name: spec for spec in self.args}
        """Arguments to read, by column."""
        self.parser_backend: ParserBackend | None = None
        """JSON reader of HTA whose rules apply; None for the default."""
        self.trace_memory: bool = False
        """Whether to measure the memory of reading; has no effect."""
        self.user_provide_trace_type: TraceType | None = user_provide_trace_type
        """Workload, if the caller knows it."""
        self.skip_event_types: set[str] = {"python_function"} if skip_event_types is None else skip_event_types
        """Categories of events that iterative readers skip."""
        self.min_required_cols: list[str] = list(self.DEFAULT_MIN_REQUIRED_COLS)
        """Columns in which each event needs a value."""
        self.drop_gpu_user_annotation: bool = True
        """Whether to drop annotations on streams."""
        self.version: YamlVersion = version
        """Version of the argument list."""
        self.parse_all_args: bool = parse_all_args
        """Whether to read each argument that the trace contains."""
        self.selected_arg_keys: list[str] | None = selected_arg_keys
        """Columns to keep of `args`; None keeps all."""
        self.batch_size = 1000
        """Events per batch of an iterative reader; has no effect."""
        self.convert_ts_to_integer = convert_ts_to_integer
        """Whether to round times to whole µs."""
        self.max_event_duration_us: int | None = MAX_EVENT_DURATION_US
        """Longest duration of a valid event, in µs; None allows all."""

    def clone(self) -> ParserConfig:
        """Returns an independent copy."""
        return copy.deepcopy(self)

    def get_fingerprint_key(self) -> tuple[tuple[str, ...], bool]:
        """Returns a hashable key: the sorted columns and `parse_all_args`."""
        return tuple(sorted(spec.name for spec in self.get_args())), self.parse_all_args

    def __repr__(self) -> str:
        return (
            f"ParserConfig(args={[spec.name for spec in self.args]}, parse_all_args={self.parse_all_args}, "
            f"parser_backend={self.parser_backend}, version={self.version.get_version_str()})"
        )

    @classmethod
    def get_default_cfg(cls) -> ParserConfig:
        """Returns a copy of the configuration that traces are read with by default."""
        return cls._default.clone()

    @classmethod
    def get_versioned_cfg(cls, version: YamlVersion) -> ParserConfig:
        """Returns a configuration with the default arguments of a version."""
        return ParserConfig(version=version)

    @classmethod
    def set_default_cfg(cls, cfg: ParserConfig) -> None:
        """Copies `cfg` to the default, except for version, trace type and rounding."""
        default = cls._default
        default.set_args(cfg.get_args())
        default.set_min_required_cols(cfg.get_min_required_cols())
        default.set_drop_gpu_user_annotation(cfg.drop_gpu_user_annotation)
        default.set_trace_memory(cfg.trace_memory)
        default.set_parser_backend(cfg.parser_backend)
        default.set_parse_all_args(cfg.parse_all_args)
        default.set_args_selector(cfg.selected_arg_keys)
        default.set_skip_event_types(cfg.skip_event_types)
        default.max_event_duration_us = cfg.max_event_duration_us

    @classmethod
    def get_minimum_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        """Returns the arguments that all analyses need."""
        return parse_event_args_yaml(version).ARGS_MINIMUM.copy()

    @classmethod
    def get_default_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        """Returns the arguments that are read by default."""
        return parse_event_args_yaml(version).ARGS_DEFAULT.copy()

    @classmethod
    def get_info_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        """Returns the arguments of metadata events."""
        return parse_event_args_yaml(version).ARGS_INFO.copy()

    def set_args(self, args: list[AttributeSpec]) -> None:
        """Replaces the arguments to read."""
        if args != self.args:
            self.args, self.arg_map = [], {}
            self.add_args(args)

    def get_args(self) -> list[AttributeSpec]:
        """Returns the arguments to read.

        Raises KeyError when the selection names an unknown column.
        """
        if self.selected_arg_keys is None:
            return self.args
        return [self.arg_map[name] for name in self.selected_arg_keys]

    def set_min_required_cols(self, cols: list[str]) -> None:
        """Replaces the columns in which each event needs a value."""
        self.min_required_cols = list(cols)

    def get_min_required_cols(self) -> list[str]:
        """Returns the columns in which each event needs a value."""
        return self.min_required_cols

    def add_args(self, args: list[AttributeSpec]) -> None:
        """Adds arguments to read. Ignores arguments with an existing column."""
        for spec in args:
            if spec.name not in self.arg_map:
                self.args.append(spec)
                self.arg_map[spec.name] = spec

    def set_trace_memory(self, trace_memory: bool) -> None:
        """Sets whether to measure the memory of reading; has no effect."""
        self.trace_memory = trace_memory

    def set_drop_gpu_user_annotation(self, should_drop: bool) -> None:
        """Sets whether to drop annotations on streams."""
        self.drop_gpu_user_annotation = should_drop

    def set_parser_backend(self, parser_backend: ParserBackend | None) -> None:
        """Sets the JSON reader of HTA whose rules apply; None for the default."""
        self.parser_backend = parser_backend

    def set_parse_all_args(self, parse_all_args: bool) -> ParserConfig:
        """Sets whether to read each argument that the trace contains. Returns itself."""
        self.parse_all_args = parse_all_args
        return self

    def set_args_selector(self, selected_arg_keys: list[str] | None = None) -> ParserConfig:
        """Sets the columns to keep of the arguments; None keeps all. Returns itself."""
        self.selected_arg_keys = selected_arg_keys
        return self

    def set_skip_event_types(self, skip_event_types: set[str] | None = None) -> ParserConfig:
        """Sets the categories that iterative readers skip; None for no category.

        Returns itself.
        """
        self.skip_event_types = set() if skip_event_types is None else skip_event_types
        return self

    @classmethod
    def enable_communication_args(
        cls, cfg: ParserConfig | None = None, version: YamlVersion = DEFAULT_PARSE_VERSION
    ) -> ParserConfig:
        """Adds the arguments of collectives to `cfg`, or to the default configuration.

        Returns the changed configuration.
        """
        cfg = cfg or cls._default
        cfg.add_args(parse_event_args_yaml(version).ARGS_COMMUNICATION)
        return cfg

    @staticmethod
    def set_global_parser_config_version(version: YamlVersion) -> None:
        """Resets the default configuration and the groups of the class to a version."""
        event_args = parse_event_args_yaml(version)
        ParserConfig._default = ParserConfig(version=version)
        # update in place: other modules have imported the name
        AVAILABLE_ARGS.update(event_args.AVAILABLE_ARGS)
        for group, specs in event_args._asdict().items():
            if group != "AVAILABLE_ARGS":
                setattr(ParserConfig, group, specs)

    @classmethod
    def get_all_available_args(cls) -> dict[str, AttributeSpec]:
        """Returns the known arguments by key."""
        return AVAILABLE_ARGS

    @classmethod
    def show_available_args(cls) -> None:
        """Prints the known arguments."""
        pprint(cls.get_all_available_args())

    @classmethod
    def transform_arg_name(cls, arg: str) -> str:
        """Converts an argument's key to a column name.

        The name is in lower case, with `_` between words and without units in parentheses.
        """
        without_unit = re.sub(r"\([^)]*\)", "", arg)
        column = re.sub(r"[ \-/.%_]+", "_", without_unit.lower()).strip("_")
        return "arg_name" if column == "name" else column

    @classmethod
    def infer_attribute_specs(
        cls, args: pandas.Series, reference_specs: dict[str, AttributeSpec] | None = None
    ) -> dict[str, AttributeSpec]:
        """Describes each argument in a column of dictionaries, by its key in the trace.

        Prefers descriptions in `reference_specs`, except for `name`: the column of that name
        belongs to the event.
        """
        values: dict[str, object] = {}
        for event_args in args.dropna():
            if isinstance(event_args, dict):
                # the last `name` decides its type, the first value that of other arguments
                values |= {key: value for key, value in event_args.items() if key == "name" or key not in values}
        known = {spec.raw_name: spec for spec in (reference_specs or {}).values() if spec.raw_name in values}
        return known | {
            key: cls.make_attribute_spec(key, value)
            for key, value in values.items()
            if key not in known or key == "name"
        }

    @classmethod
    def make_attribute_spec(
        cls, raw_name: str, value: object, min_supported_version: YamlVersion = DEFAULT_PARSE_VERSION
    ) -> AttributeSpec:
        """Describes an argument by one of its values."""
        value_type, default = next(found for kind, found in _DEFAULTS.items() if isinstance(value, kind))
        return AttributeSpec(cls.transform_arg_name(raw_name), raw_name, value_type, default, min_supported_version)


ParserConfig.set_global_parser_config_version(DEFAULT_PARSE_VERSION)
