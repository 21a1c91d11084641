"""Small systems in which tuned constants of reduced bodies steer; see `tuned_units`."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from small_jobs import box_tets
from tuned_units_sliding import stand_in

from solver.errors import BadInput
from solver.materials.stable_neo_hookean import StableNeoHookean
from solver.parts.modes import body, cubature, load_modes
from solver.parts.modes.body import ReducedBody
from solver.parts.modes.cubature import Cubature
from solver.parts.modes.fitting import _roots, fit_volumes
from solver.parts.modes.load_modes import _Whole, strain_energies, with_load_modes
from solver.parts.modes.loads import Floor, SkinPoints, StageLoads
from solver.parts.modes.operators import Substance
from solver.parts.modes.points import CubaturePoints
from solver.parts.modes.skinning import build_subspace, orthonormal
from solver.parts.modes.stepping import _search

NODES, TETS = box_tets((6, 2, 2))
PIN = np.flatnonzero(NODES[:, 0] < 1e-9).astype(np.int32)


def _substance(young=1e5):
    return Substance.of(StableNeoHookean, 1000.0, youngs_modulus=np.broadcast_to(young, (len(TETS),)),
                        poisson_ratio=0.3)


@cache
def _subspace():
    """Three weights of a bar that is pinned at one end."""
    return build_subspace(NODES, TETS, _substance(), [PIN], 3)


def searches_for_points():
    """Numbers of points that are asked for where frequencies are never right."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(body, "build_subspace", lambda *_: SimpleNamespace(
            mass=np.ones(len(NODES)), weights=np.zeros((len(NODES), 3)), functions=np.zeros((len(NODES), 12)),
            pinned=PIN))
        patch.setattr(body, "with_load_modes", lambda nodes, tets, substance, subspace, forces: (
            subspace, SimpleNamespace(modes=np.zeros((0, 12, 3)), frequencies=np.zeros(0), spanned=np.zeros(0))))
        patch.setattr(body, "build_cubature", lambda nodes, tets, stiffness, subspace, count, *_: asked.append(count))
        patch.setattr(body, "CubaturePoints", lambda *_: SimpleNamespace(count=0, volumes=np.ones(1)))
        patch.setattr(ReducedBody, "__init__", lambda *_: None)
        patch.setattr(body.Truth, "off", 1.0)
        ReducedBody.build(TETS, NODES, _substance(), [PIN], 3)
    return asked


def stiff_elements():
    """Bounds of elements whose stiffness, relative to the softest, is this."""
    return [ReducedBody.substance_of(SimpleNamespace(repeat=lambda tets, ratio=ratio: SimpleNamespace(
        limit_stiffness=lambda most: min(most, ratio))), 1) for ratio in (1e6, 1e12)]


def points_that_touch():
    """Numbers of points of surfaces with 100 and 800 points that are checked for contact."""
    found = []
    for count in (100, 800):
        reduced = stand_in(ReducedBody)
        ReducedBody.touch_by(reduced, np.random.default_rng(0).random((count, 3)), np.zeros((count, 4)),
                             np.zeros((count, 4)))
        found.append(len(reduced.touching.rest))
    return found


def fewest_points():
    """Whether 3 and 10 points a weight are enough."""
    found = []
    for points in (3, 10):
        try:
            cubature.build_cubature(NODES, TETS, np.ones(len(TETS)), _subspace(), 3 * points)
            found.append(True)
        except BadInput:
            found.append(False)
    return found


