"""Anchors: nodes that constrain parts that the dynamic and prescribed nodes leave floating."""

from __future__ import annotations

import numpy as np

from ...coordinates.floating import FloatingParts, is_firm, spread_of, width_of
from ...state import Index, Vec


class Anchors:
    """Up to three nodes for each floating part, so that K_qq of the remaining nodes is regular."""

    def __init__(self, rest: Vec, parts: list[Index], dynamic: Index, prescribed: Index) -> None:
        """Choose the anchors. rest: (n, 3) [m]. parts: nodes of each face-connected part. dynamic, prescribed: nodes
        that constrain their parts already."""
        fixed = np.concatenate([dynamic, prescribed])
        self.floating = FloatingParts(rest, parts, fixed)
        chosen: list[int] = []
        for group in self.floating.groups:
            for part in group.parts:
                chosen += _choose(rest, part, np.concatenate([fixed, np.array(chosen, dtype=fixed.dtype)]))
        self.nodes: Index = np.array(chosen, dtype=np.int32)


def _choose(rest: Vec, part: Index, fixed: Index) -> list[int]:
    """Return nodes that, with its fixed ones, constrain a part: each is as far as possible from the earlier ones."""
    have = rest[np.intersect1d(part, fixed)]
    width = width_of(rest[part])
    chosen: list[int] = []
    while not is_firm(have, width):
        origin = have.mean(axis=0) if len(have) else rest[part].mean(axis=0)
        away = rest[part] - origin
        if len(have) > 1 and spread_of(have)[0] > 0.0:
            axis = np.linalg.svd(have - origin)[2][0]
            away = away - np.outer(away @ axis, axis)
        node = int(part[np.argmax(np.einsum("ni,ni->n", away, away))])
        chosen.append(node)
        have = np.concatenate([have, rest[[node]]])
    return chosen
