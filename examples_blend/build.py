"""Builds the example .blend files from Blender's primitives: `make examples`.

    python -m examples_blend.build suzanne bar

Nothing in them is random, so a rebuild gives the same meshes, weights, animation and settings. The files themselves
are not the same bytes: Blender writes memory addresses and its own version into them.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

import bpy

from . import addon

FOLDER = Path(__file__).resolve().parent
EXAMPLES = ("suzanne", "bar", "twist", "aniso", "hetero", "barcut", "drop", "ragdoll", "chain", "links", "muscle",
            "muscle2d", "klann", "bowl", "wrung", "edge", "rollers", "key", "stack", "ducks", "belly", "rabbit",
            "tumble", "wire", "nails", "jaws", "push", "throw", "friction", "tablecloth", "lo_res", "cloak",
            "towel", "slices", "necklace", "crane", "puppet", "hammock", "shirt", "bridge", "tree")


def build(name: str, folder: Path = FOLDER) -> Path:
    """Builds one example into `folder`, from an empty file. The extension must be registered."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    importlib.import_module(f".{name}", __package__).build(bpy.context.scene)
    path = folder / f"{name}.blend"
    bpy.context.preferences.filepaths.save_version = 0  # no .blend1 beside it
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="+", choices=EXAMPLES)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    extension = addon.load()
    extension.register()
    for name in chosen.names:
        print(f"built {build(name, chosen.folder)}")
    extension.unregister()


if __name__ == "__main__":
    main()
