"""ConJac's asset library: a folder of the extension, which Blender's preferences list while *Asset Library* is on.

scripts/asset_library.py writes it. Nothing is listed that nobody asked for, and nothing stays when ConJac is switched
off.
"""

from __future__ import annotations

from pathlib import Path

import bpy

NAME = "ConJac"  #: as the Asset Browser calls it
FOLDER = Path(__file__).resolve().parent / "assets"


def entry() -> bpy.types.UserAssetLibrary | None:
    """Return the library's entry in Blender's preferences, None where there is none."""
    return next((library for library in bpy.context.preferences.filepaths.asset_libraries
                 if library.path and Path(library.path) == FOLDER), None)


def list_it(wanted: bool) -> None:
    """Add the library to Blender's preferences, or remove it from them."""
    found, libraries = entry(), bpy.context.preferences.filepaths.asset_libraries
    if wanted and found is None:
        # what is dropped is simulated, so each drop has a mesh of its own
        libraries.new(name=NAME, directory=str(FOLDER)).import_method = "APPEND"
    elif not wanted and found is not None:
        libraries.remove(found)
