"""The cache modifier that plays a bake and marks a position in the stack.

Modifiers above it make the simulation's input in each frame, and those below it are applied to the result. A number in
an otherwise unused field of it identifies it, so it may be renamed, moved, copied and saved; on a library override
Blender keeps neither its identifier nor a custom property.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

import bpy

from ...solver.errors import BadMesh
from . import simulate_after
from .simulate_after import CACHES

NAME = "ConJac"

#: type of modifier → the field and the number by which it is ours. A time that is read where play_mode is "CUSTOM" and
#: time_mode "TIME" alone, and the float32 after 1 as the factor of velocities that the file does not have
SIGNS = {"MESH_CACHE": ("eval_time", 67.578125), "MESH_SEQUENCE_CACHE": ("velocity_scale", 1.0 + 2.0**-23)}


def find(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """Return the object's cache modifier, or None."""
    return next((modifier for modifier in obj.modifiers if is_signed(modifier)), None)


def is_signed(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier plays a bake of the extension, whatever its name."""
    field, number = SIGNS.get(modifier.type, ("", 0.0))
    return bool(field) and getattr(modifier, field) == number


def adopt(obj: bpy.types.Object) -> None:
    """Sign the cache modifier of a file from before there were signs: there the name was all it was known by."""
    named: bpy.types.Modifier | None = obj.modifiers.get(NAME)
    if named is not None and named.type in CACHES and find(obj) is None:
        _sign(named)


def _sign(modifier: bpy.types.Modifier) -> None:
    field, number = SIGNS[modifier.type]
    setattr(modifier, field, number)


def place(obj: bpy.types.Object) -> int:
    """Return the index in the stack at which the cache modifier is or would be inserted."""
    mark = find(obj)
    return simulate_after.index(obj) if mark is None else list(obj.modifiers).index(mark)


def put(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    """Insert the cache modifier, of type `kind`, at its position, and return it; one of another type is replaced in its
    place."""
    mark, index, name = find(obj), place(obj), NAME
    if mark is not None and mark.type != kind:
        name = mark.name  # the artist may have given it another
        _drop(obj, mark)
        mark = None
    if mark is None:
        mark = obj.modifiers.new(name, kind)  # type: ignore[arg-type]
        if mark is None:
            raise BadMesh("Blender adds no modifier to it", "Make it local or add a library override", obj.name)
        # another modifier may have our name already, and then Blender gave this one another
        if mark.name != name:
            obj.modifiers[name].name = f"{name} (Other)"
            mark.name = name
        _sign(mark)
        _move(obj, mark, index)
    return mark


def _move(obj: bpy.types.Object, mark: bpy.types.Modifier, index: int) -> None:
    """Move the cache modifier to position `index` among the others. Blender keeps pinned modifiers behind all others,
    and a new one before them."""
    others = [modifier for modifier in obj.modifiers if modifier != mark]
    mark.use_pin_to_last = index > 0 and others[index - 1].use_pin_to_last
    obj.modifiers.move(list(obj.modifiers).index(mark), index)


def follow_choice(obj: bpy.types.Object) -> None:
    """Move the cache modifier, if there is one, to the position set by Simulate After."""
    mark = find(obj)
    if mark is not None:
        _move(obj, mark, simulate_after.index(obj, without=mark))


def remove(obj: bpy.types.Object) -> None:
    """Remove the cache modifier, if there is one. Its position is stored for the next bake."""
    mark = find(obj)
    if mark is not None:
        simulate_after.remember(obj, mark)
        _drop(obj, mark)


def remove_of(obj: bpy.types.Object, kind: str, suffix: str) -> None:
    """Remove the modifier if it is of type `kind` and plays a file with this suffix, or none: each format removes only
    its own."""
    mark = find(obj)
    if mark is not None and mark.type == kind and PurePath(file_of(mark)).suffix.lower() in ("", suffix):
        remove(obj)


def file_of(mark: bpy.types.Modifier) -> str:
    """Return the file of a cache modifier, as named in the .blend; "" without one."""
    if mark.type == "MESH_CACHE":
        return str(mark.filepath)
    return str(mark.cache_file.filepath) if mark.cache_file else ""


def _drop(obj: bpy.types.Object, mark: bpy.types.Modifier) -> None:
    """Remove the modifier, and the cache file that nothing else uses, so that Blender lets go of it on disk."""
    cache_file = mark.cache_file if mark.type == "MESH_SEQUENCE_CACHE" else None
    obj.modifiers.remove(mark)
    if cache_file is not None and not bpy.data.user_map(subset={cache_file})[cache_file]:
        bpy.data.batch_remove({cache_file})


@contextmanager
def only_above(obj: bpy.types.Object) -> Iterator[None]:
    """Context in which the object shows only the modifiers above the mark: the cache modifier and all after it are
    off."""
    below = [modifier for modifier in list(obj.modifiers)[place(obj):] if modifier.show_viewport]
    for modifier in below:
        modifier.show_viewport = False
    try:
        yield
    finally:
        for modifier in below:
            modifier.show_viewport = True


def vertex_count(obj: bpy.types.Object) -> int:
    """Return the number of vertices at the mark's position in the stack."""
    if not list(obj.modifiers)[:place(obj)]:
        return len(obj.data.vertices)
    with only_above(obj):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return len(obj.evaluated_get(depsgraph).data.vertices)


def check_count(obj: bpy.types.Object, vertices: int) -> None:
    """Raises BadMesh where the frames have not as many vertices as the object has at the mark."""
    present = vertex_count(obj)
    if present != vertices:
        raise BadMesh(f"it has {present} vertices at the {NAME} modifier, and the bake has {vertices}",
                      "Bake again, or undo the change to the mesh", obj.name)
