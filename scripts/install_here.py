"""Install a zip of the extension into the running Blender and bakes Suzanne with it; run by scripts/installs.py.

    BLENDER_USER_RESOURCES=EMPTY python install_here.py ZIP FOLDER       (bpy as a module)
    blender -b --python-exit-code 3 -P install_here.py -- ZIP FOLDER     (the program)

Prints FOUND and one line of JSON. Imports nothing of this repository, so that only the contents of the zip run.
"""

import json
import os
import sys
import time
from pathlib import Path

import bpy

MODULE = "bl_ext.user_default.conjac"
FRAMES = 8


def installed(path: str) -> bool:
    """Install a zip in Blender and return whether it is enabled; `package_install_files` does not return that."""
    try:
        bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True,
                                                 overwrite=True)
    except RuntimeError as error:  # what Blender would show to the artist
        print(f"Blender says: {error}", flush=True)
    return MODULE in bpy.context.preferences.addons and hasattr(bpy.types.Object, "conjac")


def bake(folder: Path) -> dict[str, object]:
    """Bake a few frames of Suzanne, pinned at her back, under gravity, and return the result."""
    bpy.ops.wm.read_homefile(use_factory_startup=False)  # an artist's scene: there is a camera, a light and a cube too
    bpy.ops.mesh.primitive_monkey_add(size=0.4)
    suzanne, scene = bpy.context.object, bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    back = max(vertex.co.y for vertex in suzanne.data.vertices)
    pinned = [vertex.index for vertex in suzanne.data.vertices if vertex.co.y > back - 0.05]
    suzanne.vertex_groups.new(name="Pin").add(pinned, 1.0, "REPLACE")
    ears = max(abs(vertex.co.x) for vertex in suzanne.data.vertices)
    suzanne.vertex_groups.new(name="Dynamic").add(
        [vertex.index for vertex in suzanne.data.vertices if abs(vertex.co.x) > ears - 0.01], 1.0, "REPLACE")
    suzanne.conjac.enabled, suzanne.conjac.youngs_modulus = True, 2e4
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "suzanne.blend"))
    began = time.monotonic()
    code = suzanne.conjac.bake(wait=True)
    seconds = time.monotonic() - began
    lowest = []
    for frame in (1, FRAMES):
        scene.frame_set(frame)
        shown = suzanne.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        lowest.append(min((suzanne.matrix_world @ vertex.co).z for vertex in shown.vertices))
    run = next((json.loads(path.read_text(encoding="utf-8"))
                for path in folder.rglob("manifest.json")), {"notes": [], "runs": [{}]})
    return {"code": code, "seconds": round(seconds, 1), "sank": lowest[0] - lowest[1],
            "modifiers": [modifier.type for modifier in suzanne.modifiers],
            "solver": next((note for note in run["notes"] if note.startswith("Linear solver: ")), ""),
            "versions": run["runs"][-1].get("versions", {})}


def main() -> None:
    words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    path, folder = words[0], Path(words[1])
    import numpy

    found: dict[str, object] = {"blender": bpy.app.version_string, "python": sys.version.split()[0],
                                "numpy": numpy.__version__, "enabled": installed(path)}
    # what is there beside Blender itself would bake although the zip lacks it
    found["zip_alone"] = not any(Path(entry, name).exists() for name in ("scipy", "numba", "sksparse", "cvxopt")
                                 for entry in sys.path if "extensions" not in entry)
    if found["enabled"]:
        found |= bake(folder)
        bpy.ops.preferences.addon_disable(module=MODULE)
    print("FOUND" + json.dumps(found), flush=True)
    os._exit(0)  # bpy as a module may hang at exit


main()
