"""A body that is cut plays on an object of its own, "<name> Cut": the artist's mesh is never changed.

Its mesh is the artist's with everything that the bake's cuts add to it, from the first frame on: the artist's vertices
come first, a seam is closed until its cut is seen, and what lies inside has no size until then. So the number of
vertices never changes, and every format and every modifier works. The artist's object is shown as a box and left out
of renders while the other one plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadMesh
from ...solver.frames.beside import CutMade
from .. import compat, kinds
from . import modifier, simulate_after

#: custom properties: on the object that plays, whose cuts it shows; on the artist's, how it was shown before
SHOWS, WAS_SHOWN = "conjac_shows_cuts_of", "conjac_was_shown"

Positions = NDArray[np.float32]


def find(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Return the object that plays the cuts of this one, or None."""
    return next((candidate for candidate in bpy.data.objects if candidate.get(SHOWS) == obj), None)


def shows_cut(obj: bpy.types.Object) -> bool:
    """Whether it plays the cuts of another one."""
    return SHOWS in obj


def make(obj: bpy.types.Object, mesh: bpy.types.Mesh, mirrored: bool, cuts: Sequence[CutMade]) -> bpy.types.Object:
    """Return the object that plays the cuts, new or as the artist has kept it, on a new mesh.

    mesh: what is seen of `obj` at the bake's first frame above the mark, which is taken over; mirrored: whether the
    bake's triangles run the other way round. Raises BadMesh where the cuts are of another mesh.
    """
    shown = find(obj)
    inside = shown.data.materials[-1] if shown is not None and len(shown.data.materials) else None
    try:
        _add_cuts(mesh, cuts, mirrored)
    except (IndexError, ValueError) as error:
        bpy.data.meshes.remove(mesh)
        raise BadMesh("its mesh is not the one that was baked", "Bake again", obj.name) from error
    mesh.materials.append(obj.conjac.inside_material or inside)
    if WAS_SHOWN not in obj:
        obj[WAS_SHOWN] = {"display": obj.display_type, "render": obj.hide_render}
        obj.display_type, obj.hide_render = "BOUNDS", True
    if shown is None:
        shown = obj.copy()
        shown.display_type, shown.hide_render = _was_shown(obj)
        del shown[WAS_SHOWN]
        shown.conjac.kind = kinds.NONE
        shown[SHOWS] = obj
        for above in list(shown.modifiers)[: modifier.place(obj) + (modifier.find(obj) is not None)]:
            shown.modifiers.remove(above)
        shown.conjac.simulate_after = simulate_after.MESH  # all other modifiers are below
        for collection in obj.users_collection:
            collection.objects.link(shown)
    old = shown.data
    shown.data = mesh
    shown.name = mesh.name = f"{obj.name} Cut"
    if old != obj.data and old.users == 0:
        bpy.data.meshes.remove(old)  # type: ignore[arg-type]
    return shown


def remove(obj: bpy.types.Object) -> None:
    """Remove the object that plays the cuts, and show the artist's object again."""
    shown = find(obj)
    if shown is not None:
        mesh = shown.data
        modifier.remove(shown)
        bpy.data.objects.remove(shown)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)  # type: ignore[arg-type]
    if WAS_SHOWN in obj:
        obj.display_type, obj.hide_render = _was_shown(obj)
        del obj[WAS_SHOWN]


def _was_shown(obj: bpy.types.Object) -> tuple[Any, bool]:
    """Return how the artist's object is drawn, and whether it is left out of renders, without its cuts."""
    return obj[WAS_SHOWN]["display"], bool(obj[WAS_SHOWN]["render"])


def _add_cuts(mesh: bpy.types.Mesh, cuts: Sequence[CutMade], mirrored: bool) -> None:
    """Give the mesh the vertices and faces of all cuts; faces that no cut has touched stay as they are."""
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    polygon = np.empty(len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    mesh.loop_triangles.foreach_get("polygon_index", polygon)
    corners = corners.reshape(-1, 3)
    rest = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", rest)
    rest = rest.reshape(-1, 3)
    count = len(rest)
    for cut in cuts:
        if cut.parents.size and cut.parents.max() >= len(rest):
            raise IndexError("a new vertex is between vertices that do not exist")
        rest = cut.add_to(rest)
    triangles, source = cuts[-1].triangles, cuts[-1].source
    outer = source >= 0
    is_cut = np.ones(len(corners), dtype=bool)
    whole = np.flatnonzero(outer)
    whole = whole[(np.sort(triangles[whole], axis=1) == np.sort(corners[source[whole]], axis=1)).all(axis=1)]
    is_cut[source[whole]] = False
    touched = np.unique(polygon[is_cut])
    pieces = np.flatnonzero(outer)
    pieces = pieces[np.isin(polygon[source[pieces]], touched)]
    if mirrored:
        triangles = triangles[:, ::-1]

    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        for place in rest[count:].tolist():
            work.verts.new(place)
        work.verts.index_update()
        work.verts.ensure_lookup_table()
        work.faces.ensure_lookup_table()
        old = [work.faces[index] for index in touched.tolist()]
        of_polygon = dict(zip(touched.tolist(), old))
        for index in pieces.tolist():
            face = of_polygon[int(polygon[source[index]])]
            made = work.faces.new([work.verts[vertex] for vertex in triangles[index].tolist()], face)
            for loop in made.loops:
                # vertex groups and other data of vertices for new ones, UVs and colours for all
                compat.interpolate_loop(loop, face, loop.vert.index >= count)
        inside = len(mesh.materials)
        for three in triangles[~outer].tolist():
            made = work.faces.new([work.verts[vertex] for vertex in three])
            made.material_index, made.smooth = inside, False
        edges = {edge for face in old for edge in face.edges}
        bmesh.ops.delete(work, geom=old, context="FACES_ONLY")
        for edge in edges:
            if edge.is_valid and not edge.link_faces:
                work.edges.remove(edge)
        work.to_mesh(mesh)
    finally:
        work.free()
    mesh.update()
