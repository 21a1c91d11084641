"""Small systems in which tuned constants of assembly/, bearings/, constraints/, integrators/, materials/ and of steps
steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from tuned_units import fails
from tuned_units_contact import Interpreted

from solver.assembly import node_rotation_kernels
from solver.assembly.damping import ShortStepDamping
from solver.assembly.elements import Elements
from solver.assembly.pattern import Pattern
from solver.bearings.bearings import Bearing, Bearings
from solver.bearings.bisp import _part
from solver.bearings.shapes import JOINTS
from solver.constraints.enforcement.compliant import refuse_contradiction
from solver.constraints.points.distance import Distance
from solver.constraints.points.ends import TiedEnd
from solver.constraints.points.on_surface import OnSurface
from solver.constraints.points.point_constraint import PointConstraint, stiffness_over_step
from solver.constraints.points.rows import across
from solver.constraints.points.sliding_weld import DistanceConstraint
from solver.coordinates.patches import Patch, Patches, affine
from solver.coordinates.prescribed import Constant
from solver.errors import BadScene, StepFailed
from solver.forces.soft_pins import SoftPins
from solver.integrators import arnoldi, krylov, modes, phi_functions
from solver.integrators.spin import spin_correction
from solver.materials import afung, algebra, fiber, invariants, lanes, rotated
from solver.materials.lanes import CONSTANT, ENERGY, GRADIENT, LANES, LEFT, MATERIAL_SLOTS, SCALING, SIGMA
from solver.state import State
from solver.world import condensed_stages
from solver.world.condensed_stages import MonolithicCondensedStage

NO_WIRES = np.zeros((0, 2), np.int32)


def refuses(build, *given):
    """Whether something raises BadScene or ValueError."""
    try:
        build(*given)
    except (BadScene, ValueError):
        return True
    return False


def steps_that_are_shorter():
    """Whether steps that are shorter by so much of a step have the damping of short steps."""
    law = ShortStepDamping(SimpleNamespace(drag=0.0), None, None, 1.0)
    return [law.within(1.0 - off) is law for off in (1e-8, 1e-4)]


def elements_that_are_projected():
    """Whether elements count as projected whose trace changes by so much of it."""
    elements = SimpleNamespace(of_tets=np.zeros((2, 6, 9)))

    def fill(x, time, project, forces):
        elements.of_tets[:, 0, 0] = -1.0 + (0.0 if project else np.array([-1e-11, -1e-6]))

    elements.fill = fill
    return Elements.find_clamped_elements(elements, np.zeros((4, 3)), 0.0).tolist()


def _turned(angle, stretch=(1.0, 1.0, 1.0)):
    """A frame that starts unrotated and follows surroundings that are rotated by an angle [rad] and stretched."""
    axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    cross = np.cross(np.eye(3), axis)
    rotation = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    spread, frames = np.ascontiguousarray((np.diag(stretch) @ rotation)[None]), np.eye(3)[None].copy()
    with Interpreted(node_rotation_kernels):
        node_rotation_kernels.follow_frames(0, 1, spread, frames)
    return frames.tobytes()


def frames_that_follow_a_large_rotation():
    """A frame after its surroundings have rotated by 150°, to the last bit."""
    return _turned(2.6, (1.0, 0.3, 2.0))


def frames_that_follow_small_rotations():
    """Whether a frame follows rotations by these angles [rad]."""
    return [_turned(angle) != np.eye(3).tobytes() for angle in (1e-5, 5e-3)]


def frames_of_tiny_surroundings():
    """Whether frames follow surroundings of these sizes that are rotated by half a radian."""
    return [_turned(0.5, (size,) * 3) != np.eye(3).tobytes() for size in (1e-13, 1e-9)]


def elements_that_leave():
    """Whether a matrix keeps its arrays when 3, and when 7, of ten elements are left."""
    found = []
    nodes = np.arange(44, dtype=np.int32)
    tets, others = nodes[:4].reshape(1, 4), nodes[4:].reshape(10, 4)
    for left in (3, 7):
        pattern = Pattern(tets, nodes, len(nodes))
        pattern.update_pairs(others)
        before = len(pattern.indices)
        pattern.update_pairs(others[:left], stays=True)
        found.append(len(pattern.indices) == before)
    return found


def bearing_of_a_hinge():
    """Loads of a hinge's bearing, and the compliance of its lines."""
    M = np.diag([1.0, 2.0, 3.0, 4.0, 4.0, 4.0])
    bearings = Bearings([Bearing(JOINTS["revolute"][0], 0.3, 0.05, 0.1, 12, 0, 0, -1, np.eye(4))], M[None],
                        np.eye(4)[None])
    group, = bearings.groups
    return group.loads(np.array([[1.0, 2.0, 0.5, 3.0, -1.0, 2.0]])).tobytes(), bearings.compliance.tolist()


def bounds_that_oscillate():
    """Fractions that are taken towards new bounds of friction that overshoot tenfold, or hardly change."""
    last = np.ones(3)
    return _part(-10.0 * last, last, 1.0), _part(0.9 * last, last, 1.0)


