"""Validation of event arguments in a trace; also runs as a command."""

from __future__ import annotations

import argparse
import zlib
from collections import Counter
from typing import Any

import pandas

from kinetoscope.hta.common.trace_file import read_trace
from kinetoscope.hta.configs.default_values import AttributeSpec, ValueType
from kinetoscope.hta.configs.parser_config import ParserConfig


def get_argument_spec(level: str = "default") -> list[AttributeSpec]:
    """Returns the known arguments of a level. Raises KeyError for an unknown level.

    Args:
        level: `minimal`, `standard` (also `default`) or `complete`.
    """
    return {
        "minimal": ParserConfig.ARGS_MINIMUM,
        "default": ParserConfig.ARGS_DEFAULT,
        "standard": ParserConfig.ARGS_DEFAULT,
        "complete": ParserConfig.ARGS_COMPLETE,
    }[level]


def get_expected_arguments(attribute_specs: list[AttributeSpec]) -> pandas.DataFrame:
    """Returns a row for each argument: its key in the trace, type, default value and column."""
    return pandas.DataFrame(
        {
            "arg_keys": [spec.raw_name for spec in attribute_specs],
            "arg_value_types": [spec.value_type for spec in attribute_specs],
            "arg_default_values": pandas.Series([spec.default_value for spec in attribute_specs], dtype=object),
            "trace_df_column_name": [spec.name for spec in attribute_specs],
        }
    )


def validate_trace_format(
    trace_file_path: str, level: str = "standard", ignore_missing_arguments: bool = True
) -> tuple[bool, dict[str, Any]]:
    """Checks the types of a trace's arguments.

    Args:
        trace_file_path: JSON file, whose name ends in `.json` or `.gz`.
        level: As in `get_argument_spec`.
        ignore_missing_arguments: Whether arguments that the level lacks are no error.

    Returns:
        Whether the trace is valid, and the errors by kind. The kinds are `trace_read_error` (an
        exception), `trace_data_error` and `args_data_type` (texts), `skipped_arguments` (counts by
        key) and `type_violations` (texts by key).
    """
    expected = _get_argument_value_types(get_expected_arguments(get_argument_spec(level)))
    try:
        trace_data = read_trace(trace_file_path)
    except (OSError, ValueError, EOFError, zlib.error) as error:
        return False, {"trace_read_error": error}
    if "traceEvents" not in trace_data:
        return False, {"trace_data_error": "expected an object with 'traceEvents', found none"}
    skipped: Counter[str] = Counter()
    violations: dict[str, str] = {}
    errors: dict[str, Any] = {}
    for args in (event["args"] for event in trace_data["traceEvents"] if "args" in event):
        if isinstance(args, dict):
            _check_args(args, expected, skipped, violations)
        else:
            errors["args_data_type"] = f"expected a dictionary as args, found {args}"
    if skipped and not ignore_missing_arguments:
        errors["skipped_arguments"] = skipped
    if violations:
        errors["type_violations"] = violations
    return not errors, errors


def _get_argument_value_types(df: pandas.DataFrame) -> dict[str, tuple[ValueType, Any]]:
    """Returns the types and default values by key."""
    values = zip(df["arg_value_types"], df["arg_default_values"], strict=True)
    return dict(zip(df["arg_keys"], values, strict=True))


def _check_args(
    args: dict[str, Any],
    expected: dict[str, tuple[ValueType, Any]],
    skipped: Counter[str],
    violations: dict[str, str],
) -> None:
    """Adds the arguments of one event to the counts of unknown keys and to the violations."""
    for key, value in args.items():
        if key not in expected:
            skipped[key] += 1
            continue
        value_type, default = expected[key]
        kinds = (int, float) if value_type is ValueType.Float else type(default)
        if value_type is not ValueType.Object and not isinstance(value, kinds):
            violations[key] = f"expected {value_type.name} as {key}, found {value!r} ({type(value).__name__})"


def main() -> None:
    """Checks the trace that the command line names, and prints the errors."""
    parser = argparse.ArgumentParser(description="Check the arguments of a trace.")
    parser.add_argument("trace_file", help="JSON file of a trace, plain or gzip")
    parser.add_argument("--level", default="standard", choices=["minimal", "standard", "complete"])
    options = parser.parse_args()
    is_valid, errors = validate_trace_format(options.trace_file, options.level)
    print(f"Validation result: {is_valid}")
    for kind, found in errors.items():
        print(f"{kind}:")
        details = found.items() if isinstance(found, dict) else [("found", found)]
        print(*(f"  {key}: {detail}" for key, detail in details), sep="\n")


if __name__ == "__main__":
    main()
