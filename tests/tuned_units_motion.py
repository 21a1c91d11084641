"""Small systems in which tuned constants of integrators/, coordinates/ and constraints/ steer; see `tuned_units`."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from solver.constraints.limits import JointLimits
from solver.contact.find.ground import Ground
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates import inertia
from solver.coordinates.floating import is_firm
from solver.coordinates.joints.moving_chart import MovingChart
from solver.errors import BadMesh
from solver.integrators import phi_functions
from solver.integrators.control import Controller

CONTROLLER = Controller(1.0, 2, False, 1)


def steps_after_a_small_error():
    """Growth of the next step after errors that are far below, and a little below, the tolerance."""
    return [float(CONTROLLER.longer({}, 64, error, False)["control.units"][0]) for error in (1e-6, 0.9)]


def units_of_a_frame():
    """Whether a frame has more than 1,000 and fewer than 10,000 units."""
    return 1000 < CONTROLLER.units < 10000


def steps_to_the_end_of_a_frame():
    """Units of the next of steps that miss a frame's end by so much of a step."""
    return [CONTROLLER.fit(1000.0, 0, int(1000 * steps)) for steps in (3.05, 3.3)]


def functions_near_zero():
    """Entire functions at arguments near zero and far from it, to the last bit."""
    return [value.tobytes() for value in phi_functions.psi(np.array([-9.0, -3.0, 0.5, 6.0]), 3)]


def joints_near_their_limits():
    """Numbers of rows of joints at rest at these distances from a limit [rad], and speeds of return from outside."""
    def rows(room):
        limits = JointLimits(np.zeros(1, np.int32), np.array([-np.inf]), np.array([0.0]))
        return limits.rows(np.array([-room]), np.zeros(1), np.array([-room]), 1e-3)

    return [len(rows(room).target) for room in (1e-3, 0.1)], float(rows(-0.02).target[0]), float(rows(-0.5).target[0])


def pins_on_a_line():
    """Whether pins that leave a line by so much of the width permit no rotation."""
    return [is_firm(np.array([[0.0, 0, 0], [1.0, 0, 0], [0.5, off, 0]]), 1.0) for off in (1e-5, 0.1)]


def surfaces_that_are_flat():
    """Whether points that leave a plane by so much enclose no volume."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]])
    found = []
    for off in (1e-9, 1e-3):
        try:
            inertia._check_points(corners * [1, 1, off])
            found.append(False)
        except BadMesh:
            found.append(True)
    return found


def charts_that_are_moved():
    """Whether charts are far from their centre at such angles [rad]."""
    return MovingChart().is_far(np.array([[0.5, 0.0, 0.0], [0.0, 2.0, 0.0]])).tolist()


def anchors_on_the_ground():
    """Whether anchors are more than a third as stiff as the ground, and no stiffer."""
    law = replace(GroundPenalty(Ground(np.zeros(3), np.array([0.0, 0.0, 1.0])), np.ones(1), np.ones(1, bool)),
                  friction=SimpleNamespace(coefficient=0.5))
    friction = law.build_static_friction_under_load(np.ones(1), np.zeros(1, int), np.array([[0.0, 0, 1]]), 0.0,
                                                    np.zeros((1, 3)))
    return bool(friction.stiffness[0] > 1 / 3), bool(friction.stiffness[0] <= 1.0)


UNITS = (
    steps_after_a_small_error, units_of_a_frame, steps_to_the_end_of_a_frame, functions_near_zero,
    joints_near_their_limits, pins_on_a_line, surfaces_that_are_flat, charts_that_are_moved, anchors_on_the_ground)
