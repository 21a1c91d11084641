"""Whether a new soft body touches by the mesh that is drawn, and not by its tetrahedra.

What is drawn rides in tetrahedra of about the size of its own faces, and stands out of them or lies within. Where both
are about as fine, touching by the mesh costs no more; where the mesh is finer, fewer faces around it do. Nothing that
is drawn crosses then.
"""

from __future__ import annotations

import bpy
import numpy as np

#: its triangles over those of its tetrahedra: with fewer, what lies in the middle of a face would press on its far
#: corners alone
FEWEST = 0.2
#: its triangles over those of tetrahedra as fine as the usual share of its size: with more, contact costs more than it
#: shows, and fewer faces touch
MOST = 1.5
SIMPLIFY = 0.003  #: how far these stand out of it at most, as a share of its size
OF_EDGE = 0.43  #: area of a triangle of tetrahedra over its edge squared


def suit(obj: bpy.types.Object, mesh: bpy.types.Mesh, edge: float, usual: float) -> None:
    """Choose the contact mesh of a new body. edge: of its future tetrahedra, in the object's parent space. usual: edge
    by the size of its box alone, which may be finer."""
    area = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", area)
    corners = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", corners)
    skin = float(area.sum()) * abs(obj.matrix_world.determinant()) ** (2.0 / 3.0) / OF_EDGE
    triangles, touching = float((corners - 2).sum()), obj.conjac.contact
    touching.by_mesh = edge > 0.0 and FEWEST * skin <= triangles * edge * edge
    if touching.by_mesh and not touching.is_property_set("simplify") and triangles * usual * usual > MOST * skin:
        touching.simplify = SIMPLIFY
