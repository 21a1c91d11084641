"""Sections of the panels: a thin view of `Object.conjac` and of the cache folder.

The sidebar and the Physics tab draw the same functions. Nothing here computes beyond cheap reads.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...solver import catalogue
from ...solver.catalogue import Entry
from .. import bake, first_solvers, live, members, upgrade
from ..bake import progress
from ..operators import simulate_after
from ..operators.fineness import NODES, filled_box
from ..settings import holder, property_name, unit_scale
from ..text import ICON, hint, one_line, paragraph, setting
from . import contact, damping, drafts, fields, mechanisms, notes, presets, slow

STATE_ICONS: dict[str, Any] = {"none": "RADIOBUT_OFF", "partial": "PAUSE", "complete": "CHECKMARK",
                               "stale": "FILE_REFRESH", "broken": "ERROR", "baking": "REC"}

#: the smallest number that the six digits of Blender's fields show
LEAST = 0.95e-6


def draw_body(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the kind of the object, the state of its bake, and its buttons."""
    obj = context.object
    if upgrade.refusal(obj):
        _draw_refusal(layout, obj)
        return
    if members.is_collider(obj) and not members.is_soft_body(obj):
        layout.operator("conjac.remove", icon="X", text="Remove Collider")
        return
    if not (members.is_soft_body(obj) or members.is_mechanism(obj)):
        if bake.is_running(obj):  # undo has taken ConJac off it
            _draw_running(layout, bake.shown_status(obj))
        _draw_beginning(layout, obj)
        return
    status, holder = bake.shown_status(obj), members.owner(obj)
    _draw_live(layout, obj)
    _draw_buttons(layout, status)
    played = live.played(obj)
    if played is None:
        _draw_status(layout, status)
    else:  # in its place, so that nothing below moves
        layout.label(text=one_line(played.sentence(), context.region, ICON), icon="PLAY")
    together = members.is_soft_body(holder) and len(members.soft_bodies(obj, context.scene)) > 1
    if together:
        layout.operator("conjac.free_bake", text="Free All", icon="TRASH").together = True
    layout.operator("conjac.remove", icon="X", text=_removes(obj))
    shown = _notes_of(obj, status)
    if together:
        shown.append(notes.Note(f"Baked together: {members.title(obj, context.scene)}. They share time, ground and "
                               "frames"))
    elif holder != obj:
        does = "hangs on" if members.mechanism_of(obj) == holder else "touches"
        shown.append(notes.Note(f"It {does} {holder.name} and is baked with it"))
    if played is not None:
        shown.append(notes.Note("Live, it touches by points of its surface: thin or fast parts may pass. A bake is "
                                "exact"))
    notes.draw(layout, shown)


def _draw_status(layout: bpy.types.UILayout, status: bake.Status) -> None:
    """Draw the status of the bake, always in one line."""
    if status.state == "baking" and status.mine:
        layout.progress(factor=status.fraction or 0.0, text=status.text + progress.remaining(status.left_s))
    else:
        # what is all there but looks wrong has no check mark
        layout.label(text=_headline(status), icon="ERROR" if status.wrong else STATE_ICONS[status.state])


def _headline(status: bake.Status) -> str:
    """Return the state of a bake in one line; its full text is a note if it is longer."""
    if one_line(status.text, bpy.context.region, ICON) == status.text:
        return status.text
    if status.state in ("partial", "complete") and status.total:
        many = f"All {status.total}" if status.state == "complete" else f"{status.done} of {status.total}"
        return f"{many} frames are baked"
    return {"none": "Nothing is baked", "stale": "Out of date: bake again", "broken": "Its bake cannot be read",
            "baking": "Another program is baking it"}.get(status.state, one_line(status.text, bpy.context.region, ICON))


