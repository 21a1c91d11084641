"""The panel says that a baked body goes through itself, and a button switches on what keeps it from that."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import scene  # noqa: E402, F401

from benchmarks.half_life_band import block, boxes  # noqa: E402
from benchmarks.landings import added  # noqa: E402
from conjac.conjac_addon.ui import advice, through_itself  # noqa: E402

CELL = 0.05  #: [m]


def clamp():
    """Two arms above each other, of which the lower one and what joins them are pinned: the upper one falls."""
    surface = boxes([*{*block(1, 1, 3), *block(5, 1, 1), *block(5, 1, 1, (0, 0, 2))}], CELL)
    obj = added("Clamp", surface, 0.0)
    at = np.array(surface[0])
    obj.vertex_groups.new(name="Pin").add(np.flatnonzero((at[:, 2] < 1.5 * CELL) | (at[:, 0] < 0.5 * CELL)).tolist(),
                                          1.0, "REPLACE")
    settings = obj.conjac
    settings.enabled, settings.edge_length, settings.step = True, CELL, 1 / 48
    settings.youngs_modulus, settings.contact.collides_with = 1.0e4, "all"
    return obj


@pytest.mark.long
def test_what_falls_through_itself_is_told_and_mended_by_a_button(scene):  # noqa: F811
    def told():
        return [one for one in advice.look_at(obj, scene) if one.key == "itself"]

    scene.frame_end = 4
    obj = clamp()
    assert not told()
    assert obj.conjac.bake(wait=True) == 0
    for _ in range(100):  # a look lasts a moment
        crossing, examined = through_itself.frames(obj)
        if examined == 4:
            break
    assert 0 < crossing < examined  # it begins apart
    [found] = told()
    assert f"in {crossing} of 4 baked frames" in found.text and found.operator == "conjac.collide_with_itself"
    assert bpy.ops.conjac.collide_with_itself() == {"FINISHED"}
    assert obj.conjac.contact.itself and not told()


def test_triangles_that_share_a_vertex_do_not_count():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.2, -1], [0.5, 0.8, -1], [0.5, 0.5, 1]],
                      np.float32)
    triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])
    assert len(through_itself.crossing_pairs(square, triangles)) == 2
    square[4:, 0] += 2.0
    assert not len(through_itself.crossing_pairs(square, triangles))
