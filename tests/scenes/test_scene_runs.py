"""Stable, lively and equal, as benchmarks/conjac_scenes.py defines them."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import articulated, mechanism_scenes, scale
from benchmarks.conjac_scenes import MORE, OTHERS, STEPS, Found, Search, equal_liveliness, step_ratio
from benchmarks.run import PARTS, names
from benchmarks.scenes.motion import Motion, TimeIsUp, rest_energy, run
from benchmarks.scenes.reference import digest
from benchmarks.scenes.scene import Scene, farthest
from solver.meshing.grid import box_tets


def bar(**changed):
    """A short bar, held at its left end, that starts straight and sags."""
    nodes, tets = box_tets((6, 2, 2), (0.12, 0.04, 0.04))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    tip = [int(np.argmax(nodes @ [1.0, 0.1, 0.01]))]
    scene = Scene(nodes, tets, pinned, lambda count: farthest(nodes, np.arange(len(nodes)), tip, count), (1,), 2e4, 0.4)
    return replace(scene, **changed)


def test_every_part_that_is_named_is_one_that_can_be_run():
    assert {*PARTS["conjac_scenes"]} == {*STEPS, *OTHERS, *MORE}
    for script in (articulated, mechanism_scenes, scale):
        assert {*PARTS[script.__name__.rpartition(".")[2]]} == {*script.MEASURED}
    assert "conjac_scenes.dragon" in names() and "conjac_scenes" not in names()


def test_half_life_and_liveliness_of_a_swing_that_is_known():
    times = np.arange(0.0, 2.0, 1e-3)
    energy = 2.0 ** (-times / 0.3)
    motion = Motion(times, 0.5 * energy, energy, 1.0, True)
    assert motion.half_life == pytest.approx(0.3, rel=1e-6)
    inside = np.linspace(0.1, 1.0, 2000)
    assert motion.liveliness == pytest.approx((0.5 * 2.0 ** (-inside / 0.3)).mean(), rel=1e-3)
    assert motion.is_stable and not replace(motion, whole=False).is_stable
    assert not replace(motion, energy=np.where(times > 1, 1.1, energy)).is_stable


def test_a_run_starts_with_the_energy_of_its_pull_and_loses_it_to_damping():
    scene = bar()
    rest = rest_energy(scene)
    calm, lively = (run(scene, scene.world("vanilla", beta=beta), 5e-3, rest) for beta in (2.0, 0.6))
    assert calm.energy[0] == lively.energy[0] > 0 and calm.kinetic[0] == 0.0
    assert calm.is_stable and lively.is_stable and len(calm.times) == 201
    assert lively.liveliness > 2 * calm.liveliness and lively.half_life > 2 * calm.half_life


def test_the_smallest_stable_beta_is_found_once_and_stored(tmp_path):
    search = Search(bar(seconds=0.2), folder=tmp_path)
    found = search.smallest("vanilla", 0, 1 / 50)
    assert found is not None and search.smallest("vanilla", 0, 1 / 50) is found
    # no bound of the search: with a tenth less it is unstable
    world = search.scene.world("vanilla", beta=found.beta - 0.1)
    assert 0.1 < found.beta < 0.5 and not run(search.scene, world, 1 / 50, search.rest, to_the_end=False).is_stable
    (stored,) = tmp_path.iterdir()
    stored.write_text(stored.read_text().replace(f'"beta": {found.beta}', '"beta": 3.3'))
    assert Search(bar(seconds=0.2), folder=tmp_path).smallest("vanilla", 0, 1 / 50).beta == 3.3
    # another scene does not take it
    other = Search(bar(seconds=0.2, young=3e4), folder=tmp_path).smallest("vanilla", 0, 1 / 50)
    assert other is not None and other.beta != 3.3


def test_less_than_half_of_the_stiffness_is_unstable():
    scene = bar()
    world = scene.world("vanilla", beta=0.3)
    assert not run(scene, world, 1 / 50, rest_energy(scene), to_the_end=False).is_stable


def test_equal_liveliness_is_found_by_bisection():
    """Vanilla whose liveliness falls as 1/h, 10 ms a step: as lively as ConJac at h = 5e-3 where it says so."""
    class Known:
        def smallest(self, method, count, h):
            return Found(1.0, 10.0, 1e-6 / h, 0.1)

    lively = Found(0.5, 12.0, 1e-6 / 2e-3, 0.1)
    equal = equal_liveliness(Known(), lively, 5e-3)
    assert equal["h"] <= 2e-3 and equal["equal_at"] == pytest.approx(2e-3, rel=1e-3)
    assert equal["steps"] == pytest.approx(2.5, rel=1e-3)


def test_methods_are_timed_with_their_own_steps():
    """Medians of both, in milliseconds."""
    times = step_ratio(bar(), ("vanilla", 0, {"beta": 1.0}), ("conjac", 1, {"beta": 1.0}), (1e-2, 1e-4))
    assert 0.0 < min(times) and max(times) < 1e3


def test_a_reference_belongs_to_one_scene():
    base = bar()
    assert digest(base) == digest(bar())
    others = [bar(young=3e4), bar(pulled=base.nodes * 1.1), bar(fibers={"x": 1}), bar(seconds=2.0),
              bar(element_young=np.full(len(base.tets), 3e4))]
    assert len({digest(scene) for scene in [base, *others]}) == len(others) + 1


def test_farthest_nodes_begin_with_the_given_ones():
    nodes = np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0, 0], [0.45, 0, 0]])
    assert farthest(nodes, np.arange(4), [0], 3).tolist() == [0, 1, 3]
    assert farthest(nodes, np.arange(4), [2, 0], 1).tolist() == [2]


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    scene = bar(seconds=0.2)
    rest, part = rest_energy(scene), tmp_path / "part.npz"
    whole = run(scene, scene.world("vanilla", beta=0.6), 5e-3, rest)
    pieces = 0
    while True:
        try:
            motion = run(scene, scene.world("vanilla", beta=0.6), 5e-3, rest, part=part, until=0.0)
            break
        except TimeIsUp:
            pieces += 1
    assert pieces == 39 and not part.exists()
    assert motion.energy == pytest.approx(whole.energy, rel=1e-12) and len(motion.times) == 41
