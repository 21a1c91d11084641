"""The panel reports a baked body that intersects itself, and a button enables Self Collision."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import rest_of, scene  # noqa: E402, F401

from benchmarks.half_life_band import block, boxes  # noqa: E402
from benchmarks.landings import added  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.gather import write_job  # noqa: E402
from conjac.conjac_addon.ui import advice, through_itself  # noqa: E402
from conjac.solver.frames.write import FrameStore  # noqa: E402
from conjac.solver.job import hashes  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402

CELL = 0.05  #: [m]


def clamp():
    """Return two arms above each other, joined at one end."""
    obj = added("Clamp", boxes([*{*block(1, 1, 3), *block(5, 1, 1), *block(5, 1, 1, (0, 0, 2))}], CELL), 0.0)
    settings = obj.conjac
    settings.enabled, settings.contact.collides_with = True, "all"
    return obj


def bake_by_hand(obj, present):
    """Write a cache like the solver's: the end of the upper arm goes down through the lower one, and stays."""
    present.frame_start, present.frame_end = 1, 4
    folder = place.job_folder(obj)
    write_job(obj, present, folder)
    job = load(folder)
    rest = rest_of(obj)
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), [(job.scene.bodies[0].name, 0, len(rest))], backend="by hand", first=1)
    upper = (rest[:, 2] > 1.5 * CELL) * np.maximum(rest[:, 0] - CELL, 0.0)
    for frame, down in zip(range(1, 5), (0.0, 0.1, 0.6, 0.6)):
        store.write(frame, rest - down * upper[:, None] * [0.0, 0.0, 1.0])


def test_what_falls_through_itself_has_a_hint_and_a_button_that_mends_it(scene):  # noqa: F811
    def hints():
        return [hint for hint in advice.look_at(obj, scene) if hint.key == "itself"]

    obj = clamp()
    assert not hints()
    bake_by_hand(obj, scene)
    for _ in range(100):  # a look lasts a moment
        crossing, examined = through_itself.frames(obj)
        if examined == 4:
            break
    assert (crossing, examined) == (2, 4)
    [hint] = hints()
    assert "in 2 of 4 baked frames" in hint.text and hint.operator == "conjac.collide_with_itself"
    assert bpy.ops.conjac.collide_with_itself() == {"FINISHED"}
    assert obj.conjac.contact.itself and not hints()


def test_triangles_that_share_a_vertex_do_not_count():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.2, -1], [0.5, 0.8, -1], [0.5, 0.5, 1]],
                      np.float32)
    triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])
    assert len(through_itself.crossing_pairs(square, triangles)) == 2
    square[4:, 0] += 2.0
    assert not len(through_itself.crossing_pairs(square, triangles))
