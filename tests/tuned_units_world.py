"""Small systems in which tuned constants of world/ and coupling/ steer; see `tuned_units`."""

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from tuned_jobs import singular
from tuned_units import fails
from worlds import world_of

from solver.contact.find.ground import Ground
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coupling.free_bones import _adds_up
from solver.job.load import load
from solver.nonlinear.fallback_euler import StageNotConverged
from solver.nonlinear.limits import StopRule
from solver.state import State
from solver.world import blocked, ground_contact, sliding_damping, taken_along
from solver.world.bodies import BodyInWorld, ObstacleInWorld
from solver.world.energy_gains import StepRule, step_without_gain
from solver.world.soft_system import SoftSystem


def impulses_that_add_up():
    """Forces on two bodies that do not cancel by so much, of which the smaller ones are rounding."""
    forces = np.zeros((2, 6))
    forces[:, 3] = -1.0, 1.0
    return [_adds_up(np.tile(np.eye(4), (2, 1, 1)), forces * [[1.0], [1.0 + more]]) for more in (1e-11, 1e-6)]


def space_between_two_sides():
    """Rooms that two plates leave a node between them, of which the smaller ones are none."""
    nodes = [slice(0, 1), slice(1, 4), slice(4, 7)]
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    x = np.concatenate([np.zeros((1, 3)), corners - [0, 0, 0.1], corners + [0, 0, 0.1]])
    points = np.array([[0, 1, 2, 3], [0, 4, 5, 6]], np.int32)
    law = SimpleNamespace(activation=1.0, point_pairs=lambda x: (points, np.tile([1.0, 0.25, 0.25, 0.5], (2, 1)),
                                                                           np.zeros(2)))
    body = BodyInWorld("Pea", nodes[0], 1.0, None, None)
    plates = [ObstacleInWorld("Low", nodes[1]), ObstacleInWorld("High", nodes[2])]

    def closes(room):
        end = x.copy()
        end[nodes[1], 2] = -0.5 * room
        end[nodes[2], 2] = 0.5 * room
        return blocked.closes_on([body], plates, [law], np.zeros(1, np.int32), x, end) is not None

    return [closes(room) for room in (1e-4, 1e-2)]


def sags_of_a_bridge():
    """Whether bridges of links that sag by so much are stretched straight."""
    def is_straight(sag):
        with tempfile.TemporaryDirectory() as folder:
            [part] = world_of(load(singular(Path(folder) / "job", sag))).parts
            return bool(part.suggest_remedy(part.initial_state()))

    return [is_straight(sag) for sag in (0.0005, 0.02)]


class Swinging:
    """One node that stores no energy, for steps that gain some."""

    mass = np.ones(1)
    coordinates = SimpleNamespace(free=np.zeros(1, int), prescribed=np.zeros(0, int))
    ground = SimpleNamespace(plane=SimpleNamespace(motion=SimpleNamespace(moves=False)))

    def nodes_at(self, state):
        return state.q.reshape(1, 3), state.u.reshape(1, 3)

    def evaluate(self, x, time):
        return np.zeros((1, 3)), 0.0


BEGIN = State(0.0, np.zeros(3), np.array([1.0, 0.0, 0.0]))


def gains_with_free_turning():
    """Relative gains of energy by a step with Free Turning, of which the larger ones are repeated without it."""
    def repeated(gain):
        def integrate(state, h, rule):
            return replace(state, u=state.u * np.sqrt(1.0 / (1.0 - gain) if rule.turns_freely else 1.0))

        counts = Counter()
        step_without_gain(Swinging(), True, StepRule(True, StopRule(0.0, 1, 0.0)), integrate, BEGIN, 1.0, counts)
        return counts.total()

    return [repeated(gain) for gain in (0.1, 0.9)]


