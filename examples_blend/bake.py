"""From .blend to Alembic and a picture: `make bake`.

    python -m examples_blend.bake suzanne

Opens the example in Blender, calls the command line's own handler (as `blender -b … -c conjac bake --format abc`
does), and leaves in out/: the .blend that plays the result, the Alembic file, and a contact sheet of frames.
A second run finds the frames on disk and only renders.
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


def bake(name: str, out: Path = OUT) -> int:
    """Bakes a copy of one example inside `out` into Alembic. Returns the command line's exit code."""
    cli = importlib.import_module("conjac.conjac_addon.bake.cli")
    playback = importlib.import_module("conjac.conjac_addon.playback")
    out.mkdir(parents=True, exist_ok=True)
    blend = out / f"{name}.blend"
    shutil.copyfile(FOLDER / f"{name}.blend", blend)
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.preferences.filepaths.save_version = 0
    code: int = cli.run(["bake", "--format", "abc", "--save"])
    if code == 0:
        bodies = [one for one in bpy.context.scene.objects if one.type == "MESH" and playback.plays(one)]
        for body in bodies:
            made = bpy.path.abspath(playback.find(playback.find_cut(body) or body).cache_file.filepath)
            shutil.copyfile(made, out / (f"{name}.abc" if len(bodies) == 1 else f"{name} {body.name}.abc"))
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=EXAMPLES)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--samples", type=int, default=16, help="rays a pixel")
    parser.add_argument("--gallery", action="store_true", help="write the picture into docs/gallery too")
    chosen = parser.parse_args()
    extension = addon.load()
    extension.register()
    try:
        code = bake(chosen.name, chosen.out.resolve())
        if code == 0:
            picture = chosen.out.resolve() / f"{chosen.name}.png"
            frames = importlib.import_module(f".{chosen.name}", __package__).SHEET
            contact_sheet.render(bpy.context.scene, list(frames), picture, samples=chosen.samples)
            if chosen.gallery:
                contact_sheet.fewer_colours(picture, GALLERY / picture.name)
            print(f"made {picture}, {chosen.name}.blend and the Alembic beside it", flush=True)
    finally:
        extension.unregister()
    return code


if __name__ == "__main__":
    sys.exit(main())
