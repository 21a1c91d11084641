"""Small systems in which tuned constants of forces/ steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
import pytest
from tuned_units_contact import Interpreted

from solver.forces import (
    definite_kernels,
    elastic_kernels,
    in_stretches_kernels,
    limit_kernels,
    rigid_kernels,
    stretching_kernels,
)
from solver.forces.cloth import hinge_kernels, membrane_kernels, quads, sheet
from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.seams import Seams
from solver.forces.cloth.threads import Threads
from solver.forces.limits import LengthLimit
from solver.forces.ropes import rope_kernels, shape_kernels, twist_kernels
from solver.forces.ropes.links import Inextensible
from solver.forces.ropes.shape import in_a_row
from solver.forces.weld import BONDED, OFF, WIDTH, Weld, find_painted_points
from solver.materials import algebra, lanes
from solver.materials.lanes import LANES, SIGMA

LIMITED = np.array([1.0, 1.0, 0.3, 0.4, 0.1, 500.0, 500.0, 500.0])  #: membrane with a limit of its stretch of 10 %
SIDES = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])  #: gradients of a triangle's shape functions


def cloth_beyond_its_limit():
    """Whether cloth far beyond the limit of its stretch has more than 100 and less than 100,000 times the force."""
    fabric = SimpleNamespace(triangles=np.array([[0, 1, 2]], np.int32), gradients=SIDES[None], areas=np.array([0.5]))
    found = []
    for stretch in (1.05, 1.3):
        law = CorotatedMembrane(fabric, {"stretch_warp": 1.0, "stretch_weft": 1.0, "poisson_ratio": 0.0, "shear": 1.0,
                                         "stretch_limit": 0.1})
        forces = np.zeros((1, 4, 3))
        law.measure(np.array([[0.0, 0, 0], [stretch, 0, 0], [0, 1, 0]]), forces)
        found.append(float(np.abs(forces).max()))
    ratio = found[1] / found[0]
    return ratio > 100.0, ratio < 1e5


def stretches_of_threads():
    """Energies of cloth that is stretched along its diagonals and just past its limit along the warp."""
    with Interpreted(membrane_kernels):
        return [membrane_kernels.measure_triangle(np.eye(3).ravel(), np.array(strain), LIMITED, SIDES, 0.5,
                                                  np.zeros((4, 3)))
                for strain in ((1.15, 1.15, 0.1), (1.105, 1.0, 0.0), (1.02, 1.02, 0.12))]


def triangles_that_are_lines():
    """Normals of triangles that are so high, relative to their width."""
    found = []
    with Interpreted(membrane_kernels):
        for high in (1e-8, 1e-4):
            frame, strain = np.zeros(9), np.zeros(3)
            x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, high, 0.0]])
            membrane_kernels.split_rotation_and_strain(x, np.array([0, 1, 2], np.int32), SIDES, frame, strain)
            found.append(frame[6:].round(3).tolist())
    return found


def stiffness_of_thin_triangles():
    """Stiffness out of the plane of triangles whose area is this fraction of that at rest."""
    found = []
    with Interpreted(membrane_kernels, definite_kernels):
        for thin in (1e-4, 0.02):
            normal = np.zeros((4, 4))
            membrane_kernels.bend_of_energy(np.array([1.2, thin, 0.0]), LIMITED, False, np.zeros((4, 4)), normal,
                                            np.zeros((4, 4)), np.zeros((4, 4)), np.zeros(4))
            found.append(float(normal[1, 1]))
    return found


def hinges_of_thin_faces():
    """Gradients of angles of hinges whose faces are so high, relative to those at rest."""
    found = []
    with Interpreted(hinge_kernels):
        for high in (1e-3, 0.1):
            x, out = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, high, 0.0], [0.5, -1.0, 0.1]]), np.zeros((9, 3))
            hinge_kernels.slope(x, np.arange(4, dtype=np.int32), np.ones(2), out)
            found.append(out.tobytes())
    return found


def _is_quad(corners, other=None):
    """Whether two triangles that share the side from corner 0 to 2 are a quad. other: corners of the second one."""
    corners = np.array(corners, float)
    other = corners if other is None else np.array(other, float)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    material = np.stack([corners[triangles[0]], other[triangles[1]]])
    mates = np.zeros(2, np.int32)
    with Interpreted(quads):
        quads.pair_triangles(triangles, material, np.array([[0, 2, 1, 3]], np.int32), np.array([[0, 1]], np.int32),
                             np.zeros(2, np.int32), mates)
    return mates.tolist() == [1, 0]


def diagonals_of_quads():
    """Whether rectangles, of which one is narrow and one is nearly a square, are quads."""
    return [_is_quad([[0, 0], [1, 0], [1, high], [0, high]]) for high in (0.25, 0.6)]


def quads_that_lean():
    """Whether parallelograms are quads whose corners have these cosines."""
    return [_is_quad([[0, 0], [1, 0], [1 + lean, (1 - lean**2) ** 0.5], [lean, (1 - lean**2) ** 0.5]])
            for lean in (0.2, 0.45)]


def quads_on_a_seam():
    """Whether triangles are a quad whose common side differs by so much on both sides of a seam."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.8], [0.0, 0.8]])
    return [_is_quad(corners, corners * (1.0 + off)) for off in (1e-9, 1e-4)]


