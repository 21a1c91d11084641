"""Alembic: exported by Blender itself from the PC2 that plays, read back by a Mesh Sequence Cache modifier."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path

import bpy

from ...solver.errors import CacheUnwritable, Environment
from ...solver.job.files import unwritable
from . import modifier
from .frames import Frames
from .paths import relative
from .pc2 import PC2, replace


class Alembic:
    """Blender's Mesh Sequence Cache modifier; other programs read the file too."""

    suffix = ".abc"

    def show(self, obj: bpy.types.Object, scene: bpy.types.Scene, frames: Frames, path: Path) -> None:
        """Write the frames to `path` and play them on the object. Raises BadMesh, CacheUnwritable, Environment."""
        if not hasattr(bpy.ops.wm, "alembic_export") or not bpy.app.build_options.alembic:
            raise Environment("this Blender was built without Alembic", "Choose PC2 or shape keys")
        # the frames on the mesh as it stands at the mark, with its UVs, colours and materials
        PC2().show(obj, scene, frames, path.with_suffix(PC2.suffix))
        fresh = path.with_name(path.stem + ".new.abc")
        with _only_to_mark(obj), _scene_of(obj, scene) as alone:
            export(alone, fresh, frames.first, frames.last)
        try:
            replace(fresh, path)
        except OSError as error:
            raise CacheUnwritable(f"{path} cannot be written ({error.strerror or error})",
                                  "Close the program that holds it") from error
        attach(obj, path)

    def hide(self, obj: bpy.types.Object) -> None:
        """Stop playing and let go of the file."""
        modifier.remove_of(obj, "MESH_SEQUENCE_CACHE", self.suffix)


@contextmanager
def _only_to_mark(obj: bpy.types.Object) -> Iterator[None]:
    """Inside, modifiers below the mark are off: they will be applied to what is read back."""
    mark = modifier.place(obj)
    below = [(m, m.show_viewport, m.show_render) for m in list(obj.modifiers)[mark + 1:]]
    for below_mark, _, _ in below:
        below_mark.show_viewport = below_mark.show_render = False
    try:
        yield
    finally:
        for below_mark, viewport, render in below:
            below_mark.show_viewport, below_mark.show_render = viewport, render


@contextmanager
def _scene_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Scene]:
    """A passing scene with this object alone, so that the artist's selection and hiding do not matter."""
    alone = bpy.data.scenes.new("ConJac Export")
    hidden = obj.hide_viewport, obj.hide_render
    try:
        alone.render.fps, alone.render.fps_base = scene.render.fps, scene.render.fps_base
        alone.unit_settings.scale_length = scene.unit_settings.scale_length
        alone.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        alone.collection.objects.link(obj)
        obj.hide_viewport = obj.hide_render = False
        yield alone
    finally:
        obj.hide_viewport, obj.hide_render = hidden
        bpy.data.scenes.remove(alone)


def export(scene: bpy.types.Scene, path: Path, first: int, last: int) -> None:
    """Write what is in the scene at these frames. Raises CacheUnwritable."""
    try:
        path.unlink(missing_ok=True)  # Blender would write through a link
    except OSError as error:
        raise unwritable(path, error) from error
    # one after the other: Blender crashes where a window and a scene that it does not show are given at once
    with (bpy.context.temp_override(window=_window()),
          bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0])):
        result = bpy.ops.wm.alembic_export(
            filepath=str(path), check_existing=False, start=first, end=last,
            evaluation_mode="VIEWPORT", use_instancing=False, export_hair=False, export_particles=False, vcolors=True)
    if "FINISHED" not in result or not path.is_file():
        raise CacheUnwritable(f"{path} cannot be written", "Free some disk space or choose another cache folder")


def _window() -> bpy.types.Window:
    """The window that Blender's exporter asks for: a timer has none of its own."""
    return bpy.context.window or bpy.context.window_manager.windows[0]


def attach(obj: bpy.types.Object, path: Path, data: AbstractSet[str] = frozenset({"VERT"}),
           blended: bool = True) -> None:
    """Play the only mesh of a file on the object. data: what is read of it; blended: whether places are between frames,
    which needs as many vertices at all of them."""
    mark = modifier.put(obj, "MESH_SEQUENCE_CACHE")
    mark.cache_file = _open(path)
    mark.object_path = _object_path(mark.cache_file)
    mark.read_data = set(data)
    mark.use_vertex_interpolation = blended  # motion blur asks between the frames
    mark.show_viewport = mark.show_render = True


def _open(path: Path) -> bpy.types.CacheFile:
    before = set(bpy.data.cache_files)
    with bpy.context.temp_override(window=_window()):
        bpy.ops.cachefile.open(filepath=str(path))
    opened = [cache_file for cache_file in bpy.data.cache_files if cache_file not in before]
    if not opened:
        raise Environment(f"Blender could not open {path}")
    opened[0].filepath = relative(path)
    return opened[0]


def _object_path(cache_file: bpy.types.CacheFile) -> str:
    """Path of the only mesh in the file. Blender lists the paths once the file has been evaluated."""
    bpy.context.evaluated_depsgraph_get()
    paths = [entry.path for entry in cache_file.object_paths]
    if not paths:
        raise Environment(f"{cache_file.filepath} holds no mesh")
    return max(paths, key=lambda path: path.count("/"))
