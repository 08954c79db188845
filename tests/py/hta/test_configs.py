"""Settings of `kinetoscope.hta.configs`: columns of frames, JSON files and environment variables."""

from __future__ import annotations

import json
import logging
from collections.abc import Generator
from pathlib import Path

import pandas
import pytest
from kinetoscope.hta.configs import config, env_options, event_args_yaml_parser, parser_config
from kinetoscope.hta.configs.config import HtaConfig
from kinetoscope.hta.configs.default_values import AttributeSpec, EventArgs, ValueType, YamlVersion
from kinetoscope.hta.configs.env_options import HTAEnvOptions
from kinetoscope.hta.configs.parser_config import AVAILABLE_ARGS, ParserBackend, ParserConfig
from kinetoscope.hta.version import __version__

pytestmark = pytest.mark.unit

FIRST = YamlVersion(1, 0, 0)
DEFAULT = [
    *("stream", "correlation", "bytes", "memory_bw_gbps", "wait_on_stream", "wait_on_cuda_event_record_corr_id"),
    *("input_dims", "input_type", "input_strides", "external_id", "python_id", "python_parent_id"),
    *("collective_name", "in_msg_nelems", "out_msg_nelems", "msg_dtype", "group_size", "process_rank"),
    *("in_split_size", "out_split_size"),
]


@pytest.fixture(autouse=True)
def _defaults() -> Generator[None]:
    yield
    ParserConfig.set_global_parser_config_version(FIRST)


def columns(specs: list[AttributeSpec]) -> list[str]:
    return [spec.name for spec in specs]


# --- arguments ----------------------------------------------------------------------------------------------------


def test_versions() -> None:
    assert YamlVersion.from_string("12.34.56") == (12, 34, 56)
    assert YamlVersion(1, 2, 3).get_version_str() == "1.2.3"
    assert YamlVersion(1, 0, 0) < YamlVersion(1, 0, 1) < YamlVersion(2, 0, 0)
    for text in ("1.0", "a.b.c", "", "1.0.0\n", "v1.0.0"):
        with pytest.raises(ValueError, match="Invalid version string: expected a version such as"):
            YamlVersion.from_string(text)
    assert __version__ == "0.6.1"


def test_descriptions_are_equal_in_all_versions() -> None:
    spec = AttributeSpec("col", "raw", ValueType.Int, 0, FIRST)
    later = spec._replace(min_supported_version=YamlVersion(2, 0, 0))
    assert spec == later
    assert len({spec, later}) == 1
    assert not spec != later  # noqa: SIM202 - both operators are tested
    assert spec != spec._replace(name="other")
    assert spec != "col"


def test_arguments_of_a_version() -> None:
    found = event_args_yaml_parser.parse_event_args_yaml(YamlVersion(1, 1, 0))
    assert isinstance(found, EventArgs)
    assert tuple(found.AVAILABLE_ARGS["cuda::stream"]) == ("stream", "stream", ValueType.Int, -1, (1, 1, 0))
    assert found.AVAILABLE_ARGS["cpu_op::kernel_hash"].min_supported_version == (1, 1, 0)
    assert found.AVAILABLE_ARGS["nccl::input_tensors_start"].min_supported_version == (1, 2, 0)
    assert len(found.AVAILABLE_ARGS) == 52
    assert len(found.ARGS_COMPLETE) == 47
    assert columns(found.ARGS_DEFAULT) == DEFAULT
    assert columns(found.ARGS_TRITON_KERNELS) == ["kernel_backend", "kernel_hash"]


def test_index_arguments_may_be_missing() -> None:
    spec = AVAILABLE_ARGS["index::external_id"]
    assert event_args_yaml_parser.ARGS_INDEX_FUNC({"index::external_id": spec, "other": spec}) == [spec]
    with pytest.raises(KeyError):
        event_args_yaml_parser.ARGS_MINIMUM_FUNC({})


def test_the_yaml_document_has_all_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    text = event_args_yaml_parser.DEFAULT_EVENT_ARGS_YAML
    assert text.startswith(
        "\nversion: 1.0.0\n\nAVAILABLE_ARGS:\n  index::ev_idx:\n    name: ev_idx\n    raw_name: Ev Idx\n"
    )
    assert '    default_value: "[]"\n    min_supported_version: "1.2.0"\n' in text
    assert text.count("raw_name:") == len(AVAILABLE_ARGS)
    event_args_yaml_parser.main()
    assert "Printed event args for version 1.0.0" in capsys.readouterr().out


# --- configurations -----------------------------------------------------------------------------------------------


