"""Write conjac_addon/assets, the asset library of the extension: `make assets`.

    python -m scripts.asset_library

The operator of *Add > ConJac* makes each asset in an empty file, and Cycles renders its preview. A rebuild gives the
same objects and settings but not the same bytes, since Blender writes memory addresses. The oldest Blender that runs
ConJac saves the file, because 4.2.0 crashes when it reads keyframes of 4.5.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from examples_blend import addon  # noqa: E402
from scripts.test_blender import environment  # noqa: E402

FOLDER = ROOT / "conjac_addon" / "assets"
OLDEST = "4.2.0"  #: version of Blender that saves the file
BLEND, CATALOGS = "ConJac.blend", "blender_assets.cats.txt"

#: catalogs of the Asset Browser: what of ConJac is in each → its path there
PATHS = {"scenes": "ConJac/Examples", "soft_body": "ConJac/Soft Body", "cloth": "ConJac/Cloth", "rope": "ConJac/Rope",
         "materials": "ConJac/Materials"}

PIXELS, SAMPLES = 128, 8  #: of a picture
VIEW = Vector((0.55, -1.0, 0.45)).normalized()  #: from the middle of what is shown to the camera
LAMP = Vector((0.2, -0.6, 1.0))  #: from there to the sun

Block = bpy.types.Collection | bpy.types.Object | bpy.types.Material


def catalog_id(kind: str) -> str:
    """Return the UUID of a catalog, which is the same in every build."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"conjac/assets/{kind}"))


def catalogs() -> str:
    """Return the text of the file that names the catalogs."""
    lines = [f"{catalog_id(kind)}:{path}:{path.replace('/', '-')}" for kind, path in PATHS.items()]
    return "\n".join(["# Written by scripts/asset_library.py", "", "VERSION 1", "", *lines, ""])


def build(folder: Path, pictures: bool = True) -> list[Block]:
    """Write the library into a folder and return its assets, which are then in the open Blender file.

    The extension must be registered. pictures: whether each asset gets a preview picture.
    """
    from conjac.conjac_addon import menus, upgrade

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, found = bpy.context.scene, []
    take = _studio(scene) if pictures else _no_picture
    for key, (label, tooltip) in menus.READY.items():
        collection = bpy.data.collections.new(label)
        scene.collection.children.link(collection)
        view = bpy.context.view_layer
        view.active_layer_collection = view.layer_collection.children[label]
        bpy.ops.conjac.add_ready(scene=key)
        found.append(_mark(collection, "scenes", tooltip, take(collection.objects)))
        scene.collection.children.unlink(collection)
    for preset, _, tooltip in menus.samples():
        bpy.ops.conjac.add_sample(preset=preset)
        sample = bpy.context.object
        picture = take([sample])
        found.append(_mark(sample, preset.partition("/")[0], tooltip, picture))
        material = sample.data.materials[0]
        if material.asset_data is None:  # one that two kinds share
            found.append(_mark(material, "materials", f"The look of the preset {preset.partition('/')[2]}".replace(
                "_", " "), picture))
        scene.collection.objects.unlink(sample)
    upgrade.upgrade_all()
    folder.mkdir(parents=True, exist_ok=True)
    bpy.data.libraries.write(str(folder / BLEND), set(found), fake_user=True, compress=True)
    (folder / CATALOGS).write_text(catalogs(), encoding="utf-8")
    return found


def _mark(block: Block, kind: str, tooltip: str, picture: np.ndarray | None) -> Block:
    """Make a data-block an asset of a catalog and return it. picture: RGBA values of its preview of PIXELS² pixels."""
    block.asset_mark()
    block.asset_data.catalog_id = catalog_id(kind)
    block.asset_data.description = tooltip
    block.asset_data.author, block.asset_data.license = "ConJac developers", "GPL-3.0-or-later"
    if picture is not None:
        preview = block.preview_ensure()
        preview.image_size = PIXELS, PIXELS
        preview.image_pixels_float.foreach_set(picture)
    return block


def _no_picture(_objects: Iterable[bpy.types.Object]) -> None:
    """Return no picture."""


def _studio(scene: bpy.types.Scene) -> Callable[[Iterable[bpy.types.Object]], np.ndarray]:
    """Return a function that renders objects with a camera, a sun and a pale sky, and returns the pixels."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type = "ORTHO"
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 3.0
    sun.rotation_euler = LAMP.to_track_quat("Z", "Y").to_euler()
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.6, 0.6, 0.6)
    for item in (camera, sun):
        scene.collection.objects.link(item)
    scene.camera, render = camera, scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", SAMPLES, False
    render.resolution_x = render.resolution_y = PIXELS
    render.resolution_percentage, render.film_transparent = 100, True
    render.image_settings.file_format = "PNG"

    def take(objects: Iterable[bpy.types.Object]) -> np.ndarray:
        corners = [item.matrix_world @ Vector(corner) for item in objects if item.type == "MESH"
                   for corner in item.evaluated_get(bpy.context.evaluated_depsgraph_get()).bound_box]
        low, high = (Vector(map(pick, zip(*corners))) for pick in (min, max))
        size = (high - low).length
        camera.location = 0.5 * (low + high) + 3.0 * size * VIEW
        camera.rotation_euler = VIEW.to_track_quat("Z", "Y").to_euler()
        camera.data.ortho_scale, camera.data.clip_end = 1.05 * size, 10.0 * size
        with tempfile.TemporaryDirectory() as folder:
            render.filepath = str(Path(folder, "picture.png"))
            bpy.ops.render.render(write_still=True)
            image = bpy.data.images.load(render.filepath)
            pixels = np.empty(4 * PIXELS * PIXELS, np.float32)
            image.pixels.foreach_get(pixels)
            bpy.data.images.remove(image)
        return pixels

    return take


def main() -> int:
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    if bpy.app.version_string.split()[0] != OLDEST:
        blender = environment(OLDEST, ROOT / "build" / f"blender-{OLDEST}")
        return subprocess.run([blender, "-m", "scripts.asset_library"], cwd=ROOT).returncode
    extension = addon.load()
    extension.register()
    found = build(FOLDER)
    extension.unregister()
    print(f"wrote {len(found)} assets, {(FOLDER / BLEND).stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
