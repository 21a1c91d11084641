"""Register the command `blender -b FILE.blend -c conjac ...` with Blender; cli.py carries it out."""

from __future__ import annotations

from typing import Any

import bpy

from . import cli

NAME = "conjac"

_handle: Any = None


def _run(argv: list[str]) -> int:
    return cli.run(argv)


def register() -> None:
    global _handle
    _handle = bpy.utils.register_cli_command(NAME, _run)  # type: ignore[func-returns-value]


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.utils.unregister_cli_command(_handle)
        _handle = None
