"""Sentences in panels and dialogs, in as many lines as their width makes of them."""

import functools
import textwrap

import blf
import bpy

from . import by_button, dials

#: letters in a line where there is no region to measure, about those of a sidebar as wide as Blender opens it
LINE = 34

#: Blender's unit of width, of a button's height, at a scale of one [pixels]
UNIT = 20.0

#: units beside the text of a label: margins of panel and label with a sidebar's tabs or an editor's scroll bar; an icon
MARGINS, ICON = 3.2, 1.1

MARK = 1.0  #: units of the mark behind a value that a button chose

#: share of a panel's width that Blender gives to names in two columns, without the gap between these
LEFT = 0.36


def hint(layout: bpy.types.UILayout, text: str) -> None:
    """A remark in grey."""
    column = layout.column(align=True)
    column.active = False
    paragraph(column, text, "INFO")


def paragraph(layout: bpy.types.UILayout, text: str, icon: str = "NONE") -> None:
    """A sentence in as many lines as it needs: Blender's labels do not wrap, they are cut."""
    column = layout.column(align=True)
    for number, line in enumerate(lines(text, bpy.context.region, icon != "NONE")):
        column.label(text=line, icon=icon if number == 0 or icon == "NONE" else "BLANK1")  # type: ignore[arg-type]


def one_line(text: str, region: bpy.types.Region | None, beside: float = 0.0, fraction: float = 1.0) -> str:
    """Return a sentence, cut to one line with an ellipsis. fraction: of the panel's width that the line has. beside:
    width of the rest of the line, in units."""
    if region is None or region.type not in {"UI", "WINDOW"}:
        found = tuple(textwrap.wrap(text, LINE - 1))
    else:
        unit = UNIT * bpy.context.preferences.system.ui_scale
        found = fitted(text, round(fraction * (_width(region) - MARGINS * unit) - beside * unit), _points())
    return f"{found[0].rstrip('.,:;')}…" if found[1:] else text


def dialog(layout: bpy.types.UILayout, text: str, width: int) -> None:
    """A sentence in a dialog that is `width` wide, as Blender counts: pixels at a scale of one."""
    scale = bpy.context.preferences.system.ui_scale
    column = layout.column(align=True)
    for line in fitted(text, round((width - UNIT) * scale), _points()):
        column.label(text=line)


def setting(layout: bpy.types.UILayout, data: bpy.types.bpy_struct, name: str) -> None:
    """A property in two columns, or in one with its name inside where the left one would cut that; its dial where it
    has one, and a mark behind it while its value is one that a button chose."""
    label = path = ""
    if isinstance(data, bpy.types.PropertyGroup) and (label := by_button.label_of(data, name)):
        path = by_button.path_of(data, name)
    name = dials.name_in(data, name)
    prop = data.bl_rna.properties[name]
    # names of checkboxes are in the right column
    in_one = prop.type != "BOOLEAN" and is_cut(prop.name, bpy.context.region, MARK if label else 0.0)
    row = layout.row(align=True) if label else layout
    if in_one:
        row.use_property_split = False
    row.prop(data, name)
    if label:
        mark = row.operator("conjac.make_own", text="", icon="EVENT_A", emboss=False)
        mark.path, mark.button = path, label
    if in_one:
        row.use_property_split = True


def is_cut(name: str, region: bpy.types.Region | None, beside: float = 0.0) -> bool:
    """Whether the name of a property is too long for the left one of two columns in a region. beside: width of the rest
    of that line, in units."""
    if region is None or region.type not in {"UI", "WINDOW"}:
        return False
    room = _width(region) - (MARGINS + beside) * UNIT * bpy.context.preferences.system.ui_scale
    return _length(name, _points()) > LEFT * room


def _width(region: bpy.types.Region) -> float:
    """Return the width of a region's view, in pixels as if it were not zoomed."""
    view = region.view2d
    return view.region_to_view(region.width, 0)[0] - view.region_to_view(0, 0)[0]


def lines(text: str, region: bpy.types.Region | None, has_icon: bool = False) -> tuple[str, ...]:
    """Return a sentence as the lines that fit into a region; without one, lines of `LINE` letters."""
    if region is None or region.type not in {"UI", "WINDOW"}:
        return tuple(textwrap.wrap(text, LINE))
    scale = bpy.context.preferences.system.ui_scale
    # a panel may be zoomed: its text is laid out as if it were not
    beside = MARGINS + (ICON if has_icon else 0.0)
    return fitted(text, round(_width(region) - beside * UNIT * scale), _points())


@functools.lru_cache(maxsize=512)
def fitted(text: str, width: int, points: int) -> tuple[str, ...]:
    """Return a sentence as lines that are `width` pixels wide at most; a longer word has a line of its own."""
    found: list[str] = []
    for word in text.split():
        longer = f"{found[-1]} {word}" if found else ""
        if longer and _length(longer, points) <= width:
            found[-1] = longer
        else:
            found.append(word)
    return tuple(found)


def _points() -> int:
    """Size of the font of Blender's labels [points]."""
    preferences = bpy.context.preferences
    return round(preferences.ui_styles[0].widget.points * preferences.system.ui_scale)


def _length(text: str, points: int) -> float:
    """Pixels of a line in the font of Blender's labels."""
    blf.size(0, points)
    return float(blf.dimensions(0, text)[0])
