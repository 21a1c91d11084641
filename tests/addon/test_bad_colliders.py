"""Impossible colliders are refused in a sentence, through the bake of the button, and no frame is lost."""

import math

import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import add_ball, add_collider, balls  # noqa: E402, F401
from jelly import scene  # noqa: E402, F401

from conjac.conjac_addon import bake, compat, members  # noqa: E402


def geometry(vertices, edges=(), faces=()):
    def change(obj):
        obj.data.clear_geometry()
        obj.data.from_pydata(vertices, edges, faces)
    return change


def thick(obj):
    obj.conjac.contact.thickness = 1.0


def jumps(obj):
    for frame, height in ((1, 0.0), (2, 50.0)):
        obj.location.z = height
        obj.keyframe_insert("location", frame=frame)
    for curve in compat.fcurves(obj):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"


def around(obj):
    obj.location, obj.scale = (0.0, 0.0, 0.0), (30.0, 30.0, 30.0)


@pytest.mark.parametrize("change,words", [
    (geometry([(0, 0, 0), (1, 0, 0)], edges=[(0, 1)]), '"Wall": the mesh has no faces, only loose vertices and edges. '
                                                       "Give it faces."),
    (geometry([(0, 0, 0), (1, 0, 0), (2, 0, 0)], faces=[(0, 1, 2)]), '"Wall" has 1 faces without area'),
    (geometry([(0, 0, 0), (1, 0, 0), (0, math.nan, 0)], faces=[(0, 1, 2)]), '"Wall": 1 of its vertices have '),
    (thick, 'it is inside "Wall" at the start. Move it out; lower the Thickness of "Wall" if it has one'),
    (around, 'it is inside "Wall" at the start'),
    (jumps, '"Wall" jumps by 50 m at frame 1.5')], ids=("edges", "flat", "nan", "thick", "around", "jumps"))
def test_a_collider_that_cannot_be_is_refused_by_name(balls, scene, change, words):  # noqa: F811
    scene.frame_end = 2
    low, _ = balls
    wall = add_collider("Wall", 0.1, (0.5, 0.0, 0.1))
    before = len(wall.data.vertices)
    change(wall)
    messages = []
    assert bake.bake_object(low, report=messages.append) == 2
    assert words in messages[-1], messages
    assert bake.status(low).state == "none" and not low.modifiers
    # mended, it bakes
    wall.animation_data_clear()
    wall.location, wall.scale, wall.conjac.contact.thickness = (0.5, 0.0, 0.1), (1.0, 1.0, 1.0), 0.0
    if len(wall.data.vertices) != before:
        geometry([(0, 0, 0), (0, 1, 0), (0, 0, 1)], faces=[(0, 1, 2)])(wall)
    assert bake.bake_object(low) == 0


def test_one_object_in_two_scenes_is_simulated_in_the_present_one(balls, scene):  # noqa: F811
    low, high = balls
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(low)
    assert members.soft_bodies(low, scene) == [low, high] and members.soft_bodies(low, other) == [low]
    chosen = bpy.data.collections.new("Chosen")
    scene.collection.children.link(chosen)
    with pytest.raises(RuntimeError, match="already in collection"):
        chosen.children.link(chosen)
    # in a collection twice, by one inside, and colliding with a collection that it is in
    inner = bpy.data.collections.new("Inner")
    chosen.children.link(inner)
    for collection in (chosen, inner):
        collection.objects.link(low)
    low.conjac.contact.collides_with, low.conjac.contact.collection = "collection", chosen
    assert members.soft_bodies(low, scene) == [low]
    inner.objects.link(high)
    assert members.soft_bodies(low, scene) == [low, high]
