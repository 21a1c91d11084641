"""The extension, loaded from a folder into a Python that has bpy, as the package `conjac`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def load(root: Path = ROOT) -> ModuleType:
    """Return the extension's root package; `load().register()` enables it. root: its folder, of any name."""
    if "conjac" not in sys.modules:
        spec = importlib.util.spec_from_file_location("conjac", root / "__init__.py",
                                                      submodule_search_locations=[str(root)])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["conjac"] = module
        spec.loader.exec_module(module)
    return sys.modules["conjac"]
