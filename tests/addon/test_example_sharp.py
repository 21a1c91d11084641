"""Scenes of cloth with Sharp Edges, through the command line's handler: no frame has cloth in a collider or
through itself."""

import pytest

bpy = pytest.importorskip("bpy")

from jelly import scene  # noqa: E402, F401
from sound_sheets import findings  # noqa: E402

from conjac.conjac_addon.bake import cli, place  # noqa: E402
from conjac.examples_blend import build  # noqa: E402


@pytest.mark.long
@pytest.mark.parametrize("name,cloth,last", [("nails", "Silk", 12), ("throw", "Silk", 20), ("push", "Curtain", 24),
                                             ("jaws", "Silk", 28), ("friction", "Rough Silk", 24),
                                             ("tablecloth", "Tablecloth", 22),
                                             ("lo_res", "Sharp", 24)])
def test_no_cloth_is_in_a_collider_or_through_itself_and_no_triangle_is_thin(scene, tmp_path, name, cloth, last):  # noqa: F811
    build.build(name, tmp_path)
    scene = bpy.context.scene
    scene.frame_end = last
    assert cli.run(["bake"]) == 0
    seen = 0
    for frame, body, _, deep, angle, _, through in findings(place.job_folder(scene.objects[cloth])):
        seen += body == cloth
        assert deep <= 1e-4 and angle > 2.0 and not through, (frame, body)
    assert seen == last
