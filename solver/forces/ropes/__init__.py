"""What ropes and wires resist: how their links stretch, and how they bend."""

from __future__ import annotations

from typing import Protocol

from ...state import Index, Vec

TENSION = "rope_tension"  #: of all links of a part at the end of the last step [N], in a state's memory


class RopeLinks(Protocol):
    """Links that remember what they pulled with."""

    nodes: Index  #: their ends, (s, 2)

    def recall(self, tension: Vec | None) -> None:
        """From now on these were the tensions at the end of the last step [N], (s,); None: there was none."""

    def tension(self, x: Vec) -> Vec:
        """What each link pulls with at positions (n, 3) [m], (s,) [N]."""