def test_a_configuration_by_default() -> None:
    cfg = ParserConfig()
    assert columns(cfg.get_args()) == DEFAULT
    assert cfg.skip_event_types == {"python_function"}
    assert cfg.get_min_required_cols() == ["ts", "dur", "name", "cat", "pid", "tid"]
    assert (cfg.drop_gpu_user_annotation, cfg.convert_ts_to_integer, cfg.parse_all_args) == (True, True, False)
    assert (cfg.parser_backend, cfg.trace_memory, cfg.selected_arg_keys) == (None, False, None)
    assert cfg.max_event_duration_us == 604_800_000_000
    assert repr(cfg).startswith("ParserConfig(args=['stream', 'correlation',")
    assert repr(cfg).endswith("parse_all_args=False, parser_backend=None, version=1.0.0)")


def test_arguments_are_added_once() -> None:
    given = ParserConfig.get_minimum_args()
    cfg = ParserConfig(given)
    cfg.add_args(ParserConfig.ARGS_MINIMUM + ParserConfig.ARGS_INPUT_SHAPE)
    assert columns(cfg.get_args()) == ["stream", "correlation", "input_dims", "input_type", "input_strides"]
    assert columns(given) == columns(ParserConfig.ARGS_MINIMUM) == ["stream", "correlation"]


def test_groups_stay_when_a_configuration_changes() -> None:
    cfg = ParserConfig(ParserConfig.ARGS_MINIMUM)
    cfg.set_args([AVAILABLE_ARGS["kernel::queued"]])
    cfg.set_min_required_cols(["ts"])
    assert columns(cfg.get_args()) == ["queued"]
    assert cfg.get_min_required_cols() == ["ts"]
    assert columns(ParserConfig.ARGS_MINIMUM) == ["stream", "correlation"]
    assert ParserConfig().get_min_required_cols() == ParserConfig.DEFAULT_MIN_REQUIRED_COLS
    assert len(ParserConfig.DEFAULT_MIN_REQUIRED_COLS) == 6


def test_a_selection_of_arguments() -> None:
    cfg = ParserConfig(selected_arg_keys=["stream"])
    assert columns(cfg.get_args()) == ["stream"]
    assert cfg.get_fingerprint_key() == (("stream",), False)
    assert columns(cfg.set_args_selector(["bytes", "stream"]).get_args()) == ["bytes", "stream"]
    assert columns(cfg.set_args_selector().get_args()) == DEFAULT
    with pytest.raises(KeyError):
        cfg.set_args_selector(["unknown"]).get_args()


def test_a_fingerprint_tells_what_is_read() -> None:
    keys = {ParserConfig().get_fingerprint_key(), ParserConfig().get_fingerprint_key()}
    keys.add(ParserConfig().set_parse_all_args(parse_all_args=True).get_fingerprint_key())
    keys.add(ParserConfig(ParserConfig.get_info_args()).get_fingerprint_key())
    assert len(keys) == 3


def test_setters() -> None:
    cfg = ParserConfig(skip_event_types=set(), convert_ts_to_integer=False, parse_all_args=True)
    assert (cfg.skip_event_types, cfg.convert_ts_to_integer, cfg.parse_all_args) == (set(), False, True)
    assert cfg.set_skip_event_types({"x"}).skip_event_types == {"x"}
    assert cfg.set_skip_event_types().skip_event_types == set()
    cfg.set_parser_backend(ParserBackend.IJSON)
    assert cfg.parser_backend == "ijson"


def test_the_default_configuration() -> None:
    cfg = ParserConfig()
    cfg.add_args([AVAILABLE_ARGS["kernel::queued"]])
    cfg.set_skip_event_types({"gpu_user_annotation"})
    cfg.set_trace_memory(trace_memory=True)
    cfg.set_drop_gpu_user_annotation(should_drop=False)
    cfg.max_event_duration_us = 999
    ParserConfig.set_default_cfg(cfg)
    default = ParserConfig.get_default_cfg()
    assert columns(default.get_args()) == [*DEFAULT, "queued"]
    assert (default.skip_event_types, default.max_event_duration_us) == ({"gpu_user_annotation"}, 999)
    assert (default.trace_memory, default.drop_gpu_user_annotation) == (True, False)
    default.set_args([])
    assert columns(ParserConfig.get_default_cfg().get_args()) == [*DEFAULT, "queued"]
    ParserConfig.set_global_parser_config_version(FIRST)
    assert columns(ParserConfig.get_default_cfg().get_args()) == DEFAULT


def test_a_version_for_all_configurations() -> None:
    version = YamlVersion(1, 2, 0)
    ParserConfig.set_global_parser_config_version(version)
    assert ParserConfig.get_default_cfg().version == version
    assert AVAILABLE_ARGS["cuda::stream"].min_supported_version == version
    assert ParserConfig.ARGS_MINIMUM[0].min_supported_version == version
    assert parser_config.DEFAULT_VER_EVENT_ARGS.AVAILABLE_ARGS["cuda::stream"].min_supported_version == FIRST


