"""DRAGON after its release, Vanilla above ConJac at the same h, each with the β it needs; and their kinetic energies.

    python -m benchmarks.scenes.dragon_picture --keep FOLDER    into docs/gallery (some minutes)

FOLDER keeps the motions, so that a second call only renders.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.conjac_scenes import CORRECTED, NODES, H
from benchmarks.scenes import dragon
from benchmarks.scenes.motion import energies, rest_energy

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
#: rows of the picture: method, dynamic nodes, parameters with the smallest stable β of docs/benchmarks.md, colour
METHODS = {"Vanilla, β = 1": ("vanilla", 0, {"beta": 1.0}, (0.55, 0.17, 0.10)),
           "ConJac, β = 0.5": ("conjac", NODES, {"beta": 0.5, **CORRECTED}, (0.12, 0.36, 0.19))}
MOMENTS = (0.0, 0.03, 0.06, 0.1, 0.14, 0.2)  #: seconds after the release
TILE, LENS = (300, 250), 75.0


def motion(method: str, count: int, params: dict[str, float], store: Path) -> tuple[np.ndarray, np.ndarray]:
    """Positions at MOMENTS, (k, n, 3) [m], and kinetic energy after each step of a second [J]."""
    if not store.exists():
        one = dragon.scene()
        world, rest = one.world(method, count, **params), rest_energy(one)
        state = one.start(world)
        seen, kinetic = [], []
        for i in range(round(one.seconds / H) + 1):
            kinetic.append(energies(world, state, rest)[0])
            if any(abs(i * H - moment) < 0.5 * H for moment in MOMENTS):
                seen.append(world.coordinates.positions(state.q, state.time))
            state = replace(world.step(state, H), time=(i + 1) * H)
        store.parent.mkdir(parents=True, exist_ok=True)
        np.savez(store, seen=np.array(seen), kinetic=np.array(kinetic))
    with np.load(store) as stored:
        return stored["seen"], stored["kinetic"]


def render(seen: dict[str, np.ndarray], path: Path, samples: int) -> None:
    """Each method a row of moments, in Blender's own renderer."""
    import bpy
    from mathutils import Vector

    from examples_blend import contact_sheet, stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    stage.prepare(scene, 2, *TILE)
    scene.render.use_stamp = False
    rest = meshes.tetrahedra("dragon")[0]
    low, middle = rest.min(axis=0), Vector(rest.mean(axis=0))
    body = stage.mesh_object(scene, "Dragon", rest.tolist(), meshes.skin("dragon").tolist())
    body.data.polygons.foreach_set("use_smooth", [True] * len(body.data.polygons))
    skin = stage.surface("Skin", (0.5, 0.5, 0.5), 0.35, 0.004)
    body.data.materials.append(skin)
    stage.backdrop(scene, 0.16, float(low[2]), (0.16, 0.17, 0.19))
    target = middle + Vector((0.0, 0.0, 0.012))
    stage.light(scene, "Key", target + Vector((-0.25, -0.35, 0.35)), target, 4.0, 0.2, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", target + Vector((0.30, 0.25, 0.22)), target, 3.0, 0.14, (0.80, 0.90, 1.0))
    stage.camera(scene, target + Vector((-0.10, -0.48, 0.10)), target, LENS)
    tiles = []
    with tempfile.TemporaryDirectory(prefix="conjac-dragon-") as folder:
        scene.render.image_settings.file_format = "PNG"
        scene.render.image_settings.color_mode = "RGB"
        scene.cycles.samples = samples
        for name, moments in seen.items():
            skin.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*METHODS[name][3], 1.0)
            for k, x in enumerate(moments):
                body.data.vertices.foreach_set("co", x.astype(np.float32).ravel())
                body.data.update()
                scene.render.filepath = str(Path(folder) / f"{len(tiles)}.png")
                with contact_sheet.silence():
                    bpy.ops.render.render(write_still=True)
                tiles.append(contact_sheet.pixels(Path(scene.render.filepath)))
                print(f"{name}: {1e3 * MOMENTS[k]:.0f} ms", file=sys.stderr, flush=True)
        whole = Path(folder) / "whole.png"
        contact_sheet.save(contact_sheet.sheet(tiles, len(MOMENTS)), whole)
        contact_sheet.fewer_colours(whole, path)


def draw(kinetic: dict[str, np.ndarray], path: Path) -> None:
    """Kinetic energy against time."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 2.6), layout="constrained")
    for name, of in kinetic.items():
        axes.plot(H * np.arange(len(of)), 1e3 * of, color=METHODS[name][3], label=name, linewidth=1.2)
    axes.set(xlabel="seconds after the release", ylabel="kinetic energy, mJ", yscale="log", xlim=(0.0, 1.0),
             ylim=(1e-4, 20.0))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=100)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", type=Path, required=True, help="folder for the motions")
    parser.add_argument("--samples", type=int, default=48, help="rays a pixel")
    chosen = parser.parse_args()
    threads.configure(None)
    runs = {name: motion(method, count, params, chosen.keep / f"{method}.npz")
            for name, (method, count, params, _) in METHODS.items()}
    draw({name: kinetic for name, (_, kinetic) in runs.items()}, GALLERY / "dragon_energy.png")
    render({name: seen for name, (seen, _) in runs.items()}, GALLERY / "dragon.png", chosen.samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
