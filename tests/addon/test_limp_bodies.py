"""A body that hangs by one end and is too soft to wobble gets a hint, with the button that makes it stiffer."""

import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import advised  # noqa: E402
from jelly import add_jelly, scene  # noqa: E402, F401

from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.ui import advice  # noqa: E402


def test_what_is_pinned_and_hangs_limp_has_a_hint_once_it_is_baked(scene):  # noqa: F811
    """The hint is shown while stiffness and density are those of the bake."""
    def limp():
        return [hint.text for hint in advice.look_at(obj, scene) if hint.key == "limp"]

    obj = add_jelly()
    scene.frame_end = 2
    obj.conjac.youngs_modulus, obj.conjac.wobble_half_life = 200.0, 0.75
    assert not limp()
    assert obj.conjac.bake(wait=True) == 0
    hertz = place.cache_of(place.job_folder(obj)).diagnostics.frequencies()["Jelly"]
    assert 0.1 < hertz < 1.0
    assert limp() == [f"It hangs rather than wobbles: its slowest wobble has {hertz:.2g} Hz"]
    log = advised(obj)
    assert log.count(("operator", "conjac.set_wobble")) == 3  # Fix, below the whole sentence, and under Look
    scene.use_gravity = False
    assert not limp()
    scene.use_gravity, obj.conjac.youngs_modulus = True, 2000.0
    assert not limp()
    obj.conjac.youngs_modulus = 2.0e4
    assert obj.conjac.bake(wait=True) == 0
    assert not limp()  # ten times as fast
