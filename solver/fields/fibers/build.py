"""Direction of a body's fibers in each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import catalogue
from ...job import schema
from ...job.folder import parameters
from ...meshing.volume import Volume
from ...state import Vec
from .interface import FiberField, Muscle, unit


def fiber_directions(body: schema.Body, arrays: Callable[[str], NDArray[Any]], volume: Volume, weights: Vec | None,
                     vectors: Vec | None, notes: list[str]) -> Vec:
    """Return the unit direction of the fiber in each element, (e, 3), zero where there is none.

    weights: the Fibers map at nodes, (k,). vectors: directions at nodes, (k, 3). notes: receives sentences for the
    artist. Raises BadScene with the field's path.
    """
    kind = catalogue.find("fiber_field", body.fiber_field.kind)
    field: FiberField = kind.load()(parameters("fiber_field", body.fiber_field))
    to_world = np.eye(4)
    if body.surface is not None and body.surface.to_object is not None:
        to_world = np.linalg.inv(np.asarray(arrays(body.surface.to_object), dtype=np.float64)[0])
    curves = None if body.fiber_curves is None else np.asarray(arrays(body.fiber_curves), dtype=np.float64)
    directions = unit(field.directions(Muscle(volume, weights, vectors, curves, to_world, notes)))
    without = int(np.count_nonzero(~directions.any(axis=1)))
    if without:
        notes.append(f"{without} of {len(directions)} tetrahedra have no fiber: no direction was given there")
    return directions
