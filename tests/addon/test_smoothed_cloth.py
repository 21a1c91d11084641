"""A Subdivision Surface above simulated cloth smooths it into the objects below it, and a button fixes it."""

import bpy

from conjac.conjac_addon.ui import advice, notes


def smooth_sheet():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=1.0, location=(0, 0, 1.0))
    sheet = bpy.context.object
    bpy.ops.conjac.add_cloth()
    sheet.modifiers.new("Smooth", "SUBSURF").levels = 2
    return sheet


def note_of(obj):
    hints = [hint for hint in advice.look_at(obj, bpy.context.scene) if hint.key == "smoothed"]
    assert len(hints) <= 1
    return notes._of_advice(hints[0], obj) if hints else None


def test_what_smooths_cloth_that_touches_has_a_note_and_is_simulated_after(addon):
    sheet = smooth_sheet()
    assert note_of(sheet) is None, "there is nothing that it could be seen in"
    bpy.ops.mesh.primitive_cube_add(size=0.5)
    bpy.ops.conjac.add_collider()
    bpy.context.view_layer.objects.active = sheet
    note = note_of(sheet)
    assert '"Smooth" smooths the simulated shape' in note.text
    assert note.operator == "conjac.simulate_after" and note.options == {"after": "Smooth"}
    assert bpy.ops.conjac.simulate_after(**note.options) == {"FINISHED"}
    assert note_of(sheet) is None


def test_what_does_not_smooth_or_touches_nothing_has_no_note(addon):
    bpy.ops.mesh.primitive_cube_add(size=0.5)
    bpy.ops.conjac.add_collider()
    sheet = smooth_sheet()
    assert note_of(sheet) is not None
    sheet.modifiers["Smooth"].subdivision_type = "SIMPLE"
    assert note_of(sheet) is None
    sheet.modifiers["Smooth"].subdivision_type = "CATMULL_CLARK"
    sheet.conjac.contact.collides_with = "none"
    assert note_of(sheet) is None
