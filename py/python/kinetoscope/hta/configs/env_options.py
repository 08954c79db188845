"""Options that environment variables set: `1` turns an option on."""

from __future__ import annotations

import os

HTA_DISABLE_NS_ROUNDING_ENV = "HTA_DISABLE_NS_ROUNDING"
HTA_DISABLE_CG_DEPTH_ENV = "HTA_DISABLE_CG_DEPTH"
CP_LAUNCH_EDGE_ENV = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"
CP_LAUNCH_EDGE_SHOW_ENV = "CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE"
CP_STRICT_NEG_WEIGHT_CHECK_ENV = "CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS"

_VARIABLES = {
    "disable_ns_rounding": HTA_DISABLE_NS_ROUNDING_ENV,
    "disable_call_graph_depth": HTA_DISABLE_CG_DEPTH_ENV,
    "critical_path_add_zero_weight_launch_edges": CP_LAUNCH_EDGE_ENV,
    "critical_path_show_zero_weight_launch_edges": CP_LAUNCH_EDGE_SHOW_ENV,
    "critical_path_strict_negative_weight_check": CP_STRICT_NEG_WEIGHT_CHECK_ENV,
}


class HTAEnvOptions:
    """Options of the process, read from the environment when `instance` is first called."""

    _instance: HTAEnvOptions | None = None

    def __init__(self) -> None:
        self._options = {name: os.environ.get(variable) == "1" for name, variable in _VARIABLES.items()}

    @classmethod
    def instance(cls) -> HTAEnvOptions:
        """Returns the options that all analyses share."""
        if cls._instance is None:
            cls._instance = HTAEnvOptions()
        return cls._instance

    def disable_ns_rounding(self) -> bool:
        """Returns whether times keep fractions of a µs."""
        return self._options["disable_ns_rounding"]

    def set_disable_ns_rounding(self, value: bool) -> None:
        """Sets whether times keep fractions of a µs."""
        self._options["disable_ns_rounding"] = value

    def disable_call_graph_depth(self) -> bool:
        """Returns whether call stacks omit the depth."""
        return self._options["disable_call_graph_depth"]

    def set_disable_call_graph_depth(self, value: bool) -> None:
        """Sets whether call stacks omit the depth."""
        self._options["disable_call_graph_depth"] = value

    def critical_path_add_zero_weight_launch_edges(self) -> bool:
        """Returns whether a critical path graph has launch edges of weight 0."""
        return self._options["critical_path_add_zero_weight_launch_edges"]

    def set_critical_path_add_zero_weight_launch_edges(self, value: bool) -> None:
        """Sets whether a critical path graph has launch edges of weight 0."""
        self._options["critical_path_add_zero_weight_launch_edges"] = value

    def critical_path_show_zero_weight_launch_edges(self) -> bool:
        """Returns whether an overlaid trace shows launch edges of weight 0."""
        return self._options["critical_path_show_zero_weight_launch_edges"]

    def set_critical_path_show_zero_weight_launch_edges(self, value: bool) -> None:
        """Sets whether an overlaid trace shows launch edges of weight 0."""
        self._options["critical_path_show_zero_weight_launch_edges"] = value

    def critical_path_strict_negative_weight_check(self) -> bool:
        """Returns whether a negative weight in a critical path graph is an error."""
        return self._options["critical_path_strict_negative_weight_check"]

    def set_critical_path_strict_negative_weight_check(self, value: bool) -> None:
        """Sets whether a negative weight in a critical path graph is an error."""
        self._options["critical_path_strict_negative_weight_check"] = value

    def get_options_str(self) -> str:
        """Returns a line per option: its value, and its environment variable or `unset`."""
        lines = [
            f"{name}={self._options[name]}, {variable}={os.environ.get(variable) or 'unset'}"
            for name, variable in _VARIABLES.items()
        ]
        return "\n".join(["", *lines, ""])


def disable_ns_rounding() -> bool:
    """Returns whether times keep fractions of a µs."""
    return HTAEnvOptions.instance().disable_ns_rounding()


def disable_call_graph_depth() -> bool:
    """Returns whether call stacks omit the depth."""
    return HTAEnvOptions.instance().disable_call_graph_depth()


def critical_path_add_zero_weight_launch_edges() -> bool:
    """Returns whether a critical path graph has launch edges of weight 0."""
    return HTAEnvOptions.instance().critical_path_add_zero_weight_launch_edges()


def critical_path_show_zero_weight_launch_edges() -> bool:
    """Returns whether an overlaid trace shows launch edges of weight 0."""
    return HTAEnvOptions.instance().critical_path_show_zero_weight_launch_edges()


def critical_path_strict_negative_weight_check() -> bool:
    """Returns whether a negative weight in a critical path graph is an error."""
    return HTAEnvOptions.instance().critical_path_strict_negative_weight_check()


def get_options() -> str:
    """Returns a line for each option with its value."""
    return HTAEnvOptions.instance().get_options_str()
