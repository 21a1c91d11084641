"""Every operator of ConJac as Blender shows it. Its behaviour is the class CONJAC_OT_<name> of its module."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...solver import catalogue
from ..bake import break_lock, share
from ..bake import operators as bake
from ..live import as_played
from ..live import operators as live
from ..menus import FIBERS, QUALITIES, READY, SHARING, items, samples
from ..settings import painted_params
from . import (
    attach,
    cloth,
    constraints,
    contact,
    contact_attributes,
    crossing,
    cuts,
    farm,
    heat,
    jiggle,
    mechanism,
    nails,
    painting,
    preview,
    preview_joints,
    pulls,
    quality,
    quick,
    ready,
    remedies,
    rope,
    setup,
    simulate_after,
    spots,
    springs,
    suggest,
    takes,
    unused,
    welds,
    wobble,
)
from .light import operator

#: methods of background operators
BEHIND = ("invoke", "modal", "cancel")

#: the method of what has a tooltip for each moment
TELLS = ("description",)

#: operators without an undo step, or with a step without adjustable properties
NO_STEP: set[Any] = set()
UNDO: set[Any] = {"UNDO"}

WHICH = IntProperty(name="Index", description="Which entry of the list", default=0, min=0)


#: which take
TAKE = IntProperty(name="Take", description="Its number, 0 for the newest", default=0, min=0, options={"SKIP_SAVE"})

#: of one click that makes what is selected move
QUICK: dict[str, Any] = {
    "falls_from": FloatProperty(
        name="Falls From", description="Lift objects that lie on the ground or on a mesh by this many times their "
        "size; 0 leaves them in place. Objects that are pinned, poked, animated or parented are never lifted",
        default=0.5, min=0.0, soft_max=4.0, step=10, precision=2),
    "hangs_by": FloatProperty(
        name="Hangs By", description="Pin objects in this part of their height, from the top down; 0 pins nothing. "
        "Objects with painted pins keep them", min=0.0, max=1.0, subtype="FACTOR", step=1, precision=2),
    "poked": FloatProperty(
        name="Poked", description="Push the top of objects aside by this many times their size when the bake begins, "
        "then release it; 0 does not push", min=0.0, soft_max=1.0, step=5, precision=2),
    "subdivide": BoolProperty(
        name="Make Fine Enough", description="Add a flat subdivision as a modifier if the mesh has too few faces to "
        "bend", default=True),
    "colliders": BoolProperty(
        name="Collide With What Is Below", description="Make meshes below it colliders", default=True),
}


def _modifiers(_self: bpy.types.OperatorProperties, context: bpy.types.Context) -> list[tuple[str, str, str]]:
    return simulate_after.choices(context)


classes = (
    operator(
        "add_soft_body", setup, "Add Soft Body", "Make the selected meshes soft bodies"),
    operator(
        "quick_jelly", quick, "ConJac Jelly",
        "Let the selected meshes fall and wobble: soft bodies, fine enough to bend, above a ground", **QUICK),
    operator(
        "quick_cloth", quick, "ConJac Cloth",
        "Let the selected meshes fall and fold: cloth, fine enough to fold, above the objects below", **QUICK),
    operator(
        "add_ready", ready, "Add Ready Scene", "Add a small scene at the 3D cursor that is ready to play and bake",
        scene=EnumProperty(
            name="Scene", description="Which scene to add",
            items=[(key, label, tooltip) for key, (label, tooltip) in READY.items()])),
    operator(
        "add_sample", ready, "Add Sample", "Add an object with the settings and the look of a preset at the 3D cursor",
        preset=EnumProperty(name="Preset", description="Which material, fabric or rope", items=samples())),
    operator(
        "remove", setup, "Remove Soft Body",
        "Remove ConJac from the active object; painted groups, settings and baked files stay"),
    operator(
        "add_group", painting, "Paint Map",
        "Make the vertex group of this map active, create it where it is missing, and paint it", asks=TELLS,
        map=EnumProperty(
            name="Map", description="Which map to paint",
            items=[(entry.key, entry.label, entry.sentence) for entry in catalogue.maps().values()])),
    operator(
        "show_heat", heat, "Show Heat Map",
        "Show a painted map on the object as colors, with a legend; click again to hide it", NO_STEP, TELLS,
        map=EnumProperty(
            name="Map", description="Which map to show",
            items=[(entry.key, entry.label, entry.sentence) for entry in catalogue.maps().values()])),
    operator(
        "done_painting", painting, "Done Painting", "Go back to Object Mode and keep the painted weights"),
    operator(
        "add_handle", setup, "Add Dynamic Handle",
        "Add an Empty at the 3D cursor that picks the nearest node inside the body as a dynamic node", asks=TELLS),
    operator(
        "remove_handle", setup, "Remove Dynamic Handle", "Remove this dynamic handle; its Empty stays", asks=TELLS,
        index=WHICH),
    operator(
        "add_spots", spots, "Paint Other Spots",
        "Paint spots with their own kind of motion, in a new vertex group", asks=TELLS),
    operator(
        "remove_spots", spots, "Remove Other Spots", "Remove this group of spots; its weights stay", asks=TELLS,
        index=WHICH),
    operator(
        "add_cloth", cloth, "Add Cloth", "Make the selected meshes cloth: their faces stretch, shear and fold"),
    operator(
        "add_rope", rope, "Add Rope", "Turn the edges of the selected meshes, or the selected curves, into ropes"),
    operator(
        "turn_into_cloth", cloth, "Turn Into Cloth",
        "Make the active soft body cloth: a mesh that encloses no volume cannot be soft inside"),
    operator(
        "add_cut", cuts, "Add Cut",
        "Cut the active soft body at the current frame, along the XY plane of a new Empty in its middle"),
    operator(
        "remove_cut", cuts, "Remove Cut", "Remove this cut; the object that cuts stays", index=WHICH),
    operator(
        "add_nail", nails, "Add Nail",
        "Hold the active soft body from the current frame on, along the Z axis of a new Empty through its middle"),
    operator(
        "remove_nail", nails, "Remove Nail", "Remove this nail; its Empty stays", index=WHICH),
    operator(
        "add_pull", pulls, "Add Pull",
        "Pull a spot of the active soft body with a new Empty: animate it, and everything near it at the start "
        "follows"),
    operator(
        "remove_pull", pulls, "Remove Pull", "Remove this pull; its Empty stays", index=WHICH),
    operator(
        "add_weld", welds, "Add Weld",
        "Let the active soft body or cloth stick to the selected ones where they are close to each other at the start"),
    operator(
        "remove_weld", welds, "Remove Weld", "Remove this weld; both objects stay", index=WHICH),
    operator(
        "add_constraint", constraints, "Add Constraint",
        "Tie the active soft body, cloth or rope to the selected object, or to the bone or object that is animated",
        kind=EnumProperty(name="Kind", description="Kind of the constraint",
                          items=items(catalogue.menu("constraint").values()), default="ball")),
    operator(
        "remove_constraint", constraints, "Remove Constraint", "Remove this constraint; its Empty stays", index=WHICH),
    operator(
        "add_attachment", attach, "Attach to Bone",
        "Let a part of the active soft body, painted in a vertex group, follow a bone of its armature, or the rigid "
        "body object that is also selected"),
    operator(
        "remove_attachment", attach, "Remove Attachment", "Remove this attachment; its group stays", index=WHICH),
    operator(
        "ragdoll", mechanism, "Ragdoll from Armature",
        "Make the active armature fall as jointed rigid bodies; bones that deform nothing and tiny ones are left out",
        smallest=FloatProperty(
            name="Smallest Bone", description="Leave out bones at the ends of limbs that are shorter than this share "
            "of the longest one, such as fingers", default=0.08, min=0.0, max=1.0, subtype="FACTOR"),
        use_ground=BoolProperty(name="Ground", description="Let it fall on a plane at height 0", default=True)),
    operator(
        "drive_then_let_go", mechanism, "Drive by Animation, Then Let Go",
        "Drive the active armature by its animation and let it fall freely from a frame on", asks=("invoke",),
        frame=IntProperty(name="Let Go at", description="Frame from which it is simulated freely", default=24)),
    operator(
        "copy_to_bones", mechanism, "Copy to Selected Bones",
        "Give the selected bones the ConJac settings of the active one"),
    operator(
        "mechanism_from_rigid_bodies", mechanism, "Mechanism of Rigid Bodies",
        "Make a mechanism of all rigid body objects of the scene and the Empties that join them"),
    operator(
        "add_spring", springs, "Add Spring",
        "Join two selected bones or rigid body objects with a spring; with more bones, each and its parent"),
    operator(
        "remove_spring", springs, "Remove Spring", "Remove the active spring"),
    operator(
        "jiggle", jiggle, "Jiggle the Soft Parts",
        "Make the skin of an armature a soft body that is held by its bones except where the group Soft is painted",
        nodes=IntProperty(
            name="Dynamic Nodes", description="Number of dynamic nodes to suggest if the method moves only these, 0 "
                                              "for none",
            default=2, min=0, max=100)),
    operator(
        "preview_tets", preview, "Tetrahedralize",
        "Fill the active soft body with tetrahedra and show their edges; the bake uses the same ones",
        NO_STEP, BEHIND),
    operator(
        "preview_field", preview, "Show Map",
        "Show the fibers of the active soft body as lines, or a map as colors on its tetrahedra",
        NO_STEP, (*BEHIND, *TELLS),
        field=EnumProperty(
            name="Field", description="What to show",
            items=[(FIBERS, "Fibers", "A line along the fibers of each tetrahedron"),
                   *((param.key, param.label, f"{param.label} of each tetrahedron as a color")
                     for param in painted_params().values())])),
    operator(
        "remove_previews", preview, "Remove Previews",
        "Hide the tetrahedra, fibers and maps of the active soft body", NO_STEP),
    operator(
        "show_joints", preview_joints, "Show Bodies and Joints",
        "Show the rigid bodies of the active mechanism, the axes of its joints, their limits and its springs now",
        NO_STEP),
    operator(
        "remove_joints_preview", preview_joints, "Hide Bodies and Joints",
        "Hide the bodies and joints of the active mechanism", NO_STEP),
    operator(
        "suggest_handles", suggest, "Suggest Dynamic Nodes",
        "Add dynamic handles where the active soft body swings most, away from those it has; drag them as you like",
        UNDO, (*BEHIND, *TELLS),
        count=IntProperty(
            name="Count", description="Number of handles to add", default=4, min=1, soft_max=16, max=1000)),
    operator(
        "export_farm_job", farm, "Export Farm Job",
        "Write a folder with everything that a farm needs to bake this without Blender",
        NO_STEP, BEHIND,
        directory=StringProperty(
            name="Folder", description="An empty folder; if left out, one next to the .blend", subtype="DIR_PATH"),
        wedge=StringProperty(
            name="Wedge", description="A CSV file with a line of path=value cells for each bake", subtype="FILE_PATH"),
        chunk=StringProperty(
            name="Chunk", description="Frames of one task, to split a bake into several"),
        render=BoolProperty(
            name="Render", description="Add the last saved version of this .blend to the folder, and render it with "
            "the frames", default=False)),
    operator(
        "set_wobble", wobble, "Set Slowest Wobble",
        "Change the stiffness of the active soft body so that its slowest wobble has this frequency, as its pins and "
        "bones hold it. This scales Young's Modulus and its painted value", UNDO, BEHIND,
        hertz=FloatProperty(
            name="Frequency", description="Frequency of its slowest wobble [Hz]",
            default=2.5, min=0.01, soft_max=20.0, max=1.0e4)),
    operator(
        "add_ground", remedies, "Add Ground",
        "Add a ground at height 0, or at the object's lowest point if that is below"),
    operator(
        "level_ground", remedies, "Raise Ground to the Grid",
        "Move the ground to the grid, or to the lowest point of what is on it"),
    operator(
        "land", remedies, "Land on What Is Below",
        "Make the mesh below the active soft body a collider, so that the body does not fall through it"),
    operator(
        "add_obstacles", remedies, "Make Obstacles of Colliders",
        "Let the bones and rigid bodies of the mechanism collide with the colliders too: put them into its Obstacles "
        "collection, where each loose part counts as its convex hull"),
    operator(
        "subdivide", remedies, "Subdivide to Bend",
        "Subdivide the faces of the active mesh without changing its shape: a mesh cannot bend between its vertices",
        cuts=IntProperty(
            name="Cuts", description="Number of cuts of each edge", default=5, min=1, max=100, soft_max=12)),
    operator(
        "add_collider", contact, "Add Collider",
        "Make the selected meshes colliders: soft bodies collide with them, static or animated"),
    operator(
        "collide", contact, "Collide With All",
        "Let all soft bodies of the scene collide with each other and with the colliders. They are baked together "
        "from then on"),
    operator(
        "collide_with_itself", contact, "Switch On Self Collision",
        "Let parts of the active soft body collide with each other"),
    operator(
        "contact_attributes", contact_attributes, "Contact to Attributes",
        "Write the contact forces of the current frame into the mesh, as the vertex attributes contact_force "
        "(newtons) and contact_pressure (pascals). They do not change with the frame"),
    operator(
        "select_crossing", crossing, "Select What Crosses",
        "Go to the first frame and select the faces that intersect other objects there, and bones that pass through "
        "soft bodies"),
    operator(
        "simulate_after", simulate_after, "Simulate After",
        "Choose the modifier whose result is simulated; those below it are applied to the bake", opens="after",
        after=EnumProperty(name="After", description="The modifier whose result is simulated", items=_modifiers)),
    operator(
        "play_live", live, "Play Live",
        "Move the active soft body in real time and pull it with the mouse. Nothing is saved. Esc ends it", NO_STEP,
        BEHIND),
    operator(
        "record_live", live, "Record",
        "Record everything that is played live from now on. Press again to make the performance the bake of the object",
        NO_STEP),
    operator(
        "as_played", as_played, "Bake as Played",
        "Set Method, Integrator and Time Step to those of the recorded performance, so that a bake repeats it. Press "
        "again to restore the previous settings"),
    operator(
        "bake", bake, "Bake",
        "Simulate the active soft body or mechanism and everything attached to it. A stopped bake is resumed",
        UNDO, BEHIND),
    operator(
        "set_quality", quality, "Set Quality",
        "Set the edge length of tetrahedra and the time step of the active object and of everything that is baked "
        "with it",
        quality=EnumProperty(
            name="Quality", description="How fine and how slow to bake", default="good",
            items=[(key, label, sentence) for key, (label, sentence) in QUALITIES.items()])),
    operator(
        "make_own", quality, "Keep Value", "Keep a value that a button chose", {"UNDO", "INTERNAL"}, TELLS,
        path=StringProperty(name="Setting", description="Path of the setting below the object's own"),
        button=StringProperty(name="Button", description="Which button chose its value")),
    operator(
        "pause", bake, "Pause Bake", "Stop the bake after the current step; Bake resumes it", NO_STEP),
    operator(
        "cancel", bake, "Cancel Bake", "Stop the bake now and keep its frames", NO_STEP),
    operator(
        "free_bake", bake, "Free Bake",
        "Delete the baked frames of the active object from the disk; weights and settings stay", UNDO, ("invoke",),
        together=BoolProperty(
            name="All Baked Together", description="Free the bake of all soft bodies that were baked together",
            default=False, options={"SKIP_SAVE"})),
    operator(
        "use_take", takes, "Play Take",
        "Play these older frames; the current bake is kept as a take. Settings do not change", number=TAKE),
    operator(
        "compare_take", takes, "Compare With Take",
        "For each vertex, write the largest distance between this bake and the take, in mm, to an attribute of "
        "the mesh. It shows where a draft and a full bake differ", number=TAKE),
    operator(
        "remove_take", takes, "Delete Take", "Delete the frames of this take from the disk", NO_STEP, ("invoke",),
        number=TAKE),
    operator(
        "remove_unused_caches", unused, "Delete Unused Caches",
        "List the caches of deleted objects of this file, with sizes, and delete them from the disk", NO_STEP,
        ("invoke", "draw")),
    operator(
        "export", bake, "Export Bake",
        "Play the baked frames in this format, which other programs and a render farm can read",
        format=EnumProperty(
            name="Format", description="How the baked frames are stored",
            items=items(catalogue.family("export").values()))),
    operator(
        "break_lock", break_lock, "Break Lock",
        "Take over the cache from a bake that was killed on another machine. One that still runs stops before its "
        "next frame", NO_STEP, ("invoke",)),
    # what was chosen for another file is no answer for this one
    operator(
        "shared_bakes", share, "Bakes of the Other File",
        "Choose what to do with the bakes of the file that this one was saved from", UNDO, ("invoke", "draw"),
        choice=EnumProperty(
            name="Bakes", description="What this file does with the bakes of the file that it was saved from",
            default="SHARE", options={"SKIP_SAVE"},
            items=[(key, label, sentence) for key, (label, sentence) in SHARING.items()])),
)