def points_of_lumps():
    """Elements of a cubature of a bar with a soft and a stiff half, and a small third lump."""
    stiffness = np.where(np.arange(len(TETS)) < len(TETS) // 2, 1.0, 1e3)
    stiffness[:12] = 1e6
    return cubature.build_cubature(NODES, TETS, stiffness, _subspace(), 60).tets.tolist()


def clusters_of_many_elements():
    """Volumes of clusters of 5,000 and of 70,000 elements."""
    found = []
    for count in (5000, 70_000):
        rng = np.random.default_rng(0)
        found.append(cubature._clusters(rng.random((count, 1)), np.ones(count), 2)[1].tobytes())
    return found


def elements_in_one_place():
    """Number of centres of three elements that are so far apart, relative to their distance from the origin."""
    features = np.array([[1.0], [1.0 + 1e-7], [1.0 + 1e-3]])
    return len(np.unique(cubature._farthest_points(features, np.ones(3), 3, np.random.default_rng(0))))


@cache
def _sampled():
    """Points of the bar on its subspace, and modes of it."""
    space = _subspace()
    points = CubaturePoints(NODES, TETS, _substance(), space, cubature.build_cubature(
        NODES, TETS, np.ones(len(TETS)), space, 40))
    p = space.functions.shape[1]
    return points, 1e-3 * np.random.default_rng(0).normal(size=(6, p, 3))


def volumes_that_are_fitted():
    """Factors of the points' volumes, to the last bit."""
    return fit_volumes(*_sampled()).tobytes()


def directions_with_stiffness():
    """Numbers of directions of points whose stiffness in some is so small, relative to the largest."""
    found = []
    for small in (1e-14, 1e-9):
        tangents = np.zeros((1, 54))
        points = SimpleNamespace(volumes=np.ones(1), tangents=tangents, linearise=lambda *_: None,
                                 functions=np.ones((1, 3, 1)))
        for entry, value in ((0, 1.0), (4, small)):
            tangents[0, entry] = value
        found.append(_roots(points, np.ones((1, 1, 3))).shape[1])
    return found


def _requested(true):
    """Number of frequencies of a mesh that are requested, of these squared ones."""
    true, p = np.array(true), 4
    whole = SimpleNamespace(of_subspace=lambda *_: (true.copy(), None, np.zeros((len(true), p, 3))),
                            slowest=lambda fields: (true.copy(), None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_modes, "_Whole", lambda *_: whole)
        space = SimpleNamespace(pinned=PIN, functions=np.zeros((len(NODES), p)))
        return len(with_load_modes(NODES, TETS, None, space, ())[1].frequencies)


def frequencies_that_have_to_be_right():
    """Numbers of requested frequencies: of 20, and of some of which the first are slow."""
    return _requested(np.linspace(1.0, 2.0, 20)), _requested([1e-8, 1e-4, 1.0])


def _whole(most_factored=None):
    """The bar without its subspace."""
    free = np.setdiff1d(np.arange(len(NODES)), PIN)
    with pytest.MonkeyPatch.context() as patch:
        if most_factored is not None:
            patch.setattr(_Whole, "most_factored", most_factored)
        return _Whole(NODES, TETS, _substance(), _subspace(), free)


def vibrations_of_a_bar():
    """Numbers of vibrations that are iterated on, and their squared frequencies, to the last bit."""
    whole = _whole()
    spanned, fields, _ = whole.of_subspace(_subspace())
    return len(spanned), whole.slowest(fields)[0].tobytes()


def vibrations_that_are_iterated_on():
    """Squared frequencies of the bar without a factor of its stiffness, and a response to a load, to the last bit."""
    whole = _whole(0)
    fields = whole.of_subspace(_subspace())[1]
    load = np.zeros_like(NODES)
    load[-1] = 1.0
    return whole.slowest(fields)[0].tobytes(), whole.response(load).tobytes()


def _operators(count, ratios=None):
    """Whether a mesh with so many nodes is factored. ratios: list to which bounds of its stiffness are added."""
    identity = sp.identity(3 * count, format="csr")
    space = SimpleNamespace(mass=np.ones(count), stiffnesses=np.ones(1))

    def bounded(ratio):
        if ratios is not None:
            ratios.append(ratio)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_modes, "stiffness_operator", lambda *_: identity)
        patch.setattr(load_modes, "weight_operator", lambda *_: identity[:count, :count])
        patch.setattr(load_modes, "factor_with_shift", lambda *_: (lambda rhs: rhs, 0.0))
        return _Whole(np.zeros((count, 3)), None, SimpleNamespace(limit_stiffness=bounded), space,
                      np.arange(count))._solve is not None


def meshes_that_are_factored():
    """Whether meshes of 3,000 and of 60,000 nodes are factored."""
    return [_operators(count) for count in (3000, 60_000)]


def bounds_of_weights():
    """Whether stiff elements of the weights' problem are bounded to more than 1,000 and less than 10⁹ of the softest.
    """
    ratios = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Whole, "most_factored", 0)
        _operators(2, ratios)
    return ratios[0] > 1e3, ratios[0] < 1e9


