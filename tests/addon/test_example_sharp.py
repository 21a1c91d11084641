"""Scenes of cloth with Sharp Edges, through the command line's handler: no frame has cloth in a collider or
through itself."""

from collections import Counter

import pytest

bpy = pytest.importorskip("bpy")

from jelly import scene  # noqa: E402, F401
from sound_sheets import findings  # noqa: E402

from conjac.conjac_addon.bake import cli, place  # noqa: E402
from conjac.examples_blend import build  # noqa: E402

LAST = {"tablecloth": 22}  #: frame, where it is not the scene's: it takes too long


@pytest.mark.long
@pytest.mark.parametrize("name,cloths", [("edge", ["Silk"]), ("nails", ["Smooth Silk", "Rough Silk"]),
                                         ("throw", ["Silk"]), ("push", ["Curtain"]), ("jaws", ["Silk"]),
                                         ("friction", ["Rough Silk", "Smooth Silk"]), ("towel", ["Towel"]),
                                         ("tablecloth", ["Tablecloth"]), ("lo_res", ["Sharp"]),
                                         ("cloak", ["Cloak"])])
def test_no_cloth_is_in_a_collider_or_through_itself_and_no_triangle_is_thin(scene, tmp_path, name, cloths):  # noqa: F811
    """To each scene's last frame, but for LAST."""
    build.build(name, tmp_path)
    scene = bpy.context.scene
    scene.frame_end = LAST.get(name, scene.frame_end)
    assert cli.run(["bake"]) == 0
    seen = Counter()
    for frame, body, _, deep, angle, _, through in findings(place.job_folder(scene.objects[cloths[0]])):
        seen[body] += 1
        assert deep <= 1e-4 and angle > 2.0 and not through, (frame, body, deep, angle, through)
    assert [seen[one] for one in cloths] == [scene.frame_end] * len(cloths)
