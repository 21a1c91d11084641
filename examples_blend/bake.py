"""From .blend to Alembic and a picture: `make bake`.

    python -m examples_blend.bake suzanne
    python -m examples_blend.bake rollers --method conjac

Opens the example in Blender, calls the command line's own handler (as `blender -b … -c conjac bake --format abc`
does), and leaves in out/: the .blend that plays the result, the Alembic file, and a contact sheet of frames.
A second run finds the frames on disk and only renders. With --method its soft bodies are of that one instead, with the
dynamic spots that a bake finds where ConJac has none, and the files are called after both.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
from pathlib import Path

import bpy

from . import addon, contact_sheet
from .build import EXAMPLES, FOLDER

OUT = FOLDER.parent / "out"
GALLERY = FOLDER.parent / "docs" / "gallery"


def called(name: str, method: str | None = None) -> str:
    """Return the file name of an example whose soft bodies have a method of their own, or another one."""
    return f"{name}_{method}" if method else name


def bake(name: str, out: Path = OUT, method: str | None = None) -> int:
    """Bakes a copy of one example inside `out` into Alembic, its soft bodies by another method if one is given.

    Returns the command line's exit code.
    """
    cli = importlib.import_module("conjac.conjac_addon.bake.cli")
    playback = importlib.import_module("conjac.conjac_addon.playback")
    out.mkdir(parents=True, exist_ok=True)
    stem = called(name, method)
    blend = out / f"{stem}.blend"
    shutil.copyfile(FOLDER / f"{name}.blend", blend)
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.preferences.filepaths.save_version = 0
    for one in bpy.context.scene.objects if method else ():
        if one.type == "MESH" and one.conjac.kind == "soft_body":
            one.conjac.method, one.conjac.suggest_spots = method, True
    code: int = cli.run(["bake", "--format", "abc", "--save"])
    if code == 0:
        bodies = [one for one in bpy.context.scene.objects if one.type == "MESH" and playback.plays(one)]
        for body in bodies:
            made = bpy.path.abspath(playback.find(playback.find_cut(body) or body).cache_file.filepath)
            shutil.copyfile(made, out / (f"{stem}.abc" if len(bodies) == 1 else f"{stem} {body.name}.abc"))
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=EXAMPLES)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--method", choices=("conjac", "vanilla"), help="of its soft bodies, instead of their own")
    parser.add_argument("--samples", type=int, default=16, help="rays a pixel")
    parser.add_argument("--gallery", action="store_true", help="write the picture into docs/gallery too")
    chosen = parser.parse_args()
    extension = addon.load()
    extension.register()
    try:
        code = bake(chosen.name, chosen.out.resolve(), chosen.method)
        if code == 0:
            stem = called(chosen.name, chosen.method)
            picture = chosen.out.resolve() / f"{stem}.png"
            frames = importlib.import_module(f".{chosen.name}", __package__).SHEET
            contact_sheet.render(bpy.context.scene, list(frames), picture, samples=chosen.samples)
            if chosen.gallery:
                contact_sheet.fewer_colours(picture, GALLERY / picture.name)
            print(f"made {picture}, {stem}.blend and the Alembic beside it", flush=True)
    finally:
        extension.unregister()
    return code


if __name__ == "__main__":
    sys.exit(main())
