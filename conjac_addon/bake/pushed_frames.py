"""Contact's forces of a frame as attributes of a mesh, at once or at every frame that is shown."""

from __future__ import annotations

import bpy

from ...solver.errors import BadInput, ConJacError
from .. import members, timeline
from .. import settings as properties
from ..playback import pushed
from . import place, shown

FORCE, PRESSURE = "contact_force", "contact_pressure"


def write(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> float:
    """Write the contact forces at the present frame into the mesh. Returns their sum [N]. Raises ConJacError where none
    are baked, or where the mesh that is seen has other vertices."""
    frame, cache = timeline.present_frame(scene), place.cache_of(place.of(obj).folder)
    rows = cache.diagnostics.contacts(frame)
    vertices, triangles = pushed.shown(obj, depsgraph)
    if len(vertices) != len(obj.data.vertices):  # a Subdivision Surface below ours: the vertices before it are pushed
        name = next((name for player, name in shown.players(members.owner(obj), scene, cache) if player == obj), None)
        local = shown.bodies_at(cache, frame).get(name) if name is not None else None
        if local is not None:
            vertices, triangles = pushed.placed(obj, depsgraph, local)
    if len(vertices) != len(obj.data.vertices):
        raise BadInput("its modifiers change the number of its vertices, so there is no vertex to write to",
                       "Switch them off", obj.name)
    force, pressure = pushed.at_vertices(vertices * properties.unit_scale(scene), triangles, rows)
    for name, values in ((FORCE, force), (PRESSURE, pressure)):
        pushed.write(obj, name, values)
    return float(force.sum())


def follow(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Write the forces of all objects that follow; zeros at frames that are not baked, so that none keeps those of
    another frame."""
    for obj in members.followers(scene):
        if members.is_edited(obj):
            continue
        try:
            write(obj, scene, depsgraph)
        except ConJacError:
            for name in (FORCE, PRESSURE):
                pushed.clear(obj, name)
