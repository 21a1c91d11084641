"""Elements of many bodies: one call evaluates all elements of a material."""

import numpy as np
import pytest

from solver import catalogue
from solver.assembly.elements import Elements
from solver.forces.elastic import Elastic
from solver.forces.fibers import Fibers
from solver.meshing.grid import box_tets

MATERIALS = ("stable_neo_hookean", "stable_neo_hookean", "corotational", "stable_neo_hookean", "stable_neo_hookean",
             "stable_neo_hookean")
FIBERS = 4  #: the body that has some


def six_bodies():
    """Boxes of several sizes, none of which fills its lanes: positions of all nodes, (n, 3), and elements."""
    rng, rests, bodies, count = np.random.default_rng(0), [], [], 0
    for k, name in enumerate(MATERIALS):
        nodes, tets = box_tets((1 + k % 2, 1, 1 + k % 3), (0.1, 0.2, 0.1))
        rests.append(nodes + [0.5 * k, 0.0, 0.0])
        tets = tets + count
        count += len(nodes)
        material = catalogue.find("material", name).load()
        constants = material.constants(1e4 * rng.uniform(1.0, 2.0, len(tets)), np.full(len(tets), 0.3))
        fibers = Fibers(catalogue.find("fiber_material", "astvk").load(), np.tile([1.0, 0.0, 0.0], (len(tets), 1)),
                        {"fiber_modulus": np.full(len(tets), 2e4)}) if k == FIBERS else None
        bodies.append((tets, material, constants, fibers))
    rest = np.concatenate(rests)
    elastic = [Elastic(rest, *body) for body in bodies]
    return rest + 0.02 * rng.normal(size=rest.shape), Elements(elastic, [], len(rest))


@pytest.mark.parametrize("project", [True, False])
def test_bodies_that_are_asked_together_say_what_each_says(project):
    x, elements = six_bodies()
    together, apart = np.zeros_like(x), np.zeros_like(x)
    energy = elements.measure(x, 0.0, together)
    assert energy == pytest.approx(elements.measure(x, 0.0, apart, bodies=range(6)), rel=1e-13) and energy > 0.0
    np.testing.assert_array_equal(together, apart)
    elements.fill(x, 0.0, project, together)
    blocks = elements.of_tets.copy()
    elements.of_tets[:] = np.nan
    elements.fill(x, 0.0, project, apart, bodies=range(6))
    np.testing.assert_array_equal(elements.of_tets, blocks)
    np.testing.assert_array_equal(together, apart)
    assert (elements.filled == 2).all()


def test_only_neighbours_of_one_material_without_fibers_are_asked_together():
    elements = six_bodies()[1]
    sizes = [len(body.tets) for body in elements.elastic]
    found = [len(run.tets) for run, _ in elements._runs]
    assert found == [sizes[0] + sizes[1], *sizes[2:]]
    assert [where.stop for _, where in elements._runs] == np.cumsum(found).tolist()
