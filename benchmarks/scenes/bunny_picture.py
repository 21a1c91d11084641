"""BUNNY of the dissertation's chapter 5 in Blender: it falls on its feet, and its ears fold onto head and back.

    python -m benchmarks.scenes.bunny_picture --keep FOLDER --gallery

The mesh is that of the Stanford 3D Scanning Repository, which is not ours to ship, so there is no .blend: this builds
one in FOLDER, bakes it through the command line's own handler as an artist does, and renders it. SNH, E = 5e4 Pa, and
as in Table 5.2, 1.2 kg (there 2.25), and ears of EARS Pa, which fold; ν = 0.45 and steps are a new soft body's, 1/48 s.
A second call finds the frames on disk and only renders.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from math import radians
from pathlib import Path

import bpy
import numpy as np

from benchmarks import meshes
from examples_blend import addon, bake, contact_sheet, jelly, stage

END = 72
SHEET = (1, 6, 7, 9, 11, 14, 20, 72)  #: frames of the picture
SCALE = 1.5  #: of the mesh, which is 12 cm tall: 1.2 kg
MODULUS, EARS, DAMPING = 5.0e4, 1.2e4, 2.0e-3  #: [Pa], and of stiffness [s]
EDGE, THICK = 0.012, 0.0008  #: of tetrahedra, and how far their skin is kept from others [m]
TURN, HEIGHT = (12.0, -14.0, 35.0), 0.24  #: how it is held [degrees] and how high its middle is [m]


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 460, 400, ambient=0.25)
    body = bunny(scene)
    body.location, body.rotation_euler = (0.0, 0.0, HEIGHT), tuple(radians(angle) for angle in TURN)
    jelly.soft(body, "tetwild", EDGE, EARS, itself=True, friction=0.5, damping=DAMPING)
    body.conjac.youngs_modulus_high, body.conjac.poisson_ratio = MODULUS, 0.45
    body.conjac.contact.thickness = THICK
    floor = stage.mesh_object(scene, "Floor", [(x, y, 0.0) for x, y in ((-2, -2), (2, -2), (2, 2), (-2, 2))],
                              [(0, 1, 2, 3)])
    floor.data.materials.append(stage.surface("Slate", (0.16, 0.17, 0.19), 0.7))
    jelly.collider(floor)
    stage.backdrop(scene, 0.6, -0.001, (0.16, 0.17, 0.19))
    stage.light(scene, "Key", (-0.5, -0.7, 0.7), (0.0, 0.0, 0.08), 16.0, 0.25, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (0.6, 0.4, 0.5), (0.0, 0.0, 0.08), 12.0, 0.25, (0.80, 0.90, 1.0))
    stage.camera(scene, (0.15, -0.80, 0.26), (0.0, 0.0, 0.135), 52.0)


def bunny(scene: bpy.types.Scene) -> bpy.types.Object:
    """The mesh about its middle, its ears painted soft. Raises MissingMesh."""
    rows = [line.split() for line in meshes.find("surfaces/bunny.obj").read_text(encoding="utf-8").splitlines()]
    vertices = SCALE * np.array([row[1:] for row in rows if row[:1] == ["v"]], dtype=float)
    faces = [tuple(int(corner.split("/")[0]) - 1 for corner in row[1:]) for row in rows if row[:1] == ["f"]]
    made = stage.mesh_object(scene, "Bunny", (vertices - [0.0, 0.0, 0.09]).tolist(), faces)
    made.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    made.data.materials.append(stage.surface("Rubber", (0.62, 0.30, 0.08), 0.4, subsurface=0.004))
    ears = np.clip((vertices[:, 2] - 0.118) / 0.02, 0.0, 1.0) * (vertices[:, 1] > -0.045)
    stage.paint(made, "Stiffness", (1.0 - ears).tolist())
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=16, help="rays a pixel")
    parser.add_argument("--last", type=int, default=END, help="frame to bake to")
    parser.add_argument("--gallery", action="store_true", help="write the picture into docs/gallery too")
    chosen = parser.parse_args()
    folder = chosen.keep.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    extension = addon.load()
    extension.register()
    try:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        build(bpy.context.scene)
        bpy.context.scene.frame_end = chosen.last
        bpy.context.preferences.filepaths.save_version = 0
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "bunny.blend"), compress=True)
        code: int = importlib.import_module("conjac.conjac_addon.bake.cli").run(["bake", "--save"])
        if code == 0:
            picture = folder / "bunny_lands.png"
            contact_sheet.render(bpy.context.scene, [one for one in SHEET if one <= chosen.last], picture,
                                 samples=chosen.samples)
            if chosen.gallery:
                contact_sheet.fewer_colours(picture, bake.GALLERY / picture.name)
    finally:
        extension.unregister()
    return code


if __name__ == "__main__":
    sys.exit(main())