def seams_that_are_closed():
    """Forces of seams of these lengths [m], relative to their length."""
    found = []
    for length in (1e-11, 1e-6):
        x = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
        seams = Seams(np.array([[0, 1]]), 1.0, 0.0, np.array([[0.0, 0, 0], [1.0, 0, 0]]))
        found.append(round(float(np.abs(seams.fill(x, 1.0, True).forces).max()) / length, 6))
    return found


def elements_on_threads():
    """Numbers of calls for 100 and 1,000 elements that are in parallel."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheet, "parallel_for", lambda *given: found.append(given[1]))
        for count in (100, 1000):
            sheet.over_elements(lambda *_: None, count)
    return found


def threads_that_are_damped():
    """Damping of cloth that is stretched by so much, relative to its whole damping."""
    membrane = SimpleNamespace(fill=lambda x, project, forces, blocks: blocks.fill(1.0),
                               measure_stretch=lambda x: np.array([0.01, 0.2]))
    law = Threads(SimpleNamespace(laws=[membrane], slices=[slice(0, 2)]), 0.0, 0.0, lambda time: 1.0)
    blocks = np.zeros((2, 6, 9))
    law.fill(np.zeros((1, 3)), 0.0, np.zeros((2, 4, 3)), blocks)
    return blocks[:, 0, 0].tolist()


class Counted(np.ndarray):
    """An array that counts how often its entries are read."""

    def __getitem__(self, key):
        Counted.reads += 1
        return np.ndarray.__getitem__(self, key)


def steps_of_a_search_for_eigenvalues():
    """Whether the search for eigenvalues of what is not a number ends after more than 100 and less than 10,000 reads.
    """
    values = np.zeros(2).view(Counted)
    Counted.reads = 0
    with Interpreted(definite_kernels), np.errstate(invalid="ignore"):
        definite_kernels.eigen(np.full((2, 2), np.nan), 2, np.eye(2), values)
    return Counted.reads > 100, Counted.reads < 10000


def rotations_of_inverted_elements():
    """Factors of stretches whose sum is far smaller than the largest one, to the last bit."""
    work = np.zeros(lanes.MATERIAL_SLOTS * LANES)
    table = work.reshape(-1, LANES)
    table[SIGMA : SIGMA + 3, 0] = 1.0, 0.3, -0.25
    with Interpreted(in_stretches_kernels, lanes):
        floor = in_stretches_kernels.frames_of(work, 0)[3]
        return [in_stretches_kernels._weight(0.3, other, floor) for other in (-0.25, 0.2)]


def rates_of_stretch():
    """Rate of stretch of an element that is nearly inverted and one that is not, to the last bit."""
    found, count = [], lanes.MATERIAL_SLOTS + 40
    nodes = np.tile(np.arange(4, dtype=np.int32)[None, :, None], (1, 1, LANES))
    rest = np.zeros((1, 10, LANES))
    rest[0, :9], rest[0, 9] = np.eye(3).ravel()[:, None], 1.0
    rng = np.random.default_rng(0)
    v = rng.normal(size=(4, 3))
    with Interpreted(stretching_kernels, elastic_kernels, algebra, lanes):
        for last in (-0.25, 0.5):
            x = np.concatenate([np.zeros((1, 3)), np.diag([1.0, 0.3, last])])
            out = np.zeros(LANES)
            stretching_kernels.stretching(0, 1, x, v, nodes, rest, np.zeros((1, 0, LANES)),
                                          np.zeros((1, count * LANES)), out)
            found.append(float(out[0]))
    return found


def short_lines():
    """Whether lines and triangles of these sizes [m] have a direction of length 1."""
    found = []
    with Interpreted(limit_kernels):
        for size in (1e-14, 1e-8):
            out = np.zeros(3)
            limit_kernels.direction_of(np.array([[0.0, 0, 0], [size, 0, 0]]), np.array([0, 1], np.int32), out)
            found.append(bool(out[0] > 0.99))
    return found


def forces_of_limits():
    """Force of a line past its limit in the first step, and later [J]."""
    law = LengthLimit(np.array([[0, 1]]), np.ones(1), 0.0, 0.0, 1.0, 1.0)
    x, found = np.array([[0.0, 0, 0], [1.001, 0, 0]]), []
    for before in (None, np.zeros(1)):
        law.recall(before)
        found.append(f"{law.multipliers(x, 0.0)[0]:.6g}")
    return found


def midpoints_of_fast_spins():
    """Midpoint rates of a body that turns by many radians in a step, to the last bit."""
    inertia = np.diag([1.0, 2.0, 3.0, 1.0, 1.0, 1.0])[None]
    with Interpreted(rigid_kernels):
        return rigid_kernels.midpoint_rates(inertia, 0, -11.7, -1.1, -6.3, 1.0)


def tensions_of_links():
    """Tension of a link that is too long in the first step, and later [N]."""
    law = Inextensible(SimpleNamespace(nodes=np.array([[0, 1]]), length=np.ones(1), mass=1.0, step=1.0), {})
    x, found = np.array([[0.0, 0, 0], [1.001, 0, 0]]), []
    for before in (None, np.zeros(1)):
        law.recall(before)
        found.append(f"{law.multipliers(x, 0.0)[0]:.6g}")
    return found


def short_links_of_ropes():
    """Whether links of these lengths [m] pull with their whole force."""
    found, nodes = [], np.array([[0, 1]], np.int32)
    with Interpreted(rope_kernels):
        for length in (1e-14, 1e-8):
            forces = np.zeros((1, 4, 3))
            rope_kernels.measure_links(0, 1, np.array([[0.0, 0, 0], [length, 0, 0]]), nodes, np.ones(1), np.zeros(1),
                                       np.ones(1), forces)
            found.append(bool(forces[0, 0, 0] > 0.99))
    return found


def _folded(angle):
    """Nodes of two links that are folded back onto each other up to an angle [rad]."""
    return np.array([[1.0, 0, 0], [0, 0, 0], [np.cos(angle), np.sin(angle), 0]])


def bends_of_folded_links():
    """Energies of bends that are folded up to these angles [rad]."""
    with Interpreted(rope_kernels):
        return [rope_kernels.measure_bends(0, 1, _folded(angle), np.array([[0, 1, 2]], np.int32), np.ones(1),
                                           np.zeros((1, 4, 3))) for angle in (1e-4, 1e-2)]


def bends_that_have_a_plane():
    """Numbers of pairs of bends with these angles [rad]."""
    found = []
    for angle in (0.008, 0.05):
        turned = np.cumsum([0.0, angle, angle])
        line = np.cumsum(np.stack([np.cos(turned), np.sin(turned), np.zeros(3)], axis=1), axis=0)
        found.append(len(in_a_row(np.array([[0, 1, 2], [1, 2, 3]]), np.concatenate([np.zeros((1, 3)), line]))))
    return found


def bends_that_are_rounded_off():
    """Energy of a bend that is nearly straightened."""
    out = np.zeros(3)
    with Interpreted(shape_kernels):
        shape_kernels.write_bend_energy(0.9999, 1.0, 0.5, out)
    return out.tobytes()


def stiffness_of_torsion():
    """Stiffness of torsion by differences of forces, to the last bit."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [1.3, 1.0, 0], [1.6, 1.2, 1.0]])
    blocks = np.zeros((1, 6, 9))
    with Interpreted(shape_kernels, rope_kernels):
        shape_kernels.fill_torsion(0, 1, x, np.arange(4, dtype=np.int32)[None], np.ones(1), np.full((1, 2), 0.5),
                                   np.array([[1.0, 0.0]]), False, blocks)
    return blocks.tobytes()


