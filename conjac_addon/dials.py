"""Settings as artists drag them: in a unit in which one pixel of the mouse is about a hundredth of what they have.

A dial reads and writes the setting of its name, which scripts, files and bakes know in SI. Blender moves a number by
its step for each pixel, and a step is at most 1.0 and at least 0.01 of what the field shows, so the unit has to fit.
Without bpy on purpose, see handles.py: Blender keeps the functions to its very end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..solver.catalogue import Param

PREFIX = "dial_"

#: unit of a parameter → how a field shows it, and how much of the unit one of these is
UNITS = {"Pa": ("kPa", 1.0e3), "N m": ("µN·m", 1.0e-6), "N/m": ("N/m", 1.0), "kg/m³": ("kg/m³", 1.0),
         "kg/m²": ("g/m²", 1.0e-3), "N m²": ("N·cm²", 1.0e-4), "kg/m": ("g/m", 1.0e-3), "N": ("N", 1.0)}

#: class of settings → fields that are no parameters of the catalogue: how each is shown, how much one of these is, and
#: the step: what a button sets is far from the default
BESIDES = {"CONJAC_Weld": {"stiffness": ("MN/m³", 1.0e6, 100.0), "breaks": ("kPa", 1.0e3, 100.0)},
           "CONJAC_Pull": {"stiffness": ("kN/m", 1.0e3, 20.0)},
           "CONJAC_Settings": {"ground_stiffness_per_area": ("MN/m³", 1.0e6, 100.0)}}

#: steps of Blender's fields: the largest one, and the smallest of a number that is not below one
LARGEST, SMALLEST = 100.0, 1.0

#: a share whose slider ends below this is shown in percent
SMALL_SHARE, PERCENT = 0.3, ("%", 0.01)


def unit_of(param: Param) -> tuple[str, float] | None:
    """Return the unit that the dial of a parameter shows, and its factor to the parameter's own; None where it needs no
    dial."""
    if isinstance(param.default, (bool, int)):
        return None
    if not param.unit and param.default and param.soft_high is not None and 0.01 < param.soft_high <= SMALL_SHARE:
        return PERCENT
    return UNITS.get(param.unit)


def words(param: Param, name: str, keywords: dict[str, Any]) -> dict[str, Any] | None:
    """Return keywords of the dial of a FloatProperty with these keywords, or None if it needs none. name: of the
    property that it represents, in the same group."""
    shown = unit_of(param)
    return None if shown is None else beside(name, keywords, shown, param.unit)


def beside(name: str, keywords: dict[str, Any], shown: tuple[str, float], unit: str) -> dict[str, Any]:
    """Return the keywords of the dial of a FloatProperty. shown: its unit and the factor to that of the property."""
    read, write = access(name, shown[1])
    start = typical(keywords) / shown[1]
    made = {key: value / shown[1] for key, value in keywords.items() if key in ("min", "max", "soft_min", "soft_max")}
    description = keywords["description"].removesuffix(f", in {unit}")
    return made | {"name": f"{keywords['name']} ({shown[0]})", "description": f"{description}, in {shown[0]}",
                   "step": LARGEST if start >= 10.0 else max(start, SMALLEST), "precision": 1 if start >= 10.0 else 2,
                   "override": keywords["override"], "get": read, "set": write}


def typical(keywords: dict[str, Any]) -> float:
    """Return about how large the number of a FloatProperty is: its default, or a tenth of where its slider ends."""
    return float(abs(keywords.get("default", 0.0)) or keywords.get("soft_max", keywords.get("max", 1.0)) / 10.0)


def fit_step(keywords: dict[str, Any]) -> None:
    """Let a pixel of the mouse change a number without a unit of Blender's by about a hundredth of it."""
    if "step" not in keywords and "subtype" not in keywords and keywords.get("unit", "NONE") in ("NONE", "MASS"):
        keywords["step"] = min(max(typical(keywords), SMALLEST), LARGEST)


def access(name: str, scale: float) -> tuple[Callable[[Any], float], Callable[[Any, float], None]]:
    """Functions that read and write a setting in a unit of so much."""
    def read(settings: Any) -> float:
        # digits beyond those of single precision would show as 327.00003
        return float(f"{getattr(settings, name) / scale:.7g}")

    def write(settings: Any, value: float) -> None:
        setattr(settings, name, float(f"{value * scale:.7g}"))

    return read, write


def name_in(settings: Any, name: str) -> str:
    """Return the name of the property that a panel shows for a setting: its dial, where it has one."""
    return PREFIX + name if PREFIX + name in settings.bl_rna.properties else name


def on_a_legend(param: Param, low: float, high: float) -> tuple[str, str, str]:
    """Return the text of a legend: a parameter's name with the unit it is shown in, and both ends in that unit."""
    unit, scale = unit_of(param) or (param.unit, 1.0)
    return f"{param.label} ({unit})" if unit else param.label, f"{low / scale:.4g}", f"{high / scale:.4g}"
