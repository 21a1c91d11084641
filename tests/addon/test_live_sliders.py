"""Each slider acts at once on Play Live, which continues from its present state."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import rest_of, scene  # noqa: E402, F401
from played import jelly, kept_tets, play, play_until, seen, unfilled  # noqa: E402, F401


def go_on(played, seconds):
    """Play for a time of its own clock, and return positions of the first body afterwards, (n, 3)."""
    until = played.frame["time"] + seconds
    play_until(played, lambda: played.frame["time"] > until)
    return seen(played.bodies()[0])


def take(played, settings, seconds):
    """Play until other settings were applied, and for a time; return the largest jump when they were [m]."""
    before, taken = seen(played.bodies()[0]), played.frame["settings"]
    play_until(played, lambda: played.frame["settings"] == taken + settings)
    jump = np.linalg.norm(seen(played.bodies()[0]) - before, axis=1).max()
    go_on(played, seconds)
    return jump


def test_stiffness(jelly):  # noqa: F811
    played = play(jelly, 0.5)
    soft = seen(jelly)[:, 2].min()
    jelly.conjac.youngs_modulus = 1.0e6
    take(played, 1, 0.5)
    assert seen(jelly)[:, 2].min() > soft + 0.001


def test_damping(jelly):  # noqa: F811
    """A body with strong damping hardly moves when weight is added."""
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    played = play(jelly, 0.1)
    start = seen(jelly)
    jelly.conjac.mass_damping = 400.0
    take(played, 1, 0.05)
    bpy.context.scene.gravity[0] = 9.81
    braked = np.abs(go_on(played, 0.2) - start).max()
    jelly.conjac.mass_damping = 0.0
    take(played, 1, 0.3)
    assert braked < 0.3 * np.abs(seen(jelly) - start).max()


def test_gravity(jelly):  # noqa: F811
    played = play(jelly, 0.5)
    rest, low = rest_of(jelly), seen(jelly)
    bpy.context.scene.gravity[2] = 9.81
    high = go_on(played, 0.4)
    assert low[:, 2].min() < rest[:, 2].min() - 0.001 and high[:, 2].min() > rest[:, 2].min() - 0.0005
    assert played.frame["settings"] == 0  # it needs no new settings


def test_strength_of_pins(jelly):  # noqa: F811
    """A body that is painted half all over sinks by g over the stiffness of each kg."""
    jelly.vertex_groups["Pin"].add(list(range(len(jelly.data.vertices))), 0.5, "REPLACE")
    jelly.conjac.soft_pins = True
    jelly.conjac.pin_stiffness, jelly.conjac.mass_damping = 200.0, 10.0
    played = play(jelly, 0.8)
    hung = -np.mean(seen(jelly) - rest_of(jelly), axis=0)[2]
    jelly.conjac.pin_stiffness = 2000.0
    take(played, 1, 0.8)
    firm = -np.mean(seen(jelly) - rest_of(jelly), axis=0)[2]
    assert hung == pytest.approx(9.81 / 200.0, rel=0.25) and firm == pytest.approx(9.81 / 2000.0, abs=2.0e-3)


def put_on_ground(obj):
    """Prepare a body that comes to rest on the ground soon, in thick air, on a slope of 24 degrees."""
    obj.vertex_groups.remove(obj.vertex_groups["Pin"])
    obj.conjac.youngs_modulus, obj.conjac.wobble_half_life = 5.0e4, 0.1
    obj.conjac.use_ground, obj.conjac.ground_height = True, -0.1
    obj.conjac.friction, obj.conjac.friction_coefficient = "coulomb", 0.9
    bpy.context.scene.gravity = (4.0, 0.0, -9.0)


def test_friction_of_the_ground(jelly):  # noqa: F811
    """At 0.9 it stays on a slope of 24 degrees; without friction it slides down."""
    put_on_ground(jelly)
    played = play(jelly, 0.3)
    at = seen(jelly)[:, 0].mean()
    stays = go_on(played, 0.3)[:, 0].mean() - at
    jelly.conjac.friction_coefficient = 0.0
    take(played, 1, 0.3)
    slides = seen(jelly)[:, 0].mean() - at - stays
    assert abs(stays) < 0.03 < 0.09 < slides, (stays, slides)


def test_friction_of_the_body(jelly):  # noqa: F811
    """It slides on a collider when its own friction becomes zero."""
    put_on_ground(jelly)
    jelly.conjac.use_ground = False
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(0.0, 0.0, -1.1))
    bpy.ops.conjac.add_collider()
    jelly.conjac.contact.collides_with, jelly.conjac.contact.friction = "all", 0.9
    bpy.context.view_layer.objects.active = jelly
    bpy.context.view_layer.update()
    played = play(jelly, 0.3)
    at = seen(jelly)[:, 0].mean()
    stays = go_on(played, 0.3)[:, 0].mean() - at
    jelly.conjac.contact.friction = 0.0
    take(played, 1, 0.3)
    slides = seen(jelly)[:, 0].mean() - at - stays
    assert abs(stays) < 0.03 < 0.09 < slides, (stays, slides)


def test_pressure(scene):  # noqa: F811
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.2)
    bag = bpy.context.object
    bpy.ops.conjac.add_cloth()
    bag.conjac.use_ground, bpy.context.scene.gravity = False, (0.0, 0.0, 0.0)
    played = play(bag, 0.15)
    wide = np.ptp(seen(bag), axis=0).mean()
    bag.conjac.pressure = 800.0
    take(played, 1, 0.3)
    assert np.ptp(seen(bag), axis=0).mean() > wide + 0.002
    played.stop()