def weights_of_soft_pins():
    """Whether pins of these weights are stiffer than the hardest of 0.99, and than that of 0.9999."""
    def stiffness(weight):
        pins = SoftPins(np.zeros(1, np.int32), sp.csr_matrix(np.ones((1, 1))), Constant(np.array([weight])),
                        Constant(np.ones(1)), Constant(np.zeros((1, 3))))
        return float(pins._at(0.0)[0])

    return stiffness(0.995) < stiffness(1.0), stiffness(0.99999) < stiffness(1.0)


def rows_that_contradict_others():
    """Whether redundant rows are refused that are violated by so much of their targets."""
    rows = SimpleNamespace(redundant=np.zeros(1, int))
    return [refuses(refuse_contradiction, rows, np.array([off]), np.ones(1), np.zeros((1, 3)), np.zeros(3))
            for off in (1e-8, 1e-4)]


def _end(name, node, skin=()):
    return TiedEnd(name, np.array([[node]]), np.ones((1, 1)), np.array(skin, np.int32).reshape(-1, 3), NO_WIRES)


def distances_of_tied_points():
    """Whether points so near each other, relative to all, have no distance to keep."""
    return [refuses(Distance, _end("A", 0), _end("B", 1),
                    np.array([[0.0, 0.0, 0.0], [0.0, off, 0.0], [1.0, 0.0, 0.0]]), {"at_most": False}, None)
            for off in (1e-11, 1e-7)]


