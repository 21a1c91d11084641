"""Painted surface of a body, and its maps inside of the volume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadScene
from ..state import Index, Vec


@dataclass(frozen=True)
class Painted:
    """Painted surface of a body, its embedding, and values of its maps at nodes."""

    vertices: Vec
    triangles: Index
    corners: Index
    weights: Vec  #: barycentric weights of these at each vertex, (n, 4)
    at_nodes: Mapping[str, Vec]  #: weights at nodes, (k,), and directions, (k, 3), by the array's name


def weights_of(values: NDArray[Any], count: int, name: str, where: str) -> Vec:
    """Return painted weights, clipped to [0, 1], (n,). Raises BadScene where they are not `count` finite numbers.

    name, where: of the map and of the field, for the message.
    """
    weights = np.asarray(values, dtype=np.float64)
    if weights.shape != (count,):
        raise BadScene(f"map {name} has {weights.size} weights for {count} vertices", "Gather the object again",
                       where=where)
    if not np.isfinite(weights).all():
        raise BadScene(f"map {name} has weights that are not numbers", "Paint it again", where=where)
    return np.clip(weights, 0.0, 1.0)
