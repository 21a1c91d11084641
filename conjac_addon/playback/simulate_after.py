"""Place of the simulation in an object's stack: the artist's choice under Simulate After, or the place that suits it.

A choice is kept in the object's settings by Blender's identifier of a modifier, which a new name does not change. Its
name counts where there is none, and on a library override: a modifier added there has another one after loading.
"""

from __future__ import annotations

import bpy
import numpy as np

from .. import compat
from ..settings import is_chosen, maps_in_use

#: values of the setting besides a modifier's name: automatic, or before all modifiers
AUTOMATIC, MESH = "", "MESH"

#: modifiers that read a baked cache
CACHES = frozenset({"MESH_CACHE", "MESH_SEQUENCE_CACHE"})

#: modifiers that animate the shape: the simulation's input
RIGS = CACHES | frozenset({
    "ARMATURE", "CAST", "CLOTH", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_DEFORM", "SHRINKWRAP",
    "SIMPLE_DEFORM", "SOFT_BODY", "SURFACE_DEFORM", "WARP", "WAVE",
})

#: modifiers that belong to the rig above them where they follow it directly
CORRECTIONS = frozenset({"CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "SMOOTH", "DISPLACE"})

#: modifiers that change weights of a vertex group, and where they name it
WEIGHTS = {"VERTEX_WEIGHT_EDIT": "vertex_group", "VERTEX_WEIGHT_MIX": "vertex_group_a",
           "VERTEX_WEIGHT_PROXIMITY": "vertex_group"}

#: nodes at which a zone ends, that no link joins to where it begins
_ENDS = frozenset(f"GeometryNode{zone}Output" for zone in ("Simulation", "Repeat", "ForeachGeometryElement"))

#: how much more area of a sheet looks to one side than to the other, as a share of all of it; 0 for a closed surface
SHEET = 0.1

Modifiers = list[bpy.types.Modifier]


def index(obj: bpy.types.Object, without: bpy.types.Modifier | None = None) -> int:
    """Return the number of modifiers before the simulation; `without` is the cache modifier, if it is in the stack."""
    modifiers = [modifier for modifier in obj.modifiers if modifier != without]
    found = chosen(obj, modifiers)
    return automatic(obj, modifiers) if found is None else found


def chosen(obj: bpy.types.Object, modifiers: Modifiers) -> int | None:
    """Return the place in the stack by the artist's choice; None where there is no choice, or its modifier has gone."""
    settings = getattr(obj, "conjac", None)  # a script may show frames with the extension switched off
    if settings is None or settings.simulate_after == AUTOMATIC:
        return None
    if settings.simulate_after == MESH:
        return 0
    uid = settings.simulate_after_uid
    found = [number for number, modifier in enumerate(modifiers) if uid and compat.identifier(modifier) == uid]
    if not found and (not uid or obj.override_library is not None):
        found = [number for number, modifier in enumerate(modifiers) if modifier.name == settings.simulate_after]
    return found[0] + 1 if found else None


def automatic(obj: bpy.types.Object, modifiers: Modifiers) -> int:
    """Return the place in the stack where the artist has not chosen: after the last modifier that deforms, before those
    that make geometry, and after those that follow and change the weights of a map.

    After Geometry Nodes too where a map is named that only these can make or where they make a mesh of their own, and
    after those that make a body of a half or a sheet.
    """
    types = [modifier.type for modifier in modifiers]
    inputs = RIGS | {"NODES"} if needs_a_map(obj) else RIGS
    after = max((number + 1 for number, kind in enumerate(types)
                 if (kind in inputs or makes_its_own(modifiers[number])) and not modifiers[number].use_pin_to_last),
                default=0)
    maps = _groups(obj)
    while after < len(types) and ((after and types[after] in CORRECTIONS) or _paints(modifiers[after]) in maps):
        after += 1
    return max(after, _after_closing(obj, modifiers))


def _groups(obj: bpy.types.Object) -> set[str]:
    """Return names of the vertex groups that are maps of the object."""
    settings = getattr(obj, "conjac", None)
    return set() if settings is None else {getattr(settings, f"{key}_group") for key in maps_in_use(settings)} - {""}


def _paints(modifier: bpy.types.Modifier) -> str:
    """Return the vertex group whose weights a modifier changes; nothing for all others."""
    field = WEIGHTS.get(modifier.type)
    return getattr(modifier, field) if field else ""


def needs_a_map(obj: bpy.types.Object) -> bool:
    """Whether a modifier has to make one of the object's maps: it is neither a vertex group nor an attribute."""
    settings = getattr(obj, "conjac", None)
    if settings is None:
        return False
    named = (getattr(settings, f"{entry.key}_group") for entry in maps_in_use(settings).values()
             if is_chosen(settings, entry))
    return any(name not in obj.vertex_groups and name not in obj.data.attributes for name in named)


def makes_its_own(modifier: bpy.types.Modifier) -> bool:
    """Whether it is a visible Geometry Nodes modifier whose result does not depend on the input mesh: a bake above it
    would not be visible."""
    tree = modifier.node_group if modifier.type == "NODES" and modifier.show_viewport else None
    if tree is None:
        return False
    links = list(tree.links)
    found = [link for link in links
             if link.to_node.bl_idname == "NodeGroupOutput" and link.to_socket.type == "GEOMETRY"]
    seen = set()
    for link in found:  # which grows
        node = link.from_node
        if node.bl_idname in _ENDS or node.bl_idname == "NodeGroupInput" and link.from_socket.type == "GEOMETRY":
            return False
        if node.name not in seen:
            seen.add(node.name)
            found += [link for link in links if link.to_node == node]
    return bool(found)


def _after_closing(obj: bpy.types.Object, modifiers: Modifiers) -> int:
    """After the last modifier without which there is no body: Mirror on a half that is open where it meets its image,
    Solidify on a sheet."""
    kinds = {modifier.type for modifier in modifiers if modifier.show_viewport}
    if not kinds & {"MIRROR", "SOLIDIFY"} or not len(obj.data.polygons):
        return 0
    rim = _rim(obj.data)  # type: ignore[arg-type]
    if not len(rim):
        return 0
    after = 0
    for number, modifier in enumerate(modifiers):
        if not modifier.show_viewport:
            continue
        if modifier.type == "MIRROR" and _meets_image(modifier, rim):
            after = number + 1
        elif modifier.type == "SOLIDIFY" and _is_sheet(obj.data):  # type: ignore[arg-type]
            after = number + 1
    return after


def _rim(mesh: bpy.types.Mesh) -> np.ndarray:
    """Return the vertices of edges with a single face, (k, 3) in object space."""
    edges = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    ends = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", places)
    open_edges = np.bincount(edges, minlength=len(mesh.edges)) == 1
    return places.reshape(-1, 3)[np.unique(ends.reshape(-1, 2)[open_edges])]


def _meets_image(mirror: bpy.types.Modifier, rim: np.ndarray) -> bool:
    """Whether the rim is merged with its image."""
    if not mirror.use_mirror_merge:
        return False
    if mirror.mirror_object is not None:
        return True
    near = np.abs(rim) <= 0.5 * mirror.merge_threshold + 1.0e-6
    return any(near[:, axis].any() for axis in range(3) if mirror.use_axis[axis])


def _is_sheet(mesh: bpy.types.Mesh) -> bool:
    """Whether the faces form a sheet with one side instead of enclosing a volume."""
    areas, normals = np.empty(len(mesh.polygons)), np.empty(3 * len(mesh.polygons))
    mesh.polygons.foreach_get("area", areas)
    mesh.polygons.foreach_get("normal", normals)
    return bool(np.linalg.norm(areas @ normals.reshape(-1, 3)) > SHEET * areas.sum())


def choose(obj: bpy.types.Object, modifier: bpy.types.Modifier | None) -> None:
    """Keep a choice of the artist: a modifier, or None for the mesh itself."""
    obj.conjac.simulate_after = MESH if modifier is None else modifier.name


def remember(obj: bpy.types.Object, mark: bpy.types.Modifier) -> None:
    """Store the position of the cache modifier in the stack before it is removed, since the artist may have moved
    it."""
    if not hasattr(obj, "conjac"):
        return
    stood = list(obj.modifiers).index(mark)
    if stood != index(obj, without=mark):
        choose(obj, obj.modifiers[stood - 1] if stood else None)
