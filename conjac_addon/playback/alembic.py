"""Alembic: exported by Blender itself from the PC2 that plays, read back by a Mesh Sequence Cache modifier."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import CacheUnwritable, Environment
from ...solver.job.files import replace, unwritable
from .. import scene_removal
from . import modifier
from .frames import Frames
from .paths import relative
from .pc2 import PC2

PROCESS = Path(__file__).resolve().with_name("export_process.py")


class Alembic:
    """Blender's Mesh Sequence Cache modifier; other programs read the file too."""

    suffix = ".abc"

    def show(self, obj: bpy.types.Object, scene: bpy.types.Scene, frames: Frames, path: Path) -> None:
        """Write the frames to `path` and play them on the object. Raises BadMesh, CacheUnwritable, Environment."""
        if not hasattr(bpy.ops.wm, "alembic_export") or not bpy.app.build_options.alembic:
            raise Environment("this Blender was built without Alembic", "Choose PC2 or shape keys")
        # the frames on the mesh as it stands at the mark, with its UVs, colours and materials
        PC2().show(obj, scene, frames, path.with_suffix(PC2.suffix))
        with _only_to_mark(obj), _scene_of(obj, scene) as alone:
            export(alone, path, frames.first, frames.last)
        attach(obj, path)

    def hide(self, obj: bpy.types.Object) -> None:
        """Stop playback and release the file."""
        modifier.remove_of(obj, "MESH_SEQUENCE_CACHE", self.suffix)


@contextmanager
def _only_to_mark(obj: bpy.types.Object) -> Iterator[None]:
    """Context in which modifiers below the mark are off, since they are applied to the imported result."""
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
        scene_removal.remove(alone)


def export(scene: bpy.types.Scene, path: Path, first: int, last: int,
           meshes: Iterable[dict[str, NDArray[Any]]] = ()) -> None:
    """Write the only mesh object of a scene at these frames: beside, in a process of its own, and put in place where
    the file is whole.

    meshes: of each frame where they have faces of their own, as `export_process.fill` reads them. What was there stays
    where it cannot be written, and nothing else. Raises CacheUnwritable, Environment.
    """
    [obj] = scene.collection.objects
    if obj.override_library is not None:
        obj.override_library.operations_update()
    fresh = path.with_name(f"{path.stem}.new{path.suffix}")
    try:
        fresh.unlink(missing_ok=True)  # Blender would write through a link
        with tempfile.TemporaryDirectory(prefix="conjac_export_", ignore_cleanup_errors=True) as folder:
            outcome = _run({"file": str(fresh), "first": first, "last": last,
                            "scripts": bpy.context.preferences.filepaths.use_scripts_auto_execute,
                            **_hand_over(scene, Path(folder), first, meshes)})
        if outcome != "ok":
            raise CacheUnwritable(f"{path} cannot be written ({outcome})",
                                  "Free some disk space or choose another cache folder")
        replace(fresh, path)
    except PermissionError as error:
        raise CacheUnwritable(f"{path} cannot be written ({error.strerror or error})",
                              "Close the program that holds it") from error
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _hand_over(scene: bpy.types.Scene, folder: Path, first: int,
               meshes: Iterable[dict[str, NDArray[Any]]]) -> dict[str, str]:
    """Write the input of the export process into a folder, and return its location. Raises CacheUnwritable."""
    blend, meshes_at = folder / "export.blend", ""
    try:
        for frame, arrays in enumerate(meshes, first):
            meshes_at = str(folder)
            np.savez(folder / f"{frame}.npz", **arrays)  # type: ignore[arg-type]
        # Blender 5.2 copies what it writes, and crashes on a layer of a new scene that it has not looked at yet
        scene.view_layers[0].update()
        bpy.data.libraries.write(str(blend), {scene}, path_remap="ABSOLUTE", fake_user=True)
    except (OSError, RuntimeError) as error:
        raise CacheUnwritable(f"{folder} has no space for the export",
                              "Free some space on that disk, or choose another folder of temporary files") from error
    return {"blend": str(blend), "scene": scene.name, "meshes": meshes_at}


def _run(job: dict[str, Any]) -> str:
    """Export in another Blender process; returns its last line, or how it crashed. Raises Environment."""
    argv = [sys.executable, "-I", str(PROCESS)] if not bpy.app.binary_path else [
        bpy.app.binary_path, "--background", "--factory-startup", "--python", str(PROCESS)]
    hidden = {"creationflags": subprocess.CREATE_NO_WINDOW} if sys.platform == "win32" else {}
    try:
        ended = subprocess.run(argv, input=json.dumps(job) + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               encoding="utf-8", errors="replace", check=False, **hidden)
    except OSError as error:
        raise Environment(f"no second Blender can be started for the export ({error.strerror or error})") from error
    lines = ended.stdout.strip().splitlines()
    if ended.returncode < 0 or not lines:
        return "Blender's exporter ended unexpectedly, as it does on a full disk"
    return lines[-1]


def _window() -> bpy.types.Window:
    """Return the window that Blender's exporter requires: a timer has none."""
    return bpy.context.window or bpy.context.window_manager.windows[0]


def attach(obj: bpy.types.Object, path: Path, data: AbstractSet[str] = frozenset({"VERT"}),
           blended: bool = True) -> None:
    """Play the only mesh of a file on the object. data: what is read of it; blended: whether positions are
    interpolated, which needs equal vertex counts in all frames."""
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
