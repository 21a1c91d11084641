"""After a bake with shortened steps in many frames, the panel names the body and a remedy."""

import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import advised  # noqa: E402
from jelly import add_jelly, scene  # noqa: E402, F401

from conjac.conjac_addon.ui import advice  # noqa: E402


def test_shorter_steps_are_told_with_the_body_and_what_helps(scene):  # noqa: F811
    def is_hinted():
        return [hint.text for hint in advice.look_at(obj, scene) if hint.key == "halved"]

    obj = add_jelly()
    scene.frame_end = 6
    assert not is_hinted()
    obj.conjac.solver.largest_deformation = 0.5
    assert obj.conjac.bake(wait=True) == 0
    assert not is_hinted()
    obj.conjac.solver.largest_deformation = 1.0e-3
    assert obj.conjac.bake(wait=True) == 0
    [text] = is_hinted()
    assert text.startswith("Slow to bake: ") and "of 6 frames took shorter steps" in text
    assert f'"{obj.name}"' in text and "Edge Length" in text
    assert any(kind == "label" and "Slow to bake" in str(what) for kind, what, *_ in advised(obj))