def strains_of_slow_modes():
    """Energies of elements in 30 modes, to the last bit."""
    space = _subspace()
    modes = np.random.default_rng(0).normal(size=(30, space.functions.shape[1], 3))
    return strain_energies(NODES, TETS, np.ones(len(TETS)), space, modes).tobytes()


def friction_of_slow_points():
    """Friction coefficients as damping of points that slide at such speeds [m/s]."""
    rows = np.eye(2)
    touching = SkinPoints(rows, np.zeros((2, 0)), np.zeros((2, 3)))
    floor = Floor(np.array([0.0, 0.0, 1.0]), 0.1, np.ones(2), 0.5)
    loads = StageLoads([], floor, touching, np.zeros((0, 3)), np.zeros((2, 3)),
                       np.array([[1e-4, 0.0, 0.0], [0.1, 0.0, 0.0]]), 1.0)
    return loads._brake.tolist()


def sums_of_stiffness():
    """Number of sums of stiffness of many elements."""
    nodes, tets = box_tets((8, 6, 6))
    count = len(nodes)
    wide = SimpleNamespace(functions=np.zeros((count, 4)), prescribed=np.zeros((count, 0)))
    points = CubaturePoints(nodes, tets, Substance.of(
        StableNeoHookean, 1000.0, youngs_modulus=np.full(len(tets), 1e5), poisson_ratio=0.3), wide,
        Cubature(np.arange(len(tets), dtype=np.int32), np.ones(len(tets))))
    return len(points._products)


def functions_that_depend():
    """Numbers of independent functions of which two differ by so much."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 20))
    return [orthonormal(np.stack([one, one + off * other], axis=1), np.ones(20)).shape[1] for off in (1e-11, 1e-6)]


def _fraction(measure, slope=-1.0):
    """Step length by a search on a potential of the step length."""
    points = SimpleNamespace(measure=lambda trial: measure(float(trial)), pull=lambda: 0.0, noise=lambda: 0.0)
    stage = SimpleNamespace(points=points, smooth=lambda y, trial: 0.0)
    return _search(stage, np.zeros(1), np.ones(1), np.float64(0.0), np.float64(1.0), slope)


def steps_that_are_searched():
    """Step lengths: 20 and 2,000 times too long, of a hardly falling potential, and of one that rises by rounding."""
    return (_fraction(lambda t: (20.0 * t - 1.0)**2, -40.0), _fraction(lambda t: (2000.0 * t - 1.0)**2, -4000.0),
            _fraction(lambda t: -1e-6 * t), _fraction(lambda t: -1e-2 * t),
            *(_fraction(lambda t, off=off: 1.0 + (off if t else 0.0), 0.0) for off in (1e-15, 1e-11)))


UNITS = (
    searches_for_points, stiff_elements, points_that_touch, fewest_points, points_of_lumps, clusters_of_many_elements,
    elements_in_one_place, volumes_that_are_fitted, directions_with_stiffness, frequencies_that_have_to_be_right,
    vibrations_of_a_bar, vibrations_that_are_iterated_on, meshes_that_are_factored, bounds_of_weights,
    strains_of_slow_modes, friction_of_slow_points, sums_of_stiffness, functions_that_depend, steps_that_are_searched)
