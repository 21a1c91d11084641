"""BDF2 continues while a few contact nodes of a sliding body come and go, and restarts after a landing."""

from dataclasses import replace

import numpy as np
from bodies import box, make

from solver.simulate import advance

H = 1 / 48


class Counting:
    """The integrator with which a step restarts, with the number of its calls."""

    def __init__(self, starter):
        self.starter, self.times = starter, 0

    def step(self, *asked):
        self.times += 1
        return self.starter.step(*asked)


def moved(world, state, steps):
    sets = [tuple(world.touching(state))]
    for k in range(steps):
        state = advance(world, replace(state, time=k * H), H, k)
        sets.append(tuple(world.touching(state)))
    return state, sets


def counted(height, steps, push):
    """Return the number of restarts of BDF2, and the nodes in contact before and after each step, of a block dropped
    from a height [m] and pushed once it rests."""
    nodes, tets = box((6, 4, 3), (0.3, 0.2, 0.15))
    world = make(nodes + [0.0, 0.0, height], tets, young=3e4, method="vanilla", integrator="bdf2", ground=(0.0, 2e3))
    state = world.initial_state()
    if push:
        state, _ = moved(world, state, 30)
        tipped = np.outer(nodes[:, 0], [0.0, 0.0, 0.8])
        state = replace(state, u=(0.3 * state.u.reshape(-1, 3) + [1.5, 0.0, 0.0] + tipped).ravel())
    starter = world.integrator._starter = Counting(world.integrator._starter)
    _, sets = moved(world, state, steps)
    return starter.times, sets


def test_what_slides_goes_on():
    times, sets = counted(0.0, 40, push=True)
    changes = sum(a != b for a, b in zip(sets, sets[1:]))
    assert changes >= 2 and times == 0


def test_what_lands_begins_anew():
    times, sets = counted(0.05, 24, push=False)
    landed = next(k for k, touching in enumerate(sets) if touching)
    assert landed > 1 and times >= 2  # at the start, and where it lands
