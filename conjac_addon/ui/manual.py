"""*Online Manual* in the menu of every button and field of ours, and the question mark on top of the panel.

The pages are those of docs/, which `scripts/manual_pages.py` puts into the zip: they open without a network and are of
the version that is installed. In a checkout the Markdown itself is opened.
"""

from __future__ import annotations

from pathlib import Path

import bpy

PAGES = Path(__file__).parents[1] / "manual"  #: in an installed extension
SOURCES = Path(__file__).parents[2]  #: in a checkout: README.md and docs/

#: the first pattern that fits an operator or a setting → its page and heading. All in small letters, as Blender asks
PLACES = (
    ("bpy.ops.conjac.preset_*", "presets"), ("bpy.ops.conjac.quick_*", "jelly"),
    ("bpy.ops.conjac.add_ready*", "examples"), ("bpy.ops.conjac.add_sample*", "examples"),
    ("bpy.ops.conjac.preview_tets*", "large_meshes"), ("bpy.ops.conjac.preview_field*", "materials"),
    ("bpy.ops.conjac.play_live*", "live"), ("bpy.ops.conjac.compare_take*", "subspace"),
    ("bpy.ops.conjac.level_ground*", "ground"), ("bpy.ops.conjac.*_cut*", "cuts"), ("bpy.ops.conjac.*_nail*", "cuts"),
    ("bpy.ops.conjac.*_pull*", "pulls"), ("bpy.ops.conjac.*_weld*", "welds"), ("bpy.ops.conjac.add_ground*", "ground"),
    ("bpy.ops.conjac.*_constraint*", "constraints"),
    ("bpy.ops.conjac.add_rope*", "ropes"), ("bpy.types.conjac_settings.rope*", "ropes"),
    ("bpy.types.conjac_settings.soft_pins", "holding"), ("bpy.types.conjac_settings.pin_*", "holding"),
    ("bpy.types.conjac_settings.follow*", "holding"),
    ("bpy.ops.conjac.add_cloth*", "cloth"), ("bpy.types.conjac_settings.cloth_shape*", "cloth"),
    ("bpy.types.conjac_settings.sharp_*", "cloth"),
    ("bpy.ops.conjac.*collide*", "contact"), ("bpy.ops.conjac.select_crossing*", "contact"),
    ("bpy.ops.conjac.contact_attributes*", "contact"), ("bpy.ops.conjac.add_obstacles*", "contact"),
    ("bpy.types.conjac_contact*", "contact"),
    ("bpy.ops.conjac.*_spring*", "mechanisms"), ("bpy.ops.conjac.*_attachment*", "mechanisms"),
    ("bpy.ops.conjac.jiggle*", "mechanisms"), ("bpy.ops.conjac.ragdoll*", "mechanisms"),
    ("bpy.ops.conjac.*mechanism*", "mechanisms"), ("bpy.ops.conjac.*joints*", "joints"),
    ("bpy.ops.conjac.drive_then_let_go*", "mechanisms"), ("bpy.ops.conjac.copy_to_bones*", "mechanisms"),
    ("bpy.ops.conjac.*", "index#for-artists"),
    ("bpy.types.conjac_cut*", "cuts"), ("bpy.types.conjac_nail*", "cuts"),
    ("bpy.types.conjac_pull*", "pulls"), ("bpy.types.conjac_weld*", "welds"),
    ("bpy.types.conjac_constraint*", "constraints"),
    ("bpy.types.conjac_mechanism*friction", "joints"), ("bpy.types.conjac_part*friction", "joints"),
    ("bpy.types.conjac_part*bearing*", "joints"), ("bpy.types.conjac_mechanism*", "mechanisms"),
    ("bpy.types.conjac_part*", "mechanisms"), ("bpy.types.conjac_spring*", "mechanisms"),
    ("bpy.types.conjac_attachment*", "mechanisms"),
    ("bpy.types.conjac_*.ground_*", "ground"), ("bpy.types.conjac_*.use_ground", "ground"),
    ("bpy.types.conjac_*.friction*", "ground"), ("bpy.types.conjac_*.fiber*", "materials"),
    ("bpy.types.conjac_*.material", "materials"), ("bpy.types.conjac_*.integrator", "integrators"),
    ("bpy.types.conjac_*.adaptive", "adaptivity"), ("bpy.types.conjac_*.liveliness_*", "adaptivity"),
    ("bpy.types.conjac_*.linear_solver", "linear_solvers"), ("bpy.types.conjac_*", "settings"),
)


def prefix() -> str:
    """Return the first part of the address of every page."""
    return f"{(PAGES if PAGES.is_dir() else SOURCES).as_uri()}/"


def page(place: str) -> str:
    """Return the end of a page's address. place: its name and, behind a #, its heading."""
    name, mark, heading = place.partition("#")
    if PAGES.is_dir():
        return f"{name}.html{mark}{heading}"
    return "README.md" if name == "index" else f"docs/{name}.md"


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return Blender's manual map: the prefix, and for each pattern the page."""
    return prefix(), tuple((pattern, page(place)) for pattern, place in PLACES)


def draw_button(layout: bpy.types.UILayout) -> None:
    """Draw the question mark that opens the manual."""
    layout.operator("wm.url_open", text="", icon="QUESTION", emboss=False).url = prefix() + page("jelly")
