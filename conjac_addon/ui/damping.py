"""A small picture of which wobbles the chosen integrator lets live, at the chosen step.

Bars over frequency: how much of a wobble is left after a second. The curves come from `scripts/damping_curves.py`.
Pictures are made by a timer, once for each setting that was shown; drawing a panel only looks them up.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import bpy.utils.previews

from ...solver import catalogue
from ..redraw import redraw_panels
from ..settings import property_name
from ..text import paragraph
from ..timeline import whole_steps

WIDTH, HEIGHT = 128, 96  #: pixels; Blender gives it a square
LOWEST, HIGHEST = 0.25, 64.0  #: Hz, at the left and right edge
MARKS = (1.0, 4.0, 16.0)  #: Hz, lines in the picture and numbers below it
INK, GROUND, LINE = (0.36, 0.62, 0.92, 1.0), (0.11, 0.11, 0.11, 1.0), (0.32, 0.32, 0.32, 1.0)
MOST = 32  #: pictures that are kept; the one shown longest ago goes first

Key = tuple[str, float, float]  #: integrator, its knob, step [s]

_table: dict[str, Any] | None = None  #: None until a panel needs it
_numbers: dict[Key, str] = {}  #: numbers below each cached picture, the latest last
_pictures: Any = None
_wanted: list[Key] = []


def draw(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, scene: bpy.types.Scene) -> None:
    """Draw the damping curve and its numbers; nothing for an integrator without wobbles."""
    if _table is None:
        _ask()
        return
    if settings.solver.integrator not in _table["integrators"]:
        return
    key = _key(_table, settings, scene)
    if key in _numbers:
        _numbers[key] = _numbers.pop(key)
    else:
        _ask(key)
        if not _numbers:
            return
        key = next(reversed(_numbers))  # for the moment until the timer, so that the panel does not jump
    if _pictures is not None and str(key) in _pictures:
        layout.template_icon(icon_value=int(_pictures[str(key)].icon_id), scale=5.0)
    column = layout.column(align=True)
    column.active = False
    paragraph(column, caption(settings))
    column.label(text=_numbers[key])


def caption(settings: bpy.types.PropertyGroup) -> str:
    """Return the caption of the picture: not of the modes that an additive method keeps, nor with the material's own
    damping."""
    integrator = catalogue.find("integrator", settings.solver.integrator)
    law = catalogue.find("damping", settings.damping)
    modes = 0
    if catalogue.MODES in integrator.params:
        modes = getattr(settings.solver, property_name(integrator, catalogue.MODES))
    modal, of = "", "a wobble"
    if modes:
        modal = f"The slowest {modes} wobbles keep their swing. " if modes > 1 else "The slowest one keeps its swing. "
        of = "the others"
    damped = settings.wobble_half_life or any(getattr(settings, property_name(law, param)) for param in law.params)
    return f"{modal}Left of {of} after 1 s{', before material damping' if damped else ''}:"


def load_table() -> dict[str, Any]:
    """Return the damping of every integrator, which is read once."""
    global _table
    if _table is None:
        _table = json.loads(Path(__file__).with_name("damping.json").read_text(encoding="utf-8"))
    return _table


def left_after_a_second(integrator: str, knob: float, step: float, hertz: Sequence[float]) -> tuple[float, ...]:
    """Share of the amplitude of wobbles that the integrator leaves after a second, of frequencies [Hz]."""
    table = load_table()
    known = table["integrators"][integrator]
    curve = known["curves"][0]
    if known["knob"]:
        curve = [_between(knob, known["at"], values) for values in zip(*known["curves"])]
    omegas = [2.0 * math.pi * value for value in hertz]
    places = [math.log(value) for value in table["omega_h"]]
    rates = [omega * max(_between(math.log(omega * step), places, curve), 0.0) for omega in omegas]
    return tuple(math.exp(-0.5 * rate) for rate in rates)


def _between(at: float, places: Sequence[float], values: Sequence[float]) -> float:
    """Linear interpolation; the end values beyond the ends."""
    i = bisect_right(places, at)
    if i in (0, len(places)):
        return values[0 if i == 0 else -1]
    share = (at - places[i - 1]) / (places[i] - places[i - 1])
    return values[i - 1] + share * (values[i] - values[i - 1])


def _key(table: dict[str, Any], settings: bpy.types.PropertyGroup, scene: bpy.types.Scene) -> Key:
    """Return the key of the picture: all that it depends on."""
    solver = settings.solver
    name = table["integrators"][solver.integrator]["knob"]
    knob = 0.0
    # a knob of the integrator or, for the semi-implicit one, of the method
    for family in ("integrator", "method"):
        entry = catalogue.find(family, getattr(solver, family))
        for param in entry.params:
            if param.key == name:
                knob = float(getattr(solver, property_name(entry, param)))
    fps = scene.render.fps / scene.render.fps_base
    step = whole_steps(solver.step, fps)
    used = 1.0 / fps / max(1, math.ceil(1.0 / (fps * step) - 1e-9))
    return solver.integrator, round(knob, 4), round(used, 7)


def _ask(key: Key | None = None) -> None:
    """Let a timer read the table and make a picture. A background Blender has no panels to draw."""
    if key is not None and key not in _wanted:
        _wanted.append(key)
    if not bpy.app.background and not bpy.app.timers.is_registered(make_wanted):
        bpy.app.timers.register(make_wanted, first_interval=0.01)


def make_wanted() -> None:
    """Render the requested pictures, and redraw their panels."""
    global _pictures
    load_table()
    if _pictures is None:
        _pictures = bpy.utils.previews.new()
    while _wanted:
        key = _wanted.pop(0)
        if key in _numbers:
            continue
        picture = _pictures.new(str(key))
        picture.image_size = (WIDTH, HEIGHT)
        picture.image_pixels_float = pixels(key).ravel()
        shares = left_after_a_second(*key, MARKS)
        _numbers[key] = ",  ".join(f"{hertz:g} Hz {100 * share:.0f} %" for hertz, share in zip(MARKS, shares))
        if len(_numbers) > MOST:
            oldest = next(iter(_numbers))
            del _numbers[oldest], _pictures[str(oldest)]
    redraw_panels()


def pixels(key: Key) -> Any:
    """Return the picture, (HEIGHT, WIDTH, 4) float32, from below."""
    import numpy as np

    low, high = math.log(LOWEST), math.log(HIGHEST)
    hertz = tuple(math.exp(low + (high - low) * column / (WIDTH - 1)) for column in range(WIDTH))
    tops = np.rint(np.array(left_after_a_second(*key, hertz)) * (HEIGHT - 1))
    picture = np.empty((HEIGHT, WIDTH, 4), dtype=np.float32)
    picture[:] = GROUND
    picture[np.arange(HEIGHT)[:, None] <= tops] = INK
    picture[:, [round((math.log(mark) - low) / (high - low) * (WIDTH - 1)) for mark in MARKS]] = LINE
    return picture


def unregister() -> None:
    """Drop the pictures and the timer."""
    global _pictures
    if bpy.app.timers.is_registered(make_wanted):
        bpy.app.timers.unregister(make_wanted)
    _wanted.clear()
    _numbers.clear()
    if _pictures is not None:
        bpy.utils.previews.remove(_pictures)
        _pictures = None
