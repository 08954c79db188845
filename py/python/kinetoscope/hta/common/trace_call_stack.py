"""The calls of a thread as a tree, with the device work that they launched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import pandas


class DeviceType(Enum):
    """Where a node ran."""

    CPU = 1
    """On the host."""
    GPU = 2
    """On a stream."""


class CallStackIdentity(NamedTuple):
    """Whose calls they are."""

    rank: int
    pid: int | str
    tid: int | str


@dataclass
class CallStackNode:
    """An event with what it is inside of, and what is inside of it."""

    parent: int = -1
    """The event around it, or the root."""
    depth: int = -1
    """How many events are around it; -1 for the root."""
    height: int = -1
    """0 for device work, 1 for a host event without anything inside, else one more than what is inside."""
    device: DeviceType = DeviceType.CPU
    """Where it ran."""
    children: list[int] = field(default_factory=list[int])
    """Events inside it, in the order of their starts; device work after its launch."""


class CallStackGraph:
    """The tree of a thread; events are known by their labels in the frame, the root by a negative number."""

    def __init__(
        self, frame: pandas.DataFrame, identity: CallStackIdentity, root: int, nodes: Mapping[int, CallStackNode]
    ) -> None:
        self.identity = identity
        """Whose calls they are."""
        self.root = root
        """The root's number."""
        self._frame = frame
        self._nodes = nodes

    def get_nodes(self) -> dict[int, CallStackNode]:
        """The nodes by their events, the root first."""
        return {idx: self._nodes[idx] for idx in self._inside(self.root)}

    def get_parent(self, idx: int) -> int:
        """The event around an event, or the root."""
        return self._nodes[idx].parent

    def get_children(self, idx: int) -> list[int]:
        """The events inside an event."""
        return self._nodes[idx].children

    def get_root(self, idx: int) -> int:
        """The root."""
        return self.get_path_to_root(idx)[-1]

    def get_path_to_root(self, idx: int) -> list[int]:
        """An event, the events around it from inside out, and the root."""
        path = [idx]
        while path[-1] >= 0:
            path.append(self._nodes[path[-1]].parent)
        return path

    def get_paths_to_leaves(self, idx: int, include_cuda_kernel: bool = False) -> list[list[int]]:
        """The ways from an event to all that have nothing inside."""
        found: list[list[int]] = []
        for leaf in self.get_leaf_nodes(idx, include_cuda_kernel):
            path = self.get_path_to_root(leaf)
            found.append(path[path.index(idx) :: -1])
        return found

    def get_leaf_nodes(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """Events inside an event that have nothing inside; or it itself."""
        nodes = self.get_descendants(idx, include_gpu_kernel)
        around = {self._nodes[node].parent for node in nodes}
        return [node for node in nodes if node not in around]

    def get_descendants(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """An event and all inside it, each after what it is inside of."""
        return [node for node in self._inside(idx) if include_gpu_kernel or self._nodes[node].device is DeviceType.CPU]

    def get_dataframe(self) -> pandas.DataFrame:
        """The rows of the thread's events."""
        is_node = self._frame.index.isin([idx for idx in self.get_descendants(self.root) if idx >= 0])
        return self._frame.loc[is_node]

    def get_depth(self) -> pandas.Series:
        """How many events are around each, by label."""
        return pandas.Series({idx: node.depth for idx, node in self.get_nodes().items() if idx >= 0}, name="depth")

    def dfs_traverse(
        self,
        enter_func: Callable[[int, CallStackNode], object],
        exit_func: Callable[[int, CallStackNode], object],
    ) -> None:
        """Calls `enter_func` before what is inside a node, the root first, and `exit_func` after it."""
        stack = [(self.root, False)]
        while stack:
            idx, is_left = stack.pop()
            (exit_func if is_left else enter_func)(idx, self._nodes[idx])
            if not is_left:
                stack.append((idx, True))
                stack += [(child, False) for child in reversed(self._nodes[idx].children)]

    def _inside(self, idx: int) -> list[int]:
        found: list[int] = []
        stack = [idx]
        while stack:
            found.append(stack.pop())
            stack += reversed(self._nodes[found[-1]].children)
        return found
