"""The cache modifier named "ConJac", which marks the stack.

What stands above it is the simulation's input in each frame, what stands below it is applied to the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...solver.errors import BadMesh
from ..settings import is_chosen, maps_in_use

NAME = "ConJac"

#: modifiers that read a baked cache; one of these under our name is the mark
CACHES = frozenset({"MESH_CACHE", "MESH_SEQUENCE_CACHE"})

#: modifiers that animate the shape: the simulation's input
RIGS = CACHES | frozenset({
    "ARMATURE", "CAST", "CLOTH", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_DEFORM", "SHRINKWRAP",
    "SIMPLE_DEFORM", "SOFT_BODY", "SURFACE_DEFORM", "WARP", "WAVE",
})

#: modifiers that belong to the rig above them where they follow it directly
CORRECTIONS = frozenset({"CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "SMOOTH", "DISPLACE"})


def find(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The object's cache modifier, or None."""
    modifier = obj.modifiers.get(NAME)
    return modifier if modifier is not None and modifier.type in CACHES else None


def place(obj: bpy.types.Object) -> int:
    """Index in the stack where the cache modifier stands, or would be put: after the last deforming modifier.

    After Geometry Nodes too where a map is named that only these can make.
    """
    mark = find(obj)
    if mark is not None:
        return list(obj.modifiers).index(mark)
    types = [modifier.type for modifier in obj.modifiers]
    inputs = RIGS | {"NODES"} if needs_a_map(obj) else RIGS
    after = max((index + 1 for index, kind in enumerate(types) if kind in inputs), default=0)
    while 0 < after < len(types) and types[after] in CORRECTIONS:
        after += 1
    return after


def needs_a_map(obj: bpy.types.Object) -> bool:
    """Whether a modifier has to make one of the object's maps: it is neither a vertex group nor an attribute."""
    settings = getattr(obj, "conjac", None)  # a script may show frames with the extension switched off
    if settings is None:
        return False
    named = (getattr(settings, f"{entry.key}_group") for entry in maps_in_use(settings).values()
             if is_chosen(settings, entry))
    return any(name not in obj.vertex_groups and name not in obj.data.attributes for name in named)


def put(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    """The cache modifier, of type `kind`, at its place; one of another type is replaced where it stands."""
    mark, index = find(obj), place(obj)
    if mark is not None and mark.type != kind:
        _drop(obj, mark)
        mark = None
    if mark is None:
        mark = obj.modifiers.new(NAME, kind)
        if mark is None:
            raise BadMesh("Blender adds no modifier to it", "Make it local or add a library override", obj.name)
        # another modifier may have our name already, and then Blender gave this one another
        if mark.name != NAME:
            obj.modifiers[NAME].name = f"{NAME} (Other)"
            mark.name = NAME
        obj.modifiers.move(len(obj.modifiers) - 1, index)
    return mark


def remove(obj: bpy.types.Object) -> None:
    """Take the cache modifier away, if there is one."""
    mark = find(obj)
    if mark is not None:
        _drop(obj, mark)


def _drop(obj: bpy.types.Object, mark: bpy.types.Modifier) -> None:
    """Remove the modifier, and the cache file that nothing else uses, so that Blender lets go of it on disk."""
    cache_file = mark.cache_file if mark.type == "MESH_SEQUENCE_CACHE" else None
    obj.modifiers.remove(mark)
    if cache_file is not None and not bpy.data.user_map(subset={cache_file})[cache_file]:
        bpy.data.batch_remove({cache_file})


@contextmanager
def only_above(obj: bpy.types.Object) -> Iterator[None]:
    """Inside, the object shows what stands above the mark: the cache modifier and all after it are switched off."""
    below = [modifier for modifier in list(obj.modifiers)[place(obj):] if modifier.show_viewport]
    for modifier in below:
        modifier.show_viewport = False
    try:
        yield
    finally:
        for modifier in below:
            modifier.show_viewport = True


def vertex_count(obj: bpy.types.Object) -> int:
    """Number of vertices at the mark's place in the stack."""
    if not list(obj.modifiers)[:place(obj)]:
        return len(obj.data.vertices)
    with only_above(obj):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return len(obj.evaluated_get(depsgraph).data.vertices)


def check_count(obj: bpy.types.Object, vertices: int) -> None:
    """Raises BadMesh where the frames have not as many vertices as the object has at the mark."""
    present = vertex_count(obj)
    if present != vertices:
        raise BadMesh(f"it has {present} vertices where the {NAME} modifier stands, and the bake has {vertices}",
                      "Bake again, or take back the change to the mesh", obj.name)
