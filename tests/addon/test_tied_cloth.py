"""Constraints of cloth from the button on: to a bone that moves freely, and to a soft body, which both feel it."""

import bpy
import numpy as np
from jelly import add_jelly, scene, seen_at  # noqa: F401
from test_constraint_objects import select
from test_touched_mechanisms import LAST, arm, sunk  # noqa: F401

from conjac.conjac_addon import bake


def flag(x, top):
    """Cloth of 20 cm and a quarter of a kilogram that hangs down from a height."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=0.2, rotation=(np.pi / 2, 0.0, 0.0),
                                    location=(x, 0.0, top - 0.1))
    made = bpy.context.object
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    made.conjac.use_ground, made.conjac.area_density = False, 6.0
    return made


def top_of(cloth):
    """The middle of the upper edge at the last frame, in the world [m]."""
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
    jelly = add_jelly()
    jelly.conjac.method, jelly.conjac.use_ground = "vanilla", False
    low = seen_at(jelly, 1)[:, 2] < -0.09
    assert bake.bake_object(jelly) == 0
    alone = seen_at(jelly, LAST)[low, 2].mean()
    cloth = flag(0.0, -0.13)
    select(cloth, jelly)
    assert bpy.ops.conjac.add_constraint(kind="distance") == {"FINISHED"}
    cloth.conjac.constraints[0].place.location = (0.0, 0.0, -0.115)
    assert bake.bake_object(cloth) == 0
    bottom = seen_at(jelly, LAST)[low]
    assert bottom[:, 2].mean() < alone - 0.002, "it feels the weight"
    middle = bottom[np.argmin(np.linalg.norm(bottom[:, :2], axis=1))]
    assert abs(np.linalg.norm(top_of(cloth) - middle) - 0.03) < 0.02
