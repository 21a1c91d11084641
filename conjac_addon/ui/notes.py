"""Errors and advice in a place of their own: one line that is always there, as high with something to say as with
nothing, so that no button moves under the mouse; unfolded, all of it."""

from __future__ import annotations

from typing import Any

import bpy

from .. import failures, members
from ..text import one_line, paragraph
from . import advice, manual
from .smoothed import smoother

#: units beside the first line in the header: icon and fold
BESIDE = 3.0

#: fraction of the header that the first line has beside its Fix button
LINE = 0.8


class Note:
    """One remark."""

    def __init__(self, text: str, icon: Any = "INFO", code: str = "", operator: str = "", button: str = "",
                 **options: Any) -> None:
        """text: without a full stop. code: of an error, a heading of the manual's troubleshooting page. operator: its
        remedy, with options; button: the label, "" for the operator's own."""
        self.text, self.icon, self.code = text, icon, code
        self.operator, self.button, self.options = operator, button, options


def of(obj: bpy.types.Object) -> list[Note]:
    """Return the notes on an object besides the status of its bake, errors first. Fast."""
    failed = failures.of(obj.session_uid, members.owner(obj).session_uid)
    return [*(Note(note.text, "ERROR", note.code, note.operator) for note in reversed(failed)),
            *(_of_advice(entry, obj) for entry in advice.known(obj))]


def _of_advice(one: advice.Advice, obj: bpy.types.Object) -> Note:
    settings = obj.conjac
    options = {"conjac.suggest_handles": {"count": settings.suggestions},
               "conjac.set_wobble": {"hertz": settings.wobble_hertz},
               "conjac.add_group": {"map": "pin"}}.get(one.operator, {})
    if one.operator == "conjac.simulate_after" and (after := smoother(obj, bpy.context.scene)) is not None:
        options = {"after": after.name}
    return Note(one.text, operator=one.operator, button=one.button, **options)


def draw(layout: bpy.types.UILayout, notes: list[Note]) -> None:
    """Draw the first note beside a fold, and all of them inside. layout: a panel's own, since Blender folds no
    other."""
    header, body = layout.panel("CONJAC_notes", default_closed=True)
    header.use_property_split = False
    if not notes:
        header.label(text="Nothing to Note")
        if body is not None:
            paragraph(body, "Errors, and what a bake would not show, appear here")
        return
    first = notes[0]
    header.alert = first.icon == "ERROR"
    fraction = LINE if first.operator else 1.0
    line = header.split(factor=fraction) if first.operator else header
    line.label(text=one_line(first.text, bpy.context.region, BESIDE, fraction), icon=first.icon)
    if first.operator:
        _button(line, first, "Fix")
    if body is not None:
        for note in notes:
            _draw_whole(body.column(align=True), note)


def _draw_whole(column: bpy.types.UILayout, note: Note) -> None:
    column.alert = note.icon == "ERROR"
    paragraph(column, note.text, note.icon)
    column.alert = False
    if note.operator:
        _button(column, note, note.button)
    if note.code:
        shown = column.operator("wm.url_open", text=note.code, icon="QUESTION")
        shown.url = manual.prefix() + manual.page(f"troubleshooting#{note.code}")


def _button(layout: bpy.types.UILayout, note: Note, text: str) -> None:
    shown = layout.operator(note.operator, text=text) if text else layout.operator(note.operator)
    for name, value in note.options.items():
        setattr(shown, name, value)
