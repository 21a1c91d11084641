"""Sentences in panels, in as many lines as they need."""

import textwrap

import bpy

#: letters that fit into a line of the sidebar as wide as Blender opens it
LINE = 34


def hint(layout: bpy.types.UILayout, text: str) -> None:
    """A remark in grey."""
    column = layout.column(align=True)
    column.active = False
    paragraph(column, text, "INFO")


def paragraph(layout: bpy.types.UILayout, text: str, icon: str = "NONE") -> None:
    """A sentence in as many lines as it needs: Blender's labels do not wrap, they are cut."""
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, LINE)):
        column.label(text=line, icon=icon if number == 0 or icon == "NONE" else "BLANK1")