def tolerance_of_a_repeated_step():
    """Admissible strain of a step that is repeated as it gained energy by what its stages left."""
    used = []

    def integrate(state, h, rule):
        used.append(rule.limits.strain_left)
        return replace(state, u=1.1 * state.u)

    rule = StepRule(False, StopRule(0.0, 1, 0.0, strain_left=0.02))
    step_without_gain(Swinging(), True, rule, integrate, BEGIN, 1.0, Counter())
    return used


def hits_of_the_ground():
    """Speeds on the ground, relative to the change by weight in a step, of which the larger ones are impacts."""
    law = GroundPenalty(Ground(np.zeros(3), np.array([0.0, 0.0, 1.0])), np.ones(1), np.ones(1, bool))
    x = np.array([[0.0, 0.0, -0.001]])
    return [ground_contact.is_hit(law, [(x, np.array([[0.0, 0.0, -speed]]), 0.0)], 1.0) for speed in (0.02, 0.5)]


def parts_of_a_modal_step():
    """Longest parts, relative to a step, without a gain of energy, of which the shorter ones take too many parts."""
    def fails_at(longest):
        def modal(state, h):
            if h > longest and state.time + h > 1.0 - 1e-12:  # the half of a rest always passes
                raise StageNotConverged("it gains energy")
            return replace(state, time=state.time + h)

        soft = SimpleNamespace(_modal_step=modal, modal_parts=SoftSystem.modal_parts)
        return fails(SoftSystem.modal_step, soft, BEGIN, 1.0)

    return [fails_at(longest) for longest in (0.2, 0.01)]


def motions_as_one():
    """Points that are so far from moving as one, of which the nearer ones do."""
    rng = np.random.default_rng(1)
    start = rng.random((12, 3))
    return [taken_along.MovedAsOne.of(start, start + off * rng.random((12, 3))) is not None for off in (1e-8, 1e-4)]


def bodies_that_are_near():
    """Pairs of a body and an obstacle at distances, relative to that at which surfaces push, that go along."""
    x = np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [-5.0, 0.0, 0.0]])

    def near(x, factor):
        pairs = np.array([[0, 1], [0, 2]], np.int32)
        return pairs[np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) <= factor]

    law = SimpleNamespace(node_pairs_within=near)
    return sorted(taken_along._links([law], [slice(k, k + 1) for k in range(3)], x))


def time_of_sliding_that_fades():
    """Whether half a second without slip takes some of a second of sliding, and not most of it."""
    dampers = sliding_damping.SlidingDampers([SimpleNamespace(nodes=slice(0, 1), wave=1.0)], 1)
    left = float(dampers._update_duration(np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3)), np.zeros(1), 0.5)[0, 0])
    return [left < 0.98, left > 0.8]


def dashpots_of_a_block():
    """Whether a node of unit mass on a contact of unit stiffness is damped, and swings nevertheless."""
    body = sliding_damping.SlidingBody(slice(0, 1), np.zeros((0, 4), np.int32), None, 1.0)
    stiffness = np.zeros((1, 6, 9))
    stiffness[0, :3, 8] = 1.0 / 3.0  # between the node and each corner, along z
    _, blocks = body.dashpots(np.array([[0, 1, 2, 3]], np.int32), stiffness, np.arange(4) > 0, np.ones(4), 1.0,
                              np.zeros((2, 4, 3)))
    ratio = 0.5 * float(blocks[0, :3, 8].sum())  # of critical damping
    return [ratio > 0.1, ratio < 0.5]


def ramps_of_no_width():
    """Whether values that are rounding and values that are none are past the end of a ramp of no width."""
    return (sliding_damping._rise(np.array([1e-11, 1e-7]), 0.0, 0.0) > 0.5).tolist()


UNITS = (
    impulses_that_add_up, space_between_two_sides, sags_of_a_bridge, gains_with_free_turning,
    tolerance_of_a_repeated_step, hits_of_the_ground, parts_of_a_modal_step, motions_as_one, bodies_that_are_near,
    time_of_sliding_that_fades, dashpots_of_a_block, ramps_of_no_width)
