"""Follow from the panel on: a body follows an object by the chosen fraction, keyframes included."""

import bpy
import pytest
from drawn_panels import Context, FakeLayout
from gathered_jobs import gathered
from jelly import add_jelly, rest_of, scene, seen_at  # noqa: F401

from conjac.conjac_addon import bake

LAST, FAR = 12, 0.6  #: frame, and where the object is then [m]


def add_cart(scale=1.0):
    """Add an Empty that accelerates along X."""
    cart = bpy.data.objects.new("Cart", None)
    cart.scale = (scale,) * 3
    bpy.context.scene.collection.objects.link(cart)
    for frame in range(1, LAST + 1):
        cart.location.x = FAR * ((frame - 1) / (LAST - 1)) ** 2
        cart.keyframe_insert("location", frame=frame)
    return cart


def add_free_jelly(scene):  # noqa: F811
    scene.frame_end = LAST
    scene.use_gravity = False
    obj = add_jelly()
    obj.conjac.method, obj.conjac.use_ground = "vanilla", False
    obj.vertex_groups.clear()
    return obj


def moved(obj, frame=LAST):
    return (seen_at(obj, frame) - rest_of(obj)).mean(axis=0)


@pytest.mark.parametrize("percent, fraction", [(0.0, 0.0), (40.0, 0.4), (100.0, 1.0)])
def test_it_goes_along_by_as_much_as_is_chosen(scene, percent, fraction):  # noqa: F811
    obj = add_free_jelly(scene)
    obj.conjac.follow_object, obj.conjac.follow_share = add_cart(), percent
    assert obj.conjac.bake(wait=True) == 0
    assert moved(obj) == pytest.approx([fraction * FAR, 0.0, 0.0], abs=5e-3)
    assert bake.status(obj).state == "complete"
    obj.conjac.follow_share = 70.0
    assert "Follow" in bake.status(obj).text


def test_keyframes_of_it_are_read(scene):  # noqa: F811
    obj = add_free_jelly(scene)
    obj.conjac.follow_object = add_cart()
    for frame, percent in ((1, 100.0), (6, 100.0), (7, 0.0)):
        obj.conjac.follow_share = percent
        obj.keyframe_insert("conjac.follow_share", frame=frame)
    assert obj.conjac.bake(wait=True) == 0
    early, late = moved(obj, 6)[0], moved(obj)[0]
    cart = bpy.data.objects["Cart"]
    scene.frame_set(6)
    assert early == pytest.approx(cart.location.x, abs=5e-3)
    # let go it keeps its speed, and is no faster any more
    assert early + 0.2 < late < FAR - 0.05
    assert bake.status(obj).state == "complete", bake.status(obj).text


def test_nothing_is_written_where_nothing_is_followed(scene, tmp_path):  # noqa: F811
    obj = add_free_jelly(scene)
    assert gathered(obj, tmp_path / "none")[0].bodies[0].follow is None
    obj.conjac.follow_object = add_cart()
    document, array = gathered(obj, tmp_path / "all")
    follow = document.bodies[0].follow
    assert follow.share == 1.0
    assert array(follow.motion)[-1][0, 3] == pytest.approx(FAR, abs=1e-6)


def test_an_object_that_is_switched_off_is_refused_by_name(scene):  # noqa: F811
    obj = add_free_jelly(scene)
    cart = obj.conjac.follow_object = add_cart()
    cart.hide_viewport = True
    messages = []
    assert bake.bake_object(obj, report=messages.append) == 2
    assert any('"Cart"' in text and '"Jelly" follows it' in text for text in messages), messages


def test_the_fraction_is_drawn_once_there_is_an_object(scene):  # noqa: F811
    from conjac.conjac_addon.ui import holding
    obj, log = add_free_jelly(scene), []
    holding.draw(FakeLayout(log), Context(obj))
    assert ("prop", "follow_object") in log and ("prop", "follow_share") not in log
    obj.conjac.follow_object = add_cart()
    holding.draw(FakeLayout(log), Context(obj))
    assert ("prop", "follow_share") in log
