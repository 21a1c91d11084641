"""Loads the repository root as the package `conjac`, whatever the clone's folder is called, as Blender would."""

import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

if "conjac" not in sys.modules:
    place = {"location": ROOT / "__init__.py", "submodule_search_locations": [str(ROOT)]}
    spec = importlib.util.spec_from_file_location("conjac", **place)
    package = importlib.util.module_from_spec(spec)
    sys.modules["conjac"] = package
    spec.loader.exec_module(package)
