"""Small systems in which tuned constants of parts/ steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
from solids import box
from tuned_units_contact import Interpreted

from solver.contact.find import distance_kernels
from solver.parts import line_search
from solver.parts.conjac import liveliness
from solver.parts.conjac.modes_of_step import ModalStepPropagator
from solver.parts.eol import inside_obstacles, rigid_jump, touching_kernels
from solver.parts.eol.feature_contacts import FeatureContacts
from solver.parts.eol.sheet_offsets import SheetOffsets
from solver.parts.joints.tumbling import restore_invariants
from solver.parts.modes import cubature
from solver.parts.projective import projection_kernels


def falls_of_a_merit():
    """Whether trials are accepted that lower the merit by so much of what its slope foretells."""
    at = SimpleNamespace(merit=0.0, size=1.0, norm=1.0)
    return [line_search.lowers(at, SimpleNamespace(merit=-much, size=1.0, norm=1.0), 1.0, -1.0, 0.0)
            for much in (1e-6, 1e-2)]


def angles_of_a_mode():
    """Whether modes that advance by such angles [rad] in a step keep their energy."""
    found = []
    for angle in (1.0, 3.0):
        lin = SimpleNamespace(damped=None, mass=np.ones(1), v=np.array([[1.0, 0.0, 0.0]]), force=np.zeros((1, 3)))
        posed = SimpleNamespace(
            stage=SimpleNamespace(stiffness_factor=0.0, h=1.0), lin=lin, velocities=np.eye(3), reduced=np.eye(3),
            motion=SimpleNamespace(product=-(angle**2) * np.eye(3)), follow=None, on_free=lambda rows: rows,
            correction_of_rows=lambda rows: 0.0 * rows, owner=SimpleNamespace(
                pattern=SimpleNamespace(order=np.zeros(1, int)), limit_fraction=lambda fraction, moved: fraction))
        propagator = ModalStepPropagator(posed)
        propagator._on_nodes = lambda rows: rows.reshape(1, 3)
        moved, v = propagator.step(1.0, 0.0, True)
        found.append(bool(abs((v**2).sum() + angle**2 * (moved**2).sum() - 1.0) < 1e-9))
    return found


def level_of_a_node_that_wakes():
    """Whether nodes without a past are more than 1.5 and less than 20 times as active as those that fall asleep."""
    level = liveliness.Liveliness.past(SimpleNamespace(nodes=np.zeros(1), threshold=1.0), {})[0]
    return bool(level > 1.5), bool(level < 20.0)


def invariants_that_are_restored():
    """Whether rates are corrected of which an invariant is off by so much."""
    inertia, before = np.diag([1.0, 2.0, 3.0])[None], np.array([[1.0, 0.5, 0.7]])
    return [bool((restore_invariants(inertia, before, (1.0 + off) * before) != (1.0 + off) * before).any())
            for off in (1e-4, 0.1)]


def stretches_of_volume_one():
    """Stretches of product 1 nearest to others, one of them inverted, to the last bit."""
    with Interpreted(projection_kernels):
        return [projection_kernels._nearest_of_volume_one(*stretches)
                for stretches in ((3.0, 0.2, 0.1), (1.5, 0.9, -0.8), (40.0, 0.01, 0.02))]


def sheets_side_by_side():
    """Offsets of sheets in common material space, and the sheet to which positions between them belong."""
    offsets = SheetOffsets.of([np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [0.5, 1.0]])])
    return offsets.wide > 1.2, offsets.wide < 10.0, offsets.sheet_of(
        np.array([[offsets.wide * at, 0.0] for at in (0.5, 0.85)])).tolist()


def jumps_of_pins():
    """Whether cloth is moved rigidly whose pins jump at such speeds [m/s], and takes their speed behind the jump."""
    found = []
    for speed, later in ((5.0, 0.0), (60.0, 0.0), (60.0, 20.0), (60.0, 120.0)):
        mesh = SimpleNamespace(x=np.zeros((1, 3)), v=np.zeros((1, 3)), on=np.array([-1]))
        mesh.replace = lambda x, v, on=mesh.on: SimpleNamespace(x=x, v=v, on=on)
        cloth = rigid_jump.Cloth.__new__(rigid_jump.Cloth)
        for name, value in {"mesh": mesh, "pin": np.array([0]), "flat": np.zeros(1, bool), "free": np.zeros(1, bool),
                            "pressing": np.zeros(1)}.items():
            object.__setattr__(cloth, name, value)
        heard = []
        pins = {1.0: np.array([[speed, 0.0, 0.0]]), 2.0: np.array([[speed + later, 0.0, 0.0]])}
        log = SimpleNamespace(once=lambda *_, heard=heard: heard.append(1))
        moved, _ = rigid_jump.follow_rigid_jump(cloth, pins.__getitem__, 0.0, 1.0, log)
        found.append((len(heard), float(moved.mesh.v[0, 0])))
    return found


def points_on_the_surface():
    """Whether points so deep in a cube [m] are inside."""
    x, triangles = box()
    obstacles = SimpleNamespace(is_closed=np.array([True]), triangles=triangles.astype(np.int32),
                                of_triangle=np.zeros(len(triangles), int))
    test = inside_obstacles.InsideObstacles(obstacles, 1)
    first, nodes = np.zeros(1, int), np.concatenate([[[0.0, 0.0, 0.0]], x])
    samples = [inside_obstacles.SampledPairs(np.array([[[0.5, 0.5, 1.0 - deep]]]), first, first)
               for deep in (1e-7, 1e-4)]
    return [bool(test.contain(pairs, nodes, 0.0)[0]) for pairs in samples]


def edges_that_run_alongside():
    """Whether edges that cross at such an angle [rad] have a row."""
    found = []
    with Interpreted(touching_kernels, distance_kernels):
        for angle in (1e-5, 1e-2):
            x = np.array([[0.0, -angle, 0.0], [1.0, angle, 0.0], [0.0, 0.0, 0.01], [1.0, 0.0, 0.01]])
            keep = np.zeros(1, bool)
            touching_kernels.edge_rows(x, np.array([[0, 1, 2, 3]], np.int32), np.array([[0.0, 0.0, 1.0]]),
                                       np.zeros((1, 4)), np.zeros((1, 3)), np.zeros(1), keep)
            found.append(bool(keep[0]))
    return found


def reach_of_a_search():
    """How far features are searched around slow and fast cloth, and how deep cloth may be, relative to an edge."""
    found = []
    for speed in (0.0, 500.0):
        mesh = SimpleNamespace(x=np.zeros((1, 3)), v=np.array([[speed, 0.0, 0.0]]), areas=np.ones(1))
        now = SimpleNamespace(x=np.zeros((1, 3)), velocity=np.zeros((1, 3)))
        near = FeatureContacts.around(mesh, SimpleNamespace(each=[], triangles=np.zeros((0, 3), np.int32)), now,
                                      np.zeros(3), 0.01)
        found += [near.reach, near.deep]
    return found[0] > 0.5, found[0] < 2.0, 5.0 < found[2], found[2] < 20.0, 0.02 < found[1], found[1] < 0.2


def clusters_of_elements():
    """Volumes of clusters of scattered elements."""
    rng = np.random.default_rng(0)
    features, volumes = rng.normal(size=(2000, 3)), rng.random(2000)
    return cubature._clusters(features, volumes, 40)[1].tobytes()


def lumps_of_stiffness():
    """Numbers of lumps of elements whose moduli differ by such factors."""
    tets = np.array([[k, k + 1, k + 2, k + 3] for k in range(40)])
    return [len(np.unique(cubature._lumps(tets, np.where(np.arange(40) < 20, 1.0, ratio), 20)))
            for ratio in (1.5, 30.0)]


UNITS = (
    falls_of_a_merit, angles_of_a_mode, level_of_a_node_that_wakes, invariants_that_are_restored,
    stretches_of_volume_one, sheets_side_by_side, jumps_of_pins, points_on_the_surface, edges_that_run_alongside,
    reach_of_a_search, clusters_of_elements, lumps_of_stiffness)
