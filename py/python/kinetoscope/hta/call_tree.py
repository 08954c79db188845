"""Tree of the calls of a thread, and its levels from the roots to the leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy
import pandas

from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.nested import Array

NON_EXISTENT_NODE_INDEX: int = -2
"""Parent index of an unknown event."""
NULL_NODE_INDEX: int = -1
"""Parent index of a root."""


class Node(Protocol):
    """Event of a tree. Labels identify events; negative numbers identify roots."""

    @property
    def parent(self) -> int:
        """Parent event, or the root."""
        ...

    @property
    def children(self) -> list[int]:
        """Child events."""
        ...


NodeT = TypeVar("NodeT", bound=Node)


class CallTree(Generic[NodeT]):
    """Walks along the calls of a thread. No walk recurses, so calls may be nested to any depth."""

    df: pandas.DataFrame
    """Rows of the thread."""
    identity: Any
    """Rank, process and thread."""
    nodes: dict[int, NodeT]
    """Nodes by their events."""
    root_index: int
    """Root of the thread."""

    def __repr__(self) -> str:
        """Returns one line per node."""
        return "\n".join([type(self).__name__, *(f"    {idx}: {node}" for idx, node in self.nodes.items())])

    def get_nodes(self) -> dict[int, NodeT]:
        """Returns the nodes by their events, roots included."""
        return self.nodes

    def get_dataframe(self) -> pandas.DataFrame:
        """Returns the rows of the thread."""
        return self.df

    def get_parent(self, idx: int) -> int:
        """Returns the parent of an event, or its root.

        Returns `NON_EXISTENT_NODE_INDEX` for an unknown event.
        """
        if idx in self.nodes:
            return self.nodes[idx].parent
        logger.error("expected an event of %s, found %s", self.identity, idx)
        return NON_EXISTENT_NODE_INDEX

    def get_children(self, idx: int) -> list[int]:
        """Returns the children of an event; an empty list for an unknown event."""
        return self.nodes[idx].children if idx in self.nodes else []

    def get_path_to_root(self, idx: int) -> list[int]:
        """Returns an event, its ancestors from inside out, and the root.

        Returns an empty list for an unknown event.
        """
        path = [idx] if idx in self.nodes else []
        while path and path[-1] >= 0 and path[-1] in self.nodes:
            path.append(self.nodes[path[-1]].parent)
        return path

    def dfs_traverse(
        self, enter_func: Callable[[int, NodeT], object], exit_func: Callable[[int, NodeT], object]
    ) -> None:
        """Walks depth-first from the root, with a call before and after each node's children.

        `enter_func` runs before the children, `exit_func` after them.
        """
        stack = [(self.root_index, False)]
        while stack:
            idx, is_left = stack.pop()
            (exit_func if is_left else enter_func)(idx, self.nodes[idx])
            if not is_left:
                stack.append((idx, True))
                stack += [(child, False) for child in reversed(self.nodes[idx].children) if child in self.nodes]

    def _walk(self, idx: int, keeps: Callable[[int], bool]) -> Iterator[tuple[int, int, bool]]:
        """Yields an event and its descendants, each with its depth and whether it is a leaf.

        Depths count from the first event.
        """
        stack = [(idx, 0)] if idx in self.nodes and keeps(idx) else []
        while stack:
            node, level = stack.pop()
            inside = [child for child in self.nodes[node].children if child in self.nodes and keeps(child)]
            yield node, level, not inside
            stack += [(child, level + 1) for child in reversed(inside)]

    def _paths(self, idx: int, keeps: Callable[[int], bool]) -> list[list[int]]:
        path: list[int] = []
        paths: list[list[int]] = []
        for node, level, is_leaf in self._walk(idx, keeps):
            path[level:] = [node]
            if is_leaf:
                paths.append(list(path))
        return paths


class Levels:
    """Events of trees by depth, so that a loop over depths combines whole columns."""

    def __init__(self, nodes: Mapping[int, Node], roots: Iterable[int]) -> None:
        self.events = [root for root in roots if root in nodes]
        """Events, roots first; each event follows its parent."""
        parents = [-1] * len(self.events)
        bounds = [0, len(self.events)]
        while bounds[-2] < bounds[-1]:
            for place in range(bounds[-2], bounds[-1]):
                inside = [child for child in nodes[self.events[place]].children if child in nodes]
                self.events += inside
                parents += [place] * len(inside)
            bounds.append(len(self.events))
        self.depths: list[int] = numpy.repeat(numpy.arange(-1, len(bounds) - 2), numpy.diff(bounds)).tolist()
        """Number of ancestors of each event; -1 for a root."""
        self._parents = numpy.array(parents, dtype="int64")
        self._spans = list(pairwise(bounds[1:]))

    def fold(self, combine: numpy.ufunc, values: Array, step: int = 0) -> Array:
        """Combines each event's value, plus `step`, into its parent's value, innermost first."""
        for low, high in reversed(self._spans):
            combine.at(values, self._parents[low:high], values[low:high] + step)
        return values