def points_beyond_a_border():
    """Whether points so far beyond a triangle's border have a row of it."""
    found = []
    for off in (1e-14, 1e-9):
        x = np.array([[0.25, -off, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        law = OnSurface(_end("A", 0), _end("B", 1, [[1, 2, 3]]), x, {"closes": 0.0}, None)
        found.append(bool(law.rows(x, 0.0).direction[1].any()))
    return found


def constraints_that_fade():
    """Stiffness of a hard constraint at half of its strength, relative to that at full strength."""
    law = PointConstraint(SimpleNamespace(joints=1), 1.0, Constant(np.zeros(1)), Constant(np.array([0.5])))
    return f"{law.stiffness(0.0):.3g}"


def hard_constraints_within_a_stage():
    """Whether a hard constraint leaves less than 0.1 %, and more than one millionth, of a move by inertia in a step."""
    left = 1.0 / (1.0 + stiffness_over_step(2.0, 0.01) * 0.01**2 / 2.0)
    return 1e-6 < left, left < 1e-3


def axes_across_a_direction():
    """Axes across directions that lean to the first axis by these cosines, to the last bit."""
    return [across(np.array([[cosine, np.sqrt(1.0 - cosine**2), 0.0]]))[0].tobytes() for cosine in (0.8, 0.97)]


def points_over_an_edge():
    """Whether points that lean so far out of an edge are over it."""
    found = []
    for off in (1e-11, 1e-6):
        x = np.array([[0.25, -off**0.5, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        law = DistanceConstraint(np.zeros(1, int), np.array([[1, 2, 3]]), x)
        found.append(bool(law._nearest(x)[5][0]))
    return found


def motions_of_a_thin_patch():
    """Numbers of amplitudes of patches that are so thick, relative to their width."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    return [Patches(corners * [1.0, 1.0, thick], np.ones(5), [Patch(np.arange(5), affine)]).unknowns
            for thick in (1e-5, 1e-2)]


SQUARES = -np.geomspace(1.0, 1e4, 200)  #: of frequencies of springs [1/s²]


def products_of_an_exponential_step():
    """Number of products of an exponential step over many periods of springs."""
    rng = np.random.default_rng(0)
    return krylov.exponential(lambda columns: SQUARES[:, None] * columns, rng.normal(size=200), rng.normal(size=200),
                              None, 3.0, 1e-6)[2]


def exponential_steps_in_parts():
    """Whether steps fail that take 20 and 1,000 Krylov spaces of 96 vectors."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for parts in (20, 1000):
            patch.setattr(krylov, "_in_one_space", lambda product, vectors, h, tolerance, part=1.0 / parts: (
                min(part, h), np.zeros(1), np.zeros(1), 96))
            found.append(fails(krylov.exponential, lambda columns: columns, np.ones(1), np.ones(1), None, 1.0, 1e-6))
    return found


def products_of_a_damped_exponential_step():
    """Number of products of a damped exponential step over many periods of one spring."""
    return arnoldi.integrate_damped(lambda columns: -1e6 * columns, lambda columns: -0.1 * columns, np.ones(1),
                                    np.ones(1), None, 1.0, 1e-4)[2]


def columns_of_modes():
    """Numbers of vectors that are iterated on for 1 and for 10 modes."""
    return modes.wide(1, 100), modes.wide(10, 100)


def shifts_of_a_spectrum():
    """The first shift that makes a stiffness definite whose lowest eigenvalue is below zero by these, in 1/h²."""
    def taken(lowest):
        def shifted(shift):
            if shift <= lowest:
                raise StepFailed("indefinite")
            return shift
        return modes.invert_shifted(SimpleNamespace(shifted=shifted), 1.0)

    return [taken(lowest) for lowest in (3e-4, 3e-2)]


def rotations_of_a_spinning_body():
    """The rotation of a body that lacks angular momentum, to the last bit."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 3))
    found = spin_correction(np.ones(8), x, x, np.zeros((8, 3)), np.array([3.0, -5.0, 8.0]), 1.0)
    return found.angle.tobytes()


def terms_of_a_series():
    """The hyperbolic cosine by its series near zero, and far beyond where that is used."""
    return phi_functions._series(np.array([3.9, 500.0]), 0).tobytes()


def energies_of_an_active_fiber():
    """Energies of a fully activated fiber, slack and stretched far, relative to its modulus."""
    found, work = [], np.zeros(MATERIAL_SLOTS * LANES)
    table = work.reshape(-1, LANES)
    table[CONSTANT] = 1.0
    table[CONSTANT + 3 : CONSTANT + 6] = afung.AFung.constants(np.ones(LANES), np.full(LANES, 2.0), np.ones(LANES))
    for stretch in (0.9, 2.0):
        table[ENERGY], table[GRADIENT] = 0.0, stretch
        with Interpreted(afung, algebra, fiber, invariants, lanes):
            afung._energy(work, False)
        found.append(float(table[ENERGY, 0]))
    return found


def stretches_and_rotations():
    """Stretches and rotations of a deformation gradient, and the definite part of a stiffness, to the last bit."""
    rng, work = np.random.default_rng(0), np.zeros(MATERIAL_SLOTS * LANES)
    table = work.reshape(-1, LANES)
    table[GRADIENT : GRADIENT + 9] = rng.normal(size=(9, LANES)) * np.geomspace(1.0, 100.0, 9)[:, None]
    table[SCALING : SCALING + 6] = rng.normal(size=(6, LANES))
    with Interpreted(algebra, lanes):
        algebra.decompose(work)
        algebra.clamp_scaling(work)
    return table[LEFT : SCALING + 6].tobytes()


def elements_that_are_nearly_inverted():
    """Divisors of pairs of stretches whose sum is so much."""
    work = np.zeros(MATERIAL_SLOTS * LANES)
    table, found = work.reshape(-1, LANES), []
    with Interpreted(rotated, lanes):
        for much in (1e-4, 1e-2):
            table[SIGMA : SIGMA + 3] = np.array([1.0, 0.5, much - 0.5])[:, None]
            found.append(rotated.over_pairs(work, 0)[0])
    return found


def bodies_that_snap():
    """Whether a stage is solved again whose relaxation rotates the body by so many degrees."""
    found = []
    for degrees in (1.0, 8.0):
        turned = np.deg2rad(degrees)
        x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        rotation = np.array([[np.cos(turned), np.sin(turned), 0], [-np.sin(turned), np.cos(turned), 0], [0, 0, 1]])
        soft = SimpleNamespace(coordinates=SimpleNamespace(positions=lambda q, time: q.reshape(-1, 3).copy(),
                                                           free=np.arange(4)),
                               touching=lambda state: np.zeros(0, int), mass=np.ones(4), extent=1.0)
        at, after = (State(0.0, place.ravel(), np.zeros(12)) for place in (x, x @ rotation))
        owner = SimpleNamespace(
            _soft=soft, _sweeps=SimpleNamespace(), _free_parts=[np.arange(4)],
            fixed_point=SimpleNamespace(solve_stage=lambda *_, after=after: after), _by_energy=lambda *_: None)
        stage = SimpleNamespace(inertia=1.0, base=None, b=1.0, h=1.0, time=0.0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(condensed_stages, "SweptEquations", lambda *_: SimpleNamespace(
                sweeps_at=None, products_at=None))
            found.append(MonolithicCondensedStage._without_contact(
                owner, SimpleNamespace(limits=SimpleNamespace(strain_left=1.0)), stage, at, None) is None)
    return found


UNITS = (
    steps_that_are_shorter, elements_that_are_projected, frames_that_follow_a_large_rotation,
    frames_that_follow_small_rotations, frames_of_tiny_surroundings, elements_that_leave, bearing_of_a_hinge,
    bounds_that_oscillate, weights_of_soft_pins, rows_that_contradict_others, distances_of_tied_points,
    points_beyond_a_border, constraints_that_fade, hard_constraints_within_a_stage, axes_across_a_direction,
    points_over_an_edge, motions_of_a_thin_patch, products_of_an_exponential_step, exponential_steps_in_parts,
    products_of_a_damped_exponential_step, columns_of_modes, shifts_of_a_spectrum, rotations_of_a_spinning_body,
    terms_of_a_series, energies_of_an_active_fiber, stretches_and_rotations, elements_that_are_nearly_inverted,
    bodies_that_snap)
