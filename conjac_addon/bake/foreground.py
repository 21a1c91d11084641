"""Bakes that a script, a command line or a button without a window begins: one call from its start to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...solver.errors import EXIT_STOPPED, ConJacError
from .session import TICK, Bake


def bake(obj: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int] | None = None, key: str | None = None,
         report: Callable[[str], None] = lambda text: None,
         listen: Callable[[dict[str, Any]], None] = lambda message: None, replaces: bool = True,
         solves_all: bool = False) -> int:
    """Bake in the foreground. Returns the exit code; `report` is told how it goes on and, last, what went wrong.

    replaces, solves_all: as of `Bake`.
    listen: told the same as messages, the last of which is {"event": "baked", "code", "error", "text"}.
    """
    try:
        one = Bake(obj, scene, frames, key, replaces, solves_all=solves_all)
    except ConJacError as error:
        report(str(error))
        listen({"event": "baked", "code": error.exit_code, "error": error.code, "text": str(error)})
        return error.exit_code
    code = one.wait(report, listen)
    text = one.progress.error or f"{one.name}: {one.progress.text}"
    report(text)
    listen({"event": "baked", "code": code, "error": one.progress.error_code, "text": text})
    return code


class BakeFailed(RuntimeError):
    """A bake that did not end well: its sentence, its exit code as `bake` returns it, and the error's stable code."""

    def __init__(self, text: str, exit_code: int, code: str) -> None:
        super().__init__(text)
        self.exit_code, self.code = exit_code, code


def bake_or_raise(obj: bpy.types.Object, solves_all: bool = False) -> None:
    """Bake the object in the present scene to its end. Raises BakeFailed where frames are missing afterwards."""
    told: list[dict[str, Any]] = []
    code = bake(obj, bpy.context.scene, report=print, listen=told.append, solves_all=solves_all)
    if code:
        raise BakeFailed(told[-1]["text"], code, told[-1]["error"] or "")


def bake_object(obj: bpy.types.Object, wait: bool = True, report: Callable[[str], None] = print,
                solves_all: bool = False) -> int:
    """Bake the object as the Bake button does, in the present scene. Returns the exit code.

    What has not changed since an earlier bake, and is far from what has, keeps its frames unless it `solves_all`.
    wait=False: in a window, return EXIT_STOPPED at once and bake on behind it. Without a window there is nothing
    that could carry the bake on, so it is waited for. Raises ConJacError where it cannot begin.
    """
    scene = bpy.context.scene
    if wait or bpy.app.background:
        return bake(obj, scene, report=report, solves_all=solves_all)
    one = Bake(obj, scene, solves_all=solves_all)
    one.report_to(report)

    def look() -> float | None:
        if one.tick():
            return TICK
        report(one.progress.error or f"{one.name}: {one.progress.text}")
        return None

    bpy.app.timers.register(look)
    return EXIT_STOPPED