def _notes_of(obj: bpy.types.Object, status: bake.Status) -> list[notes.Note]:
    """Return all notes on an object and its bake."""
    if status.state == "baking":
        if status.mine:
            slowly = slow.of(obj, bpy.context.scene)
            return [notes.Note(slowly)] if slowly else []
        return [notes.Note("Another program is baking it: pause or cancel it there. "
                           f"{status.other_baker}".rstrip(". "))]
    found = notes.of(obj)
    if _headline(status) != status.text:
        alarming = bool(status.wrong) or status.state == "broken"
        found.insert(0, notes.Note(status.text, "ERROR" if alarming else "INFO"))
        found.sort(key=lambda one: one.icon != "ERROR")
    if status.state == "complete" and obj.mode != "OBJECT":
        # comparing them takes an evaluation, so the state above knows of settings and vertex counts alone
        found.append(notes.Note("Changes of shape and paint show after the next bake"))
    return found


def _draw_live(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the button of Play Live and the state of the session."""
    played = live.played(obj)
    row = layout.row(align=True)
    row.scale_y = 1.5
    if played is None:
        row.operator("conjac.play_live", icon="PLAY")
    else:
        row.operator("conjac.play_live", icon="SNAP_FACE", text="Stop Live", depress=True)
    records = played is not None and played.records
    row.operator("conjac.record_live", icon="REC", text="Keep" if records else "", depress=records)
    if played is None and members.shared_settings(obj).as_played:
        from ..live import as_played

        if as_played.is_recorded(obj):
            layout.operator("conjac.as_played", depress=as_played.is_chosen(obj, bpy.context.scene))


def _removes(obj: bpy.types.Object) -> str:
    """Return the label of the button that removes ConJac."""
    if obj.type != "MESH":
        return "Remove Mechanism"
    if members.is_rope(obj):
        return "Remove Rope"
    return "Remove Cloth" if members.is_cloth(obj) else "Remove Soft Body"


def _draw_running(layout: bpy.types.UILayout, status: bake.Status) -> None:
    """Draw the progress of a bake, below its buttons."""
    _draw_buttons(layout, status)
    _draw_status(layout, status)


def _draw_buttons(layout: bpy.types.UILayout, status: bake.Status) -> None:
    """Draw the buttons of a bake: bake and free, or pause and cancel."""
    row = layout.row(align=True)
    if status.state != "baking":
        row.operator("conjac.bake", icon="PHYSICS", text="Resume" if status.state == "partial" else "Bake")
        row.operator("conjac.free_bake", icon="TRASH", text="")
    elif status.mine:
        row.operator("conjac.pause", icon="PAUSE", text="Pause")
        row.operator("conjac.cancel", icon="CANCEL", text="Cancel")
    else:
        row.operator("conjac.break_lock", icon="UNLOCKED")


def _draw_refusal(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Why its settings cannot be read, and the menus that this ConJac cannot follow."""
    paragraph(layout, upgrade.refusal(obj), "ERROR")
    for group, prop, _ in upgrade.unknown_choices(obj):
        setting(layout, group, prop.identifier)


def _draw_beginning(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the buttons that make an object something that is simulated."""
    if obj.type == "MESH":
        layout.operator("conjac.add_soft_body", icon="ADD")
        layout.operator("conjac.add_cloth", icon="MOD_CLOTH")
        if not len(obj.data.polygons):
            layout.operator("conjac.add_rope", icon="OUTLINER_OB_CURVE")
        layout.operator("conjac.add_collider", icon="MOD_PHYSICS")
        if mechanisms.is_skinned(obj):
            layout.operator("conjac.jiggle", icon="MOD_CLOTH")
    if obj.type == "CURVE":
        layout.operator("conjac.add_rope", icon="OUTLINER_OB_CURVE")
    if obj.type == "ARMATURE":
        layout.operator("conjac.jiggle", icon="MOD_CLOTH")
        layout.operator("conjac.ragdoll", icon="OUTLINER_OB_ARMATURE")
    if obj.rigid_body is not None:
        layout.operator("conjac.mechanism_from_rigid_bodies", icon="RIGID_BODY")


def draw_advanced(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the solver's settings: method, its parameters, time step and stopping rule."""
    settings, scene, holder = context.object.conjac, context.scene, members.owner(context.object)
    shared, is_body = members.shared_settings(context.object), members.is_soft_body(context.object)
    is_led = is_body and members.is_mechanism(holder)
    owns = is_body and first_solvers.has_its_own(context.object)
    moves = settings if owns else shared  # by whose integrator it moves while it touches nothing
    if is_led:
        settings = shared
        hint(layout, f'The method is that of "{holder.name}", with which it is baked' if owns else
             f'Settings are those of "{holder.name}", with which it is baked')
    if owns and holder != context.object:
        hint(layout, f'Where it touches bodies with another solver, the settings of "{holder.name}" count')
    solver = settings.solver
    if is_body or members.soft_bodies(context.object, scene):
        setting(layout, solver, "method")
        draw_params(layout, settings, "method")
        drafts.draw(layout, context.object, chosen(settings, "method"), chosen(moves, "integrator"), context.scene)
    else:
        row = layout.row()
        row.active = chosen(shared, "integrator").able("beta")
        row.prop(solver, catalogue.BETA.key)
    fields.draw(layout, context.object, "step")
    if is_body and not is_led and len(members.soft_bodies(context.object, scene)) > 1:
        hint(layout, "Bodies in contact use the shortest of their steps")
    baked = members.soft_bodies(context.object, scene)
    slides = [members.is_sharp(body) for body in baked]
    stepped = layout.column()
    stepped.active = not (slides and all(slides))
    setting(stepped, moves.solver, "integrator")
    draw_params(stepped, moves, "integrator")
    if any(slides):
        hint(layout, "Cloth with Sharp Edges always uses linearized Backward Euler steps")
    integrator, method = chosen(moves, "integrator"), chosen(settings, "method")
    if is_body and not members.is_cloth(context.object):
        damping.draw(layout, context.object.conjac, scene)
    elif not is_body and integrator.why_not("joints"):
        hint(layout, f"{integrator.label} does not move jointed bodies: choose another integrator")
    if integrator.why_not("quasistatic") and method.follows:
        hint(layout, f"{integrator.label} moves every node: choose Vanilla FEM, or another integrator")
    fields.draw(layout, context.object, "accuracy")
    if shared.solver.accuracy and not integrator.able("adaptive"):
        hint(layout, f"{integrator.label} does not estimate its error: choose another integrator, or an accuracy of 0")
    fields.draw(layout, context.object, "largest deformation")
    if integrator.able("iterates"):
        stages = layout.column()
        stages.active = stepped.active
        setting(stages, moves.solver, "stage_solver")
        draw_params(stages, moves, "stage_solver")
        if method.follows and not integrator.why_not("quasistatic"):
            hint(layout, f"{method.label} has its own iterations: of the stage solver, only the stopping "
                 "tolerance has an effect")
    if is_body and not is_led and not members.is_cloth(context.object):
        setting(layout, context.object.conjac, "damping")
        draw_params(layout, context.object.conjac, "damping")
    contact.draw_law(layout, context.object)
    if is_body:
        fields.draw(layout, context.object, "linear solver")


def draw_forces(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Gravity, which is the scene's."""
    scene = context.scene
    column = layout.column(heading="Scene")
    column.prop(scene, "use_gravity")
    row = column.row()
    row.active = scene.use_gravity
    row.prop(scene, "gravity", text="")


def chosen(settings: bpy.types.PropertyGroup, family: str) -> Entry:
    """Return the chosen entry of a family."""
    return catalogue.find(family, getattr(holder(settings, family), family))


def draw_look(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw softness, liveliness and weight."""
    settings = context.object.conjac
    presets.draw(layout, "soft_body")
    row = layout.split(factor=0.6, align=True)  # its text is cut in half of a sidebar
    row.operator("conjac.set_wobble", text="Set Jiggle").hertz = settings.wobble_hertz
    row.prop(settings, "wobble_hertz", text="Hz")
    fields.draw(layout, context.object, "half-life")
    fields.draw(layout, context.object, "density")
    setting(layout, settings, "material")
    draw_params(layout, settings, "material")


def draw_volume(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the settings of the volume: its input, the mesher, and the cost of its tetrahedra."""
    settings = context.object.conjac
    draw_simulate_after(layout, context.object)
    setting(layout, settings, "mesher")
    draw_params(layout, settings, "mesher")
    hint(layout, _tetrahedra(context.object, context.scene))
    layout.operator("conjac.preview_tets", icon="MESH_ICOSPHERE")
    layout.operator("conjac.remove_previews", icon="X")
    hint(layout, "Thin parts bend too stiffly: use 6 layers of tetrahedra or more across them")


def _tetrahedra(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Return a sentence about the default length of edges, and how many nodes a box as large would have of them."""
    unit = unit_scale(scene)
    asked = obj.conjac.edge_length
    edge, nodes = filled_box([*obj.dimensions], asked)
    if not edge:
        return "It has no size yet"
    sentence = "" if asked else f"0 is {edge * unit:.2g} m here. "
    sentence += f"A box of its size has about {float(f'{nodes:.1g}'):,.0f} nodes"
    return f"{sentence}: a larger Edge Length makes it faster" if nodes > NODES else sentence


def draw_simulate_after(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the choice of the modifier after which the object is simulated, if there are modifiers."""
    if len(obj.modifiers):
        row = layout.split(factor=0.4)
        row.alignment = "RIGHT"
        row.label(text="Simulate After")
        row.operator_menu_enum("conjac.simulate_after", "after", text=simulate_after.label(obj), icon="MODIFIER")


def draw_ground(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the ground plane; its checkbox is in the header."""
    settings = members.shared_settings(context.object)
    layout.active = settings.use_ground
    setting(layout, settings, "ground_object")
    if settings.ground_object is None:
        setting(layout, settings, "ground_height")
    fields.draw(layout, context.object, "ground on skin")
    fields.draw(layout, context.object, "ground")
    setting(layout, settings, "friction")
    if settings.friction == "none":
        if members.is_mechanism(context.object):
            hint(layout, "Objects slide on it forever: choose a Friction")
        return
    draw_params(layout, settings, "friction")
    integrator = chosen(settings, "integrator")
    if integrator.why_not("ground friction"):
        hint(layout, f"{integrator.label} has no friction: choose another integrator")


def draw_ground_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    layout.prop(members.shared_settings(context.object), "use_ground", text="")


def draw_frames(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Which frames are baked and how often animation is read."""
    settings, scene = members.shared_settings(context.object), context.scene
    setting(layout, settings, "use_scene_range")
    column = layout.column(align=True)
    if settings.use_scene_range:
        column.prop(scene, "frame_start", text="Start")
        column.prop(scene, "frame_end", text="End")
    else:
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")
    fields.draw(layout, context.object, "samples")


def draw_output(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the settings of the output: the folder, and the format that is played."""
    settings = context.object.conjac
    setting(layout, settings, "export")
    layout.operator("conjac.export", icon="EXPORT").format = settings.export
    layout.operator("conjac.export_farm_job", icon="PACKAGE")
    if not members.is_sharp(context.object):
        fields.draw(layout, context.object, "output")
        if settings.stress_output:
            layout.prop(context.window_manager, "conjac_colors", text="Colors")
    setting(layout, members.shared_settings(context.object), "cache_folder")


def draw_params(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, family: str) -> None:
    """Draw the parameters of the chosen entry of one family."""
    entry = chosen(settings, family)
    settings = holder(settings, family)
    switches = {param.key: property_name(entry, param) for param in entry.params}
    for param in entry.params:
        row = layout.row()
        row.active = not param.needs or getattr(settings, switches[param.needs])
        if param == catalogue.BETA:
            row.active = chosen(members.shared_settings(settings.id_data), "integrator").able("beta")  # type: ignore[arg-type]
        setting(row, settings, property_name(entry, param))
        value = getattr(settings, property_name(entry, param))
        if isinstance(value, float) and not param.unit and 0.0 < abs(value) < LEAST:
            hint(layout, f"{param.label} is {value:.3g}")
