"""Points and arrows in the 3D View."""

from __future__ import annotations

from collections.abc import Sequence

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

WIDTH = 2.0  #: of lines [px]

Array = NDArray[np.float32]
Colour = tuple[float, float, float, float]


def draw(found: Sequence[tuple[Array, Array]], size: float, points: Colour, arrows: Colour) -> None:
    """Draw places (k, 3) and ends of lines (2 j, 3), in world, of several bodies. size: of points [px]."""
    if not found:
        return
    places, ends = (np.concatenate(both) for both in zip(*found))
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.point_size_set(size)
    gpu.state.line_width_set(WIDTH)
    try:
        for kind, where, colour in (("LINES", ends, arrows), ("POINTS", places, points)):
            if not len(where):
                continue
            shader.uniform_float("color", colour)
            batch_for_shader(shader, kind, {"pos": where}).draw(shader)
    finally:
        gpu.state.point_size_set(1.0)
        gpu.state.line_width_set(1.0)
