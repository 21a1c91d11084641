"""Whether a new soft body touches by the mesh that is drawn, and not by its tetrahedra.

What is drawn rides in tetrahedra of about the size of its own faces, and stands out of them or lies within. Where both
are about as fine, touching by the mesh costs no more; nothing that is drawn crosses then.
"""

from __future__ import annotations

import bpy
import numpy as np

#: its triangles over those of its tetrahedra: with fewer, what lies in the middle of a face would press on its far
#: corners alone; with more, contact costs more than it shows
FEWEST, MOST = 0.2, 1.5
OF_EDGE = 0.43  #: area of a triangle of tetrahedra over its edge squared


def fits(obj: bpy.types.Object, mesh: bpy.types.Mesh, edge: float) -> bool:
    """Whether a mesh is about as fine as the tetrahedra that it will have. edge: of these, in the object's parent
    space."""
    area = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", area)
    corners = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", corners)
    scale = abs(obj.matrix_world.determinant()) ** (2.0 / 3.0)
    skin = float(area.sum()) * scale / (OF_EDGE * edge * edge) if edge > 0.0 else 0.0
    return FEWEST * skin <= float((corners - 2).sum()) <= MOST * skin
