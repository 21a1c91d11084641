"""The surface of a box of cubic cells, a quad a cell face, so that the Box Grid mesher's nodes are its own corners."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

from . import stage

Cells = tuple[int, int, int]


def grid_box(scene: bpy.types.Scene, name: str, cells: Cells, edge: float, corner: tuple[float, float, float],
             shade: Callable[[int, list[int]], int]) -> bpy.types.Object:
    """A closed box from `corner` on, faces outward. edge: of a cell [m].

    Each quad begins at its lowest corner: Blender then cuts it in two as Box Grid does, from there to its highest one,
    so that bent faces are seen where those of the tetrahedra are.

    shade: which of the mesh's materials a face has, by the axis it looks along and its cell, counted from 0.
    """
    vertices: list[tuple[float, float, float]] = []
    number: dict[tuple[int, int, int], int] = {}

    def vertex(i: int, j: int, k: int) -> int:
        if (i, j, k) not in number:
            number[i, j, k] = len(vertices)
            vertices.append((corner[0] + i * edge, corner[1] + j * edge, corner[2] + k * edge))
        return number[i, j, k]

    faces, shades = [], []
    for axis in range(3):
        across, along = [a for a in range(3) if a != axis]
        for end in (0, cells[axis]):
            for a in range(cells[across]):
                for b in range(cells[along]):
                    corners = []
                    for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        place = [0, 0, 0]
                        place[axis], place[across], place[along] = end, a + da, b + db
                        corners.append(vertex(*place))
                    cell = [0, 0, 0]
                    cell[axis], cell[across], cell[along] = max(end - 1, 0), a, b
                    shades.append(shade(axis, cell))
                    # outward: the axes (axis, across, along) are left-handed for Y
                    faces.append(tuple(corners if (end > 0) == (axis != 1) else [corners[0], *corners[:0:-1]]))
    made = stage.mesh_object(scene, name, vertices, faces)
    made.data.polygons.foreach_set("material_index", shades)
    return made


def checker(axis: int, cell: list[int]) -> int:
    """Fields of one cell, two materials in turn."""
    return (sum(cell) - cell[axis]) % 2


def voxels(scene: bpy.types.Scene, name: str, filled: Iterable[Cells], edge: float,
           corner: tuple[float, float, float]) -> bpy.types.Object:
    """The surface of cubic cells, a quad a face that looks out, faces outward. edge: of a cell [m]."""
    cells, faces = set(filled), []
    number: dict[Cells, int] = {}
    for cell in sorted(cells):
        for axis in range(3):
            for end in (0, 1):
                beside = [*cell]
                beside[axis] += 2 * end - 1
                if tuple(beside) in cells:
                    continue
                across, along = (axis + 1) % 3, (axis + 2) % 3
                corners = []
                for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    place = [*cell]
                    place[axis] += end
                    place[across] += da
                    place[along] += db
                    corners.append(number.setdefault((place[0], place[1], place[2]), len(number)))
                faces.append(tuple(corners if end else reversed(corners)))
    vertices = [(corner[0] + i * edge, corner[1] + j * edge, corner[2] + k * edge) for i, j, k in number]
    return stage.mesh_object(scene, name, vertices, faces)
