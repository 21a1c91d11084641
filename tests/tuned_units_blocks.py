"""Small systems in which tuned constants of the reuse of stiffness blocks steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np

from solver.nonlinear.reused_blocks import ReferenceShapes, ReusedBlocks


class Elements:
    """Tetrahedra side by side, of which the first are stretched."""

    def __init__(self, count=10):
        self.rest = np.concatenate([np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]) + [2.0 * k, 0, 0]
                                    for k in range(count)])
        self.pattern = SimpleNamespace(position=np.arange(len(self.rest)),
                                       tets=np.arange(4 * count, dtype=np.int32).reshape(-1, 4))

    def stretched(self, by, count):
        x = self.rest.copy()
        x[3:4 * count:4, 2] += by
        return x


def elements_that_are_strained():
    """Numbers of elements whose stiffness is evaluated again where one edge changed by so much."""
    elements = Elements()
    shapes = ReferenceShapes.of(elements.pattern, elements.rest)
    shapes.take_all(elements.rest)
    return [len(shapes.find_strained(elements.stretched(by, 1))) for by in (0.1, 1.0)]


def strained_elements_beyond_which_all_are_evaluated():
    """Whether the others are reused where one and six of ten elements are strained."""
    elements, blocks = Elements(), ReusedBlocks()
    stage, filled = SimpleNamespace(has_equal_weights=lambda other: True), np.zeros(1, np.int64)
    lin = SimpleNamespace(x=elements.rest, node_blocks=np.zeros((len(elements.rest), 3, 3)), others=None)
    blocks.take(stage, None, filled, lin, elements.pattern, elements.rest)
    return [blocks.find_strained(stage, None, filled, elements.stretched(5.0, count)) is not None for count in (1, 6)]


UNITS = (elements_that_are_strained, strained_elements_beyond_which_all_are_evaluated)
