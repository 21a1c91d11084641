"""Energy that friction at Coulomb's limit could give each body, to which what is left of a stage is compared."""

from types import SimpleNamespace

import numpy as np
import pytest

from solver.contact.laws.embedded import EmbeddedFriction, EmbeddedVertices
from solver.contact.laws.lagged_friction import LaggedFriction
from solver.world.in_contact import Selection, friction_limits


def of_pairs(nodes, load):
    count = len(nodes)
    weights = np.tile([1.0, 0.0, 0.0, -1.0], (count, 1))
    return LaggedFriction(np.array(nodes, dtype=np.int32), weights, np.zeros((count, 4, 3)),
                          np.zeros((count, 3)), np.array(load), 1e-3, np.zeros((12, 3)), 0.01)


def bodies(*sizes_and_masses):
    numbers = np.repeat(np.arange(len(sizes_and_masses)), [size for size, _ in sizes_and_masses])
    mass = np.concatenate([np.full(size, whole / size) for size, whole in sizes_and_masses])
    return SimpleNamespace(mass=mass, bodies_in_world=[*sizes_and_masses], body_numbers=numbers,
                           coordinates=SimpleNamespace(prescribed=np.zeros(0, dtype=np.int32)))


def test_each_body_counts_by_its_own_mass_and_pairs():
    # a light one on a heavy one, and one of a ton that touches nothing
    friction = of_pairs([(0, 4, 5, 6), (1, 5, 6, 7)], [2.0, 3.0])
    soft = bodies((4, 2.0), (4, 50.0), (4, 1000.0))
    assert friction_limits(soft, [friction]).energy == pytest.approx(25.0 / 4.0 + 25.0 / 100.0, rel=1e-12)
    assert friction_limits(soft, [friction], Selection([1, 2])).energy == pytest.approx(25.0 / 100.0, rel=1e-12)


def test_of_what_lies_on_something_the_nodes_count_that_friction_acts_on():
    friction = of_pairs([(0, 4, 5, 6), (1, 5, 6, 7)], [2.0, 0.0])
    soft = bodies((4, 2.0), (4, 50.0), (4, 1000.0))
    assert friction_limits(soft, [friction]).nodes.all()
    assert np.flatnonzero(friction_limits(soft, [friction], is_on_ground=True).nodes).tolist() == [0, 6]
    # the second is an obstacle, or hangs on a pin
    for prescribed in ([4, 5, 6, 7], [7]):
        soft.coordinates.prescribed = np.array(prescribed)
        assert np.flatnonzero(friction_limits(soft, [friction]).nodes).tolist() == [0, 6]
    soft.coordinates.prescribed = np.array([8])
    assert friction_limits(soft, [friction]).nodes.all()


def test_vertices_in_elements_give_their_nodes_all_of_it():
    embedded = EmbeddedVertices(np.array([(4, 5, 6, 7)], dtype=np.int32), np.array([(0.1, 0.2, 0.3, 0.4)]), 8)
    friction = EmbeddedFriction(of_pairs([(0, 1, 2, 8)], [5.0]), embedded)
    limits = np.zeros(8)
    friction.add_limits(limits)
    assert limits == pytest.approx([5.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0], rel=1e-12)
