"""Writes one Alembic file, in a process of its own: Blender's exporter ends the program where the disk is full.

Run by path, by Blender in the background or by a Python that has bpy. The first line of standard input is
{"blend", "scene", "file", "first", "last", "meshes"}: a .blend with a scene that has one mesh object alone, and where
its frames have faces of their own the folder with the mesh of each of them. The last line that it prints is "ok", or
what is wrong in a sentence; a file that is whole can then be opened and has the first frame and the last.
"""

import json
import os
import sys
from pathlib import Path

import bpy
import numpy as np


def main() -> None:
    job = json.loads(sys.stdin.readline())
    bpy.context.preferences.filepaths.use_scripts_auto_execute = job["scripts"]
    bpy.ops.wm.open_mainfile(filepath=job["blend"], load_ui=False, use_scripts=job["scripts"])
    scene = bpy.data.scenes[job["scene"]]
    [obj] = scene.collection.objects
    if job["meshes"]:
        follow(scene, obj.data, Path(job["meshes"]), job["first"], job["last"])
    # one after the other: Blender crashes where a window and a scene that it does not show are given at once
    window = bpy.context.window_manager.windows[0]
    with (bpy.context.temp_override(window=window),
          bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0])):
        result = bpy.ops.wm.alembic_export(
            filepath=job["file"], check_existing=False, start=job["first"], end=job["last"],
            evaluation_mode="VIEWPORT", use_instancing=False, export_hair=False, export_particles=False, vcolors=True)
    if "FINISHED" not in result:
        raise RuntimeError("Blender's exporter did not finish")
    ends = sorted({job["first"], job["last"]})
    written = [count(scene, obj, frame) for frame in ends]
    check(Path(job["file"]), scene, ends, written)


def follow(scene: bpy.types.Scene, mesh: bpy.types.Mesh, folder: Path, first: int, last: int) -> None:
    """Set the mesh to the present frame of the scene at each frame. Blender prints exceptions of a handler and
    continues."""
    def fill_at(at: bpy.types.Scene, *_: object) -> None:
        if at.original == scene:
            try:
                fill(mesh, folder / f"{min(max(at.frame_current, first), last)}.npz")
            except Exception as error:
                end(f"{type(error).__name__}: {error}", 1)

    bpy.app.handlers.frame_change_pre.append(fill_at)
    fill_at(scene)


def fill(mesh: bpy.types.Mesh, path: Path) -> None:
    """Make the mesh that of a file: places x (n, 3), corners of triangles faces (m, 3), and UV maps of corners."""
    with np.load(path, allow_pickle=False) as arrays:
        x, faces = arrays["x"], arrays["faces"]
        maps = [(str(name), arrays[f"map_{k}"]) for k, name in enumerate(arrays["names"])]
    mesh.clear_geometry()
    mesh.vertices.add(len(x))
    mesh.vertices.foreach_set("co", x.ravel())
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, 3, dtype=np.int32))
    for name, uv in maps:
        mesh.uv_layers.new(name=name, do_init=False).uv.foreach_set("vector", uv.ravel())
    mesh.update(calc_edges=True)


def count(scene: bpy.types.Scene, obj: bpy.types.Object, frame: int) -> int:
    """Return the number of vertices at a frame."""
    scene.frame_set(frame)
    layer = scene.view_layers[0]
    layer.update()
    return len(obj.evaluated_get(layer.depsgraph).data.vertices)


def check(path: Path, scene: bpy.types.Scene, frames: list[int], written: list[int]) -> None:
    """Raises RuntimeError, OSError where the file is not whole: read as it will be played."""
    with open(path, "rb") as stream:
        head = stream.read(6)
    if head != b"Ogawa\xff":  # the last byte is set where all the rest stands
        raise RuntimeError("only a part of it could be written")
    bpy.app.handlers.frame_change_pre.clear()
    # what the object is tied to may play files of its own
    others = set(bpy.data.cache_files)
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.cachefile.open(filepath=str(path))
    reader = bpy.data.objects.new("Reader", bpy.data.meshes.new("Reader"))
    scene.collection.objects.link(reader)
    mark = reader.modifiers.new("Reader", "MESH_SEQUENCE_CACHE")
    [mark.cache_file] = set(bpy.data.cache_files) - others
    scene.view_layers[0].update()
    paths = [entry.path for entry in mark.cache_file.object_paths]
    if not paths:
        raise RuntimeError("no mesh can be read back from it")
    mark.object_path = max(paths, key=lambda one: one.count("/"))
    found = [count(scene, reader, frame) for frame in frames]
    if found != written:
        raise RuntimeError(f"frames {frames} read back have {found} vertices instead of {written}")


def end(text: str, code: int) -> None:
    """At once: Blender would go on after a script that raises, and taking it down may take long."""
    print(" ".join(text.split()), flush=True)
    os._exit(code)


try:
    main()
except BaseException as error:
    end(str(error).removeprefix("Error: ") or type(error).__name__, 1)
end("ok", 0)
