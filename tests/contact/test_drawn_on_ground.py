"""The drawn surface of a body stands on the ground, however far its mesh stands out of its tetrahedra."""

import numpy as np
import pytest
from small_jobs import write_job
from touching import QUICK, VANILLA, box, hollow, resumed_alike, soft
from worlds import nodes_of

from solver.contact.find.ground import Ground
from solver.embedding.above_ground import BELOW, AboveGround
from solver.frames.read import Cache
from solver.job.load import load

H, SIZE = 1 / 48, 0.2
FAR, NEAR = 8e-3, 3e-3  #: how far the mesh stands out of its tetrahedra [m]: more, and less, than the ground knows
LEVEL = np.array([0.0, 0.0, 1.0])
NONE = np.zeros(0, dtype=np.int32)


def block_job(folder, low=0.02, out=FAR, modulus=1e5):
    """A cube whose mesh stands so far out of its tetrahedra [m] and begins at a height [m] over the ground."""
    nodes, tets = box((4,) * 3, (SIZE - 2 * out,) * 3, (out - SIZE / 2, out - SIZE / 2, low + out))
    arrays = {}
    arrays["vertices"], arrays["faces"] = hollow((SIZE,) * 3, (-SIZE / 2, -SIZE / 2, low))
    body = soft("Block", nodes, tets, arrays, modulus=modulus, surface={
        "vertices": "arrays/vertices.npy", "triangles": "arrays/faces.npy"})
    ground = {"stiffness": 1000.0, "stiffness_per_area": 3.27e7, "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    scene = {"version": 1, "name": "block", "time": {"start": 1, "end": 25, "fps": 24, "step": H}, "bodies": [body],
             "ground": ground, "gravity": [0.0, 0.0, -9.81], "method": VANILLA, **QUICK}
    return write_job(folder, scene, arrays)


def block(folder, **how):
    """The part of `block_job`."""
    return nodes_of(load(block_job(folder, **how)))


def frames(part, count):
    """Return the drawn vertices of each frame, (count, v, 3), and the nodes at the last one."""
    state, drawn = part.initial_state(), []
    for frame in range(1, count + 1):
        drawn.append(part.output(state, frame))
        state = part.step(part.step(state, H), H)
    return np.array(drawn), part.nodes_at(state)[0]


def test_what_lands_is_drawn_on_the_ground(tmp_path):
    part = block(tmp_path)
    drawn, nodes = frames(part, 12)
    carried = part.bodies_in_world[0].embedding.apply(nodes)
    assert carried[:, 2].min() < -0.5 * FAR, "its mesh rides below the ground"
    assert drawn[..., 2].min() >= -BELOW
    assert drawn[0, :, 2].min() == pytest.approx(0.02, abs=1e-12), "in the air it is where its tetrahedra carry it"


@pytest.mark.parametrize("out", [NEAR, -NEAR])
@pytest.mark.parametrize("low", [0.0, -1e-4])
def test_what_begins_on_the_ground_or_a_hair_in_it_starts_where_it_was_placed(tmp_path, low, out):
    drawn, _ = frames(block(tmp_path, low=low, out=out, modulus=2e6), 4)
    assert drawn[0, :, 2].min() == pytest.approx(low, abs=1e-12)
    assert drawn[..., 2].min() >= low - BELOW
    assert np.abs(np.diff(drawn[:2], axis=0)).max() < 2e-3 * SIZE, "it begins with no jump"


def test_layers_below_the_ground_keep_their_order_and_pins_their_place():
    ground = Ground(np.zeros(3), LEVEL)
    deep = np.array([-0.02, -0.004, -1e-4, 0.0, 1e-4])
    points = np.outer(deep, LEVEL)
    above = AboveGround(ground, np.zeros((5, 3)), NONE, 1 / 24)
    z = above.apply(points, 3)[:, 2]
    assert (np.diff(z) > 0.0).all() and z[0] > -BELOW
    assert (z[3:] == deep[3:]).all()
    pinned = AboveGround(ground, np.zeros((5, 3)), np.array([0]), 1 / 24).apply(points, 3)[:, 2]
    assert pinned[0] == deep[0] and pinned[1] == z[1]


def test_a_ground_that_rises_takes_along_what_is_drawn_and_what_a_cut_has_added():
    class Rising:
        moves = True

        def at(self, time):
            return np.array([0.0, 0.0, 0.24 * time])

    ground = Ground(np.zeros(3), LEVEL, motion=Rising())
    above = AboveGround(ground, np.zeros((1, 3)), NONE, 1 / 24)
    assert above.apply(np.zeros((2, 3)), 10)[:, 2] == pytest.approx(0.1, abs=BELOW)


def test_a_cache_has_it_and_a_resumed_bake_the_same_bytes(tmp_path):
    whole, resumed = (block_job(tmp_path / name) for name in ("whole", "resumed"))
    resumed_alike([whole, resumed], 7, 13)
    cache = Cache(load(whole).cache)
    assert min(cache.vertices(frame)[:, 2].min() for frame in range(1, 14)) > -2.0 * BELOW
