"""Overlap of communication and computation."""

from __future__ import annotations

import pandas

from kinetoscope.hta import drawing
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.device_time import overlap


class CommunicationAnalysis:
    """Measures how much communication overlaps computation."""

    @classmethod
    def get_comm_comp_overlap(cls, t: Trace, visualize: bool = True) -> pandas.DataFrame:
        """Computes the share (%) of each rank's communication that computation overlaps.

        The columns are `rank` and `comp_comm_overlap_pctg`.
        """
        found = overlap(t)
        if visualize:
            drawing.draw_overlap(found)
        return found