def short_links_of_rods():
    """Whether links of rods of these lengths [m] have a direction of length 1."""
    found = []
    with Interpreted(twist_kernels):
        for length in (1e-14, 1e-8):
            out = np.zeros((1, 2, 3))
            x = np.array([[0.0, 0, 0], [length, 0, 0], [2 * length, 0, 0]])
            twist_kernels.link_directions(x, np.array([[0, 1, 2]], np.int32), out, np.zeros((1, 2)))
            found.append(bool(out[0, 0, 0] > 0.99))
    return found


def frames_of_folded_links():
    """Forces of twist of links that are folded up to these angles [rad]."""
    found = []
    with Interpreted(twist_kernels):
        for angle in (1e-4, 1e-2):
            t, lengths, forces = np.zeros((1, 2, 3)), np.zeros((1, 2)), np.zeros((1, 4, 3))
            twist_kernels.link_directions(_folded(angle), np.array([[0, 1, 2]], np.int32), t, lengths)
            twist_kernels.twist_forces(t, lengths, np.ones(1), forces)
            found.append(forces.tobytes())
    return found


def paint_that_sticks():
    """Which of three points stick whose weights are these."""
    body = SimpleNamespace(skin=np.array([[0, 1, 2]]), wires=np.zeros((0, 2), int), nodes=slice(0, 3),
                           weights=np.array([0.003, 0.05, 1.0]))
    return find_painted_points(body).tolist()