def test_arguments_of_collectives(capsys: pytest.CaptureFixture[str]) -> None:
    cfg = ParserConfig(ParserConfig.get_minimum_args())
    assert ParserConfig.enable_communication_args(cfg) is cfg
    assert set(columns(ParserConfig.ARGS_COMMUNICATION)) < set(columns(cfg.get_args()))
    ParserConfig.set_default_cfg(ParserConfig(ParserConfig.get_minimum_args()))
    ParserConfig.enable_communication_args()
    assert "collective_name" in columns(ParserConfig.get_default_cfg().get_args())
    ParserConfig.show_available_args()
    assert "'cuda::stream': AttributeSpec(" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "column"),
    [
        ("Kernel Queued", "kernel_queued"),
        ("Cuda-Kernel/Queued", "cuda_kernel_queued"),
        ("Kernel.a(.Queued)__b_%", "kernel_a_b"),
        ("name", "arg_name"),
        ("memory bandwidth (GB/s)", "memory_bandwidth"),
    ],
)
def test_columns_of_keys(key: str, column: str) -> None:
    assert ParserConfig.transform_arg_name(key) == column


def test_arguments_are_described_by_their_values() -> None:
    args = pandas.Series([{"a": 1, "name": 1}, None, {"b": 2.5, "a": "x", "name": "n"}, {"c": [1], "t": True}, 5])
    reference = {
        "ref::b": AttributeSpec("b_ref", "b", ValueType.Float, 10.0, FIRST),
        "ref::z": AVAILABLE_ARGS["sm::warps"],
    }
    assert ParserConfig.infer_attribute_specs(args, reference) == {
        "a": AttributeSpec("a", "a", ValueType.Int, 0, FIRST),
        "b": reference["ref::b"],
        "name": AttributeSpec("arg_name", "name", ValueType.String, "", FIRST),
        "c": AttributeSpec("c", "c", ValueType.Object, None, FIRST),
        "t": AttributeSpec("t", "t", ValueType.Int, 0, FIRST),
    }


# --- files --------------------------------------------------------------------------------------------------------


@pytest.fixture
def _quiet() -> Generator[None]:
    log = config.logger
    before = (log.handlers[:], log.level, log.propagate)
    yield
    log.handlers[:], log.level, log.propagate = before


@pytest.mark.usefixtures("_quiet")
def test_settings_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trace_analyzer.json").write_text('{"a": 0, "kept": true}')
    Path("mine.json").write_text(json.dumps({"a": 1, "c": {"c1": 2, "c2": {"c21": 10.0}}}))
    settings = HtaConfig("mine.json")
    assert settings.get_config_file_paths() == [str(tmp_path / "trace_analyzer.json"), "mine.json"]
    paths = ("a", "kept", "c.c2.c21", "c.c2", "d", "c.c1.c3")
    assert [settings.get_config(path) for path in paths] == [1, True, 10.0, {"c21": 10.0}, None, None]
    assert (settings.get_config("a", 7), settings.get_config("d", 7)) == (1, 7)
    assert HtaConfig("mine.json", load_default_paths=False).get_config() == json.loads(Path("mine.json").read_text())
    settings.show()
    assert json.loads(capsys.readouterr().out) == settings.config
    assert [Path(path).name for path in HtaConfig.get_default_paths()] == ["trace_analyzer.json"] * 3
    assert HtaConfig.get_test_data_path("x").endswith("tests/data/x")


@pytest.mark.usefixtures("_quiet")
def test_the_log_goes_to_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = root.handlers[:]
    config.setup_logger("")
    assert config.logger.handlers == []
    config.setup_logger()
    config.setup_logger()
    config.logger.info("once")
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("- INFO - once")
    assert root.handlers == before


# --- environment --------------------------------------------------------------------------------------------------


def test_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HTAEnvOptions, "_instance", None)
    monkeypatch.setenv(env_options.HTA_DISABLE_NS_ROUNDING_ENV, "1")
    monkeypatch.setenv(env_options.CP_LAUNCH_EDGE_ENV, "0")
    assert env_options.disable_ns_rounding()
    assert not env_options.critical_path_add_zero_weight_launch_edges()
    options = HTAEnvOptions.instance()
    assert options is HTAEnvOptions.instance()
    lines = env_options.get_options().strip().splitlines()
    assert lines[0] == "disable_ns_rounding=True, HTA_DISABLE_NS_ROUNDING=1"
    assert lines[1] == "disable_call_graph_depth=False, HTA_DISABLE_CG_DEPTH=unset"
    assert len(lines) == 5


@pytest.mark.parametrize(
    "name",
    [
        "disable_ns_rounding",
        "disable_call_graph_depth",
        "critical_path_add_zero_weight_launch_edges",
        "critical_path_show_zero_weight_launch_edges",
        "critical_path_strict_negative_weight_check",
    ],
)
def test_options_are_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(HTAEnvOptions, "_instance", None)
    options = HTAEnvOptions.instance()
    assert getattr(options, name)() is getattr(env_options, name)() is False
    getattr(options, f"set_{name}")(True)
    assert getattr(options, name)() is getattr(env_options, name)() is True
    assert env_options.get_options().count("=True") == 1
