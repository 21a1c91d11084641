"""The extension, loaded from this checkout into a Python that has bpy, as the package `conjac`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def load() -> ModuleType:
    """The extension's root package; `load().register()` enables it. The clone's folder may have any name."""
    if "conjac" not in sys.modules:
        spec = importlib.util.spec_from_file_location("conjac", ROOT / "__init__.py",
                                                      submodule_search_locations=[str(ROOT)])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["conjac"] = module
        spec.loader.exec_module(module)
    return sys.modules["conjac"]