def welds_that_begin():
    """Whether a weld begins so much before its time [s]."""
    found = []
    for early in (1e-11, 1e-6):
        table = np.zeros((1, WIDTH))
        law = SimpleNamespace(
            _evaluate=lambda *_: SimpleNamespace(nodes=np.zeros((0, 4), int)), _sticks=table[:, 0] == BONDED,
            _first=None, _table=table, _begins=1.0, _points=np.zeros(1, int),
            _bonds=lambda *_: SimpleNamespace(nodes=np.zeros((0, 4), int), weights=np.zeros((0, 3)), gaps=np.zeros(0),
                                              bears=np.zeros(0)))
        found.append(bool(Weld.multipliers(law, np.zeros((1, 3)), 1.0 - early)[0] == OFF))
    return found


UNITS = (
    cloth_beyond_its_limit, stretches_of_threads, triangles_that_are_lines, stiffness_of_thin_triangles,
    hinges_of_thin_faces, diagonals_of_quads, quads_that_lean, quads_on_a_seam, seams_that_are_closed,
    elements_on_threads, threads_that_are_damped, steps_of_a_search_for_eigenvalues, rotations_of_inverted_elements,
    rates_of_stretch, short_lines, forces_of_limits, midpoints_of_fast_spins, tensions_of_links, short_links_of_ropes,
    bends_of_folded_links, bends_that_have_a_plane, bends_that_are_rounded_off, stiffness_of_torsion,
    short_links_of_rods, frames_of_folded_links, paint_that_sticks, welds_that_begin)
