"""Suggested dynamic nodes: where the body swings most, apart from each other, and never where it is held."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_jobs import box_job, box_tets, change, write_job

from benchmarks import impacts
from solver.build.fields import prepare
from solver.build.suggest import suggest, vibration
from solver.build.volumes import volumes_of
from solver.build.world import build
from solver.errors import BadInput
from solver.fields import suggest as fields_suggest
from solver.fields.suggest import farthest_nodes, scale_to_equal_energy
from solver.job.load import load

LENGTH, EDGE = 0.4, 0.025
NONE = np.zeros(0, np.int32)


def silent(*_):
    pass


def bar(folder, choose_pinned, dynamic=(), cells=(16, 4, 4), **body):
    """A bar along x of 16 × 4 × 4 cells, pinned where `choose_pinned(x)`; the job and the prepared body."""
    nodes, tets = box_tets(cells, tuple(LENGTH * c / cells[0] for c in cells))
    arrays = {"nodes": nodes, "tets": tets, "pinned": np.flatnonzero(choose_pinned(nodes)).astype(np.int32),
              "dynamic": np.array(dynamic, np.int32)}
    body = {"name": "Bar", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "pin": {"nodes": "arrays/pinned.npy"}, **body}
    if len(dynamic):
        body["dynamic"] = {"nodes": "arrays/dynamic.npy"}
    time = {"start": 1, "end": 2, "fps": 24, "step": 1 / 96}
    job = load(write_job(folder, {"version": 1, "name": "bar", "time": time, "bodies": [body]}, arrays))
    volume, = volumes_of(job, silent)
    return job, prepare(job, job.scene.bodies[0], volume, silent)


def at_left(nodes):
    return nodes[:, 0] < 1e-9


def at_middle(nodes):
    return np.abs(nodes[:, 0] - LENGTH / 2) < 1e-9


def test_one_node_of_a_clamped_bar_is_near_its_free_end(tmp_path):
    (x, y, z), = suggest(*bar(tmp_path, at_left), 1)
    assert 0.75 * LENGTH < x < LENGTH and (y, z) == pytest.approx((0.05, 0.05))


def test_two_nodes_of_a_bar_pinned_in_the_middle_are_at_both_ends(tmp_path):
    x = np.sort(suggest(*bar(tmp_path, at_middle), 2)[:, 0])
    assert x == pytest.approx([EDGE, LENGTH - EDGE])


def test_a_bar_that_nothing_holds_gets_its_ends_too(tmp_path):
    x = np.sort(suggest(*bar(tmp_path, lambda nodes: nodes[:, 0] < -1.0), 2)[:, 0])
    assert x.sum() == pytest.approx(LENGTH) and x[0] < 0.15 * LENGTH


@pytest.mark.parametrize("count", [3, 8])
def test_nodes_keep_their_distance_and_are_inside_and_free(tmp_path, count):
    job, prepared = bar(tmp_path, at_left)
    points = suggest(job, prepared, count)
    away = np.linalg.norm(points[:, None] - points[None], axis=-1)[~np.eye(count, dtype=bool)]
    room = np.cbrt(LENGTH * 0.1**2 / count)
    assert away.min() > 0.5 * 0.5 * room and away.min() > 1.2 * EDGE  # along edges it is farther than straight
    assert (points > 0.5 * EDGE).all() and (points[:, 1:] < 0.1 - 0.5 * EDGE).all()
    if count < 8:
        np.testing.assert_array_equal(points, suggest(job, prepared, count))


def test_those_there_already_count(tmp_path, monkeypatch):
    monkeypatch.setattr(fields_suggest, "AS_GOOD", 0.0)  # one by one
    job, prepared = bar(tmp_path / "one", at_left)
    first, second = suggest(job, prepared, 2)
    there = int(np.argmin(np.linalg.norm(prepared.volume.nodes - first, axis=1)))
    point, = suggest(*bar(tmp_path / "two", at_left, dynamic=[there]), 1)
    assert point == pytest.approx(second) and np.linalg.norm(point - first) > 2 * EDGE


def test_a_thin_tip_that_swings_most_is_not_picked():
    """It takes nothing along: the node in the middle of all that mass does."""
    nodes, tets = box_tets((8, 4, 4), (0.8, 0.4, 0.4))
    swing = np.zeros((len(nodes), 3, 2))
    swing[:, 0, 0] = 0.5  # all of the body
    tip = (nodes[:, 0] > 0.65) & (np.abs(nodes[:, 1:] - 0.2) < 0.05).all(axis=1)
    swing[tip, 0, 0], swing[tip, 1, 1] = 0.0, 1.0
    mass = np.where(tip, 0.01, 1.0)
    node, = farthest_nodes(nodes, tets, mass, swing, 1, NONE, NONE)
    assert not tip[node]


def test_the_modes_are_those_of_a_beam(tmp_path):
    """λ of the first bending against Euler and Bernoulli, two of them in a square bar; what is held stands still."""
    job, prepared = bar(tmp_path, at_left, cells=(32, 4, 4),
                        material={"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e5, "poisson_ratio": 0}})
    shapes, stiffness, mass = vibration(job, prepared, 4)
    side = LENGTH / 8
    beam = 1.8751**4 * 1e5 * side**4 / 12 / (1000 * side**2 * LENGTH**4)
    # linear tetrahedra bend too stiffly, and the way each cell is cut tells the two apart
    assert (beam < stiffness[:2]).all() and (stiffness[:2] < 1.3 * beam).all() and stiffness[2] > 20 * beam
    assert not shapes[prepared.fields.pinned].any()
    assert np.einsum("k,kcs,kct->st", mass, shapes, shapes) == pytest.approx(np.eye(4), abs=1e-8)


def test_more_than_there_is_room_for_is_refused(tmp_path):
    job, prepared = bar(tmp_path, at_left)
    with pytest.raises(BadInput) as caught:
        suggest(job, prepared, 300)
    text = str(caught.value)
    assert text.startswith('"Bar": it has room for ') and "not for 300. Ask for fewer, or lower the edge length" in text
    room = int(text.split("room for ")[1].split()[0])
    assert 8 < room < 300


def test_what_moves_without_deforming_counts_as_the_slowest_swing():
    rows = scale_to_equal_energy(np.ones((2, 3, 4)), np.array([0.0, 1e-9, 4.0, 16.0]))
    assert rows[0, 1] == pytest.approx([0.5, 0.5, 0.5, 0.25])


def test_equal_nodes_are_taken_in_their_order():
    nodes, tets = box_tets((8, 2, 2), (0.8, 0.2, 0.2))
    swing = (nodes[:, :1] - 0.4) * (1 + 1e-9 * nodes[:, :1])
    node, = farthest_nodes(nodes, tets, np.ones(len(nodes)), swing[:, :, None] * np.ones((3, 1)), 1,
                           NONE, NONE)
    assert nodes[node] == pytest.approx([0.1, 0.1, 0.1])


def test_neighbours_and_pinned_nodes_are_not_picked_however_much_they_swing():
    nodes, tets = box_tets((8, 4, 4), (0.8, 0.4, 0.4))
    first, beside, pinned, far = (int(np.argmin(np.linalg.norm(nodes - place, axis=1))) for place in
                                ((0.6, 0.2, 0.2), (0.7, 0.2, 0.2), (0.2, 0.2, 0.2), (0.1, 0.2, 0.2)))
    swing = np.zeros((len(nodes), 3, 4))
    for mode, (node, much) in enumerate(((first, 4.0), (beside, 3.0), (pinned, 2.0), (far, 1.0))):
        swing[node, :, mode] = much
    picked = farthest_nodes(nodes, tets, np.ones(len(nodes)), swing, 2, np.array([pinned], np.int32), NONE)
    assert picked.tolist() == [first, far]


def test_what_one_node_shows_is_shown_by_no_other():
    """Half of the body swings much in one mode, the other half little in another: the second node is for that one."""
    nodes, tets = box_tets((16, 4, 4), (1.6, 0.4, 0.4))
    left = nodes[:, 0] < 0.75
    swing = np.zeros((len(nodes), 3, 6))
    for axis in range(3):
        swing[left, axis, axis] = 2.0
        swing[~left, axis, 3 + axis] = 1.0
    picked = farthest_nodes(nodes, tets, np.ones(len(nodes)), swing, 2, NONE, NONE)
    assert left[picked].tolist() == [True, False]


def test_a_job_may_leave_its_spots_to_be_found(tmp_path):
    """As many as there is room for, around places that the verb `suggest` finds; what has any of its own keeps it."""
    job = box_job(tmp_path / "job", end=2, cells=(8, 4, 4), method={"kind": "conjac", "params": {}})
    change(job, "bodies.0.spot", {"kind": "turn", "params": {}})
    alone = build(load(job), silent)[1][0].fields
    change(job, "bodies.0.dynamic.suggested", 2)
    assert not alone.patches and len(alone.dynamic) == 1
    chosen = build(load(job), silent)[1][0].fields
    np.testing.assert_array_equal(chosen.dynamic, alone.dynamic)
    change(job, "bodies.0.dynamic", {"suggested": 2})
    one = build(load(job), silent)[1][0]
    assert len(one.fields.patches) == 2 and not len(one.fields.dynamic)
    middles = np.array([one.volume.nodes[patch.nodes].mean(axis=0) for patch in one.fields.patches])
    assert middles[:, 0].max() > 0.12  # near the free end
    assert one.fields.notes == ("nothing of it is painted as Dynamic: it has 2 spots that move where it swings most",)
    change(job, "bodies.0.method", {"kind": "conjac", "params": {}})  # of its own, as each of several bodies has it
    own = build(load(job), silent)[1][0].fields
    assert [patch.nodes.tolist() for patch in own.patches] == [patch.nodes.tolist() for patch in one.fields.patches]
    change(job, "bodies.0.method", None)
    change(job, "bodies.0.dynamic.suggested", 12)
    many = build(load(job), silent)[1][0].fields
    assert 2 <= len(many.patches) < 12
    change(job, "method", {"kind": "vanilla", "params": {}})
    assert not build(load(job), silent)[1][0].fields.patches


def mirrors_itself(points, axis, middle, near=1e-9):
    """Whether each point has another one, or itself, on the other side of a plane across an axis."""
    image = points.copy()
    image[:, axis] = 2 * middle - image[:, axis]
    return np.linalg.norm(points[:, None] - image[None], axis=-1).min(axis=0).max() <= near


def block(folder, choose_pinned=lambda nodes: nodes[:, 0] < -1.0):
    """Return a block of 0.4 × 0.3 × 0.25 m, one corner at the origin."""
    return bar(folder, choose_pinned, cells=(8, 6, 5))


@pytest.mark.parametrize("count", [2, 4, 7, 8])
def test_what_mirrors_itself_gets_places_that_do(tmp_path, count):
    free = suggest(*block(tmp_path / "free"), count)
    assert mirrors_itself(free, 0, 0.2) and mirrors_itself(free, 1, 0.15)
    pinned = suggest(*block(tmp_path / "pinned", at_left), count)
    assert mirrors_itself(pinned, 1, 0.15) and not mirrors_itself(pinned, 0, 0.2)


def test_a_body_that_is_turned_is_mirrored_by_its_own_axes(tmp_path):
    job, prepared = block(tmp_path, at_left)
    shapes, stiffness, mass = vibration(job, prepared, 30)
    turn = Rotation.from_euler("zx", [0.4, 0.7]).as_matrix()
    swing = np.einsum("ij,kjs->kis", turn, scale_to_equal_energy(shapes, stiffness))
    nodes, tets = prepared.volume.nodes, prepared.volume.tets
    picked = farthest_nodes(nodes @ turn.T, tets, mass, swing, 6, prepared.fields.pinned, NONE)
    assert mirrors_itself(nodes[picked], 1, 0.15)


@pytest.mark.long
def test_a_head_has_places_left_and_right(tmp_path):
    """Whose two halves are meshed in different ways."""
    shape = impacts.suzanne()
    job = impacts.built(tmp_path, shape.nodes, shape.tets, impacts.QUICK)
    prepared = prepare(job, job.scene.bodies[0], volumes_of(job, silent)[0], silent)
    points = suggest(job, prepared, 6)
    assert mirrors_itself(points, 0, 0.0, near=0.05)
    assert np.ptp(points[:, 0]) > 0.5  # its ears


def test_places_that_mirror_each_other_are_left_where_they_tell_much_less():
    """One node at an end of a bar, not in its middle, which stands still as it turns."""
    nodes, tets = box_tets((8, 4, 4), (0.8, 0.4, 0.4))
    swing = ((nodes[:, :1] - 0.4)[:, :, None]) * np.ones((3, 1))
    node, = farthest_nodes(nodes, tets, np.ones(len(nodes)), swing, 1, NONE, NONE)
    assert abs(nodes[node, 0] - 0.4) == pytest.approx(0.3)
