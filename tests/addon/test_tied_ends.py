"""Ends of cloth and ropes from the buttons on: tied to a bone that moves, to a soft body and to each other."""

import bpy
import numpy as np
from jelly import add_jelly, scene, seen_at  # noqa: F401
from test_constraint_objects import select
from test_rope_objects import add_chain
from test_touched_mechanisms import LAST, arm, sunk  # noqa: F401

from conjac.conjac_addon import bake


def flag(x, top, density=6.0):
    """Return cloth of 20 cm that hangs down from a height. density: [kg/m²]."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=0.2, rotation=(np.pi / 2, 0.0, 0.0),
                                    location=(x, 0.0, top - 0.1))
    made = bpy.context.object
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    made.conjac.use_ground, made.conjac.area_density = False, density
    return made


def top_of(cloth):
    """Return the middle of the upper edge at the last frame, in the world [m]."""
    at = np.array(cloth.matrix_world)
    rest = np.array([vertex.co for vertex in cloth.data.vertices])
    number = int(np.argmin(np.linalg.norm(rest - [0.0, 0.1, 0.0], axis=1)))
    return seen_at(cloth, LAST)[number] @ at[:3, :3].T + at[:3, 3]


def test_a_bone_bears_cloth_that_hangs_on_it(arm, scene):  # noqa: F811
    assert bake.bake_object(arm) == 0
    alone = sunk(arm)
    cloth = flag(0.6, -0.06)
    select(cloth, arm)
    assert bpy.ops.conjac.add_constraint(kind="ball") == {"FINISHED"}
    [tie] = cloth.conjac.constraints
    tie.part, tie.place.location = "B1", (0.6, 0.0, -0.06)
    assert bake.bake_object(cloth) == 0
    assert bake.status(arm).state == bake.status(cloth).state == "complete"
    assert sunk(arm) > alone + 0.002, "it feels the weight"
    # it would fall by 21 cm
    assert np.linalg.norm(top_of(cloth) - [0.6, 0.0, -0.06 - sunk(arm)]) < 0.03


def test_a_soft_body_bears_cloth_at_a_distance(scene):  # noqa: F811
    scene.frame_end = LAST
    jelly = add_jelly(step=1 / 96)
    jelly.conjac.method, jelly.conjac.integrator, jelly.conjac.use_ground = "vanilla", "backward_euler", False
    jelly.conjac.solver.stage_solver = "newton_visible"
    low = seen_at(jelly, 1)[:, 2] < -0.09
    assert bake.bake_object(jelly) == 0
    alone = seen_at(jelly, LAST)[low, 2].mean()
    cloth = flag(0.0, -0.13, density=25.0)
    select(cloth, jelly)
    assert bpy.ops.conjac.add_constraint(kind="distance") == {"FINISHED"}
    cloth.conjac.constraints[0].place.location = (0.0, 0.0, -0.115)
    assert bake.bake_object(cloth) == 0
    bottom = seen_at(jelly, LAST)[low]
    assert bottom[:, 2].mean() < alone - 0.002, "it feels the weight"
    middle = bottom[np.argsort(np.linalg.norm(bottom[:, :2], axis=1))[:4]].mean(axis=0)
    assert abs(np.linalg.norm(top_of(cloth) - middle) - 0.03) < 0.02


def hanging_rope(x, low, links=6):
    """Return a rope of 30 cm that is pinned at its upper end, which is above a position."""
    rope = add_chain(links)
    heights = np.linspace(low + 0.3, low, links + 1)
    rope.data.vertices.foreach_set("co", np.stack([np.full(links + 1, x), np.zeros(links + 1), heights], 1).ravel())
    assert bpy.ops.conjac.add_rope() == {"FINISHED"}
    rope.modifiers["Rope Thickness"].show_viewport = False
    rope.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE")
    rope.conjac.use_ground = False
    return rope


def test_a_rope_bears_cloth(scene):  # noqa: F811
    scene.frame_end = LAST
    rope, cloth = hanging_rope(0.0, 0.3), flag(0.0, 0.29)
    select(cloth, rope)
    assert bpy.ops.conjac.add_constraint(kind="ball") == {"FINISHED"}
    [tie] = cloth.conjac.constraints
    tie.place.location, tie.closes = (0.0, 0.0, 0.29), 0.0
    assert bake.bake_object(cloth) == 0
    end = seen_at(rope, LAST)[-1]
    # it would fall by 21 cm, and is drawn up by a centimetre
    assert np.linalg.norm(top_of(cloth) - end) < 1e-5 and abs(end[2] - 0.3) < 1e-4


def test_a_rope_that_is_attached_to_a_bone_carries_it(arm, scene):  # noqa: F811
    assert bake.bake_object(arm) == 0
    alone = sunk(arm)
    rope = hanging_rope(0.6, 0.0)
    rope.vertex_groups.new(name="B1").add([6], 1.0, "REPLACE")
    select(rope, arm)
    arm.data.bones.active = arm.data.bones["B1"]
    assert bpy.ops.conjac.add_attachment() == {"FINISHED"}
    assert [(attachment.object, attachment.part) for attachment in rope.conjac.attachments] == [(arm, "B1")]
    assert bake.bake_object(rope) == 0
    assert bake.status(arm).state == bake.status(rope).state == "complete"
    assert abs(sunk(arm)) < 1e-3 < 0.2 * alone
