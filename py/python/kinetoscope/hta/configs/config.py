"""Settings from JSON files, and the logger of the package."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

from kinetoscope.hta.configs.default_values import DEFAULT_CONFIG_FILENAME

ConfigValue = None | bool | int | float | str | dict[str, Any] | list[Any] | set[Any]

package_path: Path = Path(__file__).parent.parent
"""Folder of the package."""

logger: logging.Logger = logging.getLogger("hta")
"""Logger of the package, named `hta` so that a program's settings for HTA apply."""

_FORMAT = "%(asctime)s - %(name)s - %(filename)s:L%(lineno)d - %(levelname)s - %(message)s"


def setup_logger(config_file: str = "logging.config") -> None:
    """Logs messages from level INFO to the standard output, unless the logger has a handler.

    An empty `config_file` changes nothing. Never reads a `config_file`, because a logging
    configuration can run code.
    """
    if not config_file or logger.handlers:
        return
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


class HtaConfig:
    """Settings from JSON files; settings of later files replace those of earlier files."""

    def __init__(self, config_file_path: str | None = None, load_default_paths: bool | None = True) -> None:
        self.config_file_paths: list[str] = HtaConfig.get_default_paths() if load_default_paths else []
        """Files to read, whether they exist or not."""
        if config_file_path:
            self.config_file_paths.append(config_file_path)
        self.config: dict[str, Any] = {}
        """Settings by their first key."""
        for path in self.get_config_file_paths():
            self.config.update(json.loads(Path(path).read_text(encoding="utf-8")))
        log_file = self.get_config("hta.defaults.logging.config_file")
        setup_logger(*[log_file] if isinstance(log_file, str) else [])

    @staticmethod
    def get_default_paths() -> list[str]:
        """Returns the default files: of the package, the user and the current folder."""
        folders = (package_path, Path.home() / ".hta", Path.cwd())
        return [str(folder / DEFAULT_CONFIG_FILENAME) for folder in folders]

    def get_config_file_paths(self) -> list[str]:
        """Returns the files that exist and are readable."""
        return [path for path in self.config_file_paths if Path(path).exists() and os.access(path, os.R_OK)]

    def get_config(self, dot_path: str | None = None, default_value: ConfigValue = None) -> ConfigValue:
        """Returns the setting at a path such as `a.b.c`, or `default_value`.

        Returns all settings for the path None.
        """
        found: Any = self.config
        for key in [] if dot_path is None else dot_path.split("."):
            if not isinstance(found, dict) or key not in found:
                return default_value
            found = found[key]
        return found

    def show(self) -> None:
        """Prints the settings as JSON."""
        print(json.dumps(self.config, indent=4, sort_keys=True))

    @staticmethod
    def get_test_data_path(dataset: str) -> str:
        """Returns the folder `tests/data/DATASET` beside the package."""
        return str(package_path.parent / "tests" / "data" / dataset)
