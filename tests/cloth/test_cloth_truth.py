"""Cloth against closed forms and other references."""

import numpy as np
import pytest
from cloth_jobs import bending, cloth_body, cloth_job, membrane, moving, part_of, places, square, stepped
from matrix import some
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation
from sheets import grid, lattice

INTEGRATORS = ["semi_implicit", "backward_euler", "bdf2", "sdirk2"]
G = 9.81


def test_mass_is_area_times_density(tmp_path):
    part = part_of(square(tmp_path / "a", size=0.5, area_density=0.3, drag=0, air_friction=0))
    assert part.mass.sum() == pytest.approx(0.3 * 0.25, rel=1e-14)
    # of an uneven UV map too, which is scaled to the mesh's area
    vertices, triangles = grid(5, 4, 0.5, 0.4)
    rng = np.random.default_rng(1)
    uv = 7.0 * (vertices[:, :2] + 0.01 * rng.normal(size=(len(vertices), 2)))[triangles]
    arrays = {}
    job = cloth_job(tmp_path / "b", [cloth_body("Cloth", vertices, triangles, arrays, uv=uv, area_density=0.3)], arrays)
    assert part_of(job).mass.sum() == pytest.approx(0.3 * 0.2, rel=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", ["newton_d", "quick", "newton_visible"])
def test_free_fall_keeps_shape_and_momentum(tmp_path, integrator, solver):
    """Without air: the centre falls by the integrator's own sum, nothing strains, and it turns on."""
    job = square(tmp_path / "job", drag=0, air_friction=0,
                 scene={"integrator": {"kind": integrator}, "stage_solver": {"kind": solver}, "gravity": [0, 0, -G]})
    part = part_of(job)
    x = part.rest
    turn = np.array([0.4, -0.3, 1.0])
    v = np.cross(turn, x - x.mean(axis=0)) + [0.2, 0.0, 0.5]
    state = moving(part, x, v)
    h, count = 1 / 96, 48
    after = stepped(part, state, h, count)
    moved = part.velocity(after)
    momentum = part.mass @ moved
    wanted = part.mass.sum() * (np.array([0.2, 0.0, 0.5]) + [0, 0, -G * h * count])
    assert np.abs(momentum - wanted).max() <= 1e-6 * np.abs(wanted).max()
    x1 = places(part, after)
    arms, was = x1 - x1.mean(axis=0), x - x.mean(axis=0)
    before = (part.mass[:, None] * np.cross(was, v - v.mean(axis=0))).sum(axis=0)
    spin = (part.mass[:, None] * np.cross(arms, moved - moved.mean(axis=0))).sum(axis=0)
    assert np.linalg.norm(spin - before) <= 0.1 * np.linalg.norm(before)


@pytest.mark.parametrize("solver", ["newton_d", "quick", "newton_visible"])
def test_a_sheet_that_lies_still_in_space_stays_so(tmp_path, solver):
    """However it is turned."""
    vertices, triangles = grid(6, 5, 0.5, 0.4)
    vertices = vertices @ Rotation.from_rotvec([0.5, 1.0, 2.0]).as_matrix().T + [3.0, 2.0, 1.0]
    arrays = {}
    job = cloth_job(tmp_path / "job", [cloth_body("Cloth", vertices, triangles, arrays)], arrays, gravity=[0, 0, 0],
                    stage_solver={"kind": solver})
    part = part_of(job)
    after = stepped(part, part.initial_state(), 1 / 24, 5)
    assert np.abs(places(part, after)[: len(vertices)] - vertices).max() <= 1e-10


def elastica(length, weight, stiffness):
    """Drape of a clamped level strip: (x, z) of its end. B θ'' = w (L − s) cos θ, θ(0) = 0, θ'(L) = 0."""
    def slopes(s, y):
        return np.stack([y[1], weight * (length - s) * np.cos(y[0]) / stiffness, np.cos(y[0]), np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, length, 400)
    guess = np.stack([-1.2 * s / length, -1.2 * np.ones_like(s), s, -s])
    found = solve_bvp(slopes, ends, s, guess, tol=1e-9, max_nodes=100000)
    assert found.success
    return found.y[2, -1], found.y[3, -1]


def quads(cells, length, width, alternate=True):
    """Return such a strip of quads, `cells` of them from 0 on and one before."""
    step = length / cells
    vertices, triangles = grid(cells + 1, round(width / step), length + step, width, alternate)
    return vertices - [step, 0.0, 0.0], triangles


@pytest.mark.parametrize("shape, rho", some(
    [("triangles", 0.2), ("triangles", 0.0045), ("quads", 0.2), ("quads", 0.0045), ("cut alike", 0.0045)],
    ("triangles", 0.2), ("quads", 0.0045)))
@pytest.mark.parametrize("kind", ["quadratic_bending", pytest.param("hinge_bending", marks=pytest.mark.long)])
def test_a_heavy_strip_drapes_as_the_elastica_does(tmp_path, kind, shape, rho):
    """Clamped level at one end, B = 1e-3 N m, 0.3 m long; ρ g L³/B is 53 and 1.2 [kg/m²].

    Columns of vertices are held at 0 and before, and a hinge bends as the half cells on both sides of it do: the clamp
    is midway between the last two that are held.
    """
    length, B, errors, made = 0.3, 1.0e-3, [], {"triangles": lattice, "quads": quads}
    for cells in (8, 16, 32):
        vertices, triangles = (made[shape](cells, length, 0.075) if shape in made
                               else quads(cells, length, 0.075, alternate=False))
        step, arrays = length / cells, {}
        body = cloth_body("Strip", vertices, triangles, arrays, pinned=np.flatnonzero(vertices[:, 0] < 1e-9),
                          area_density=rho, membrane=membrane(2e4, 1e4), bending=bending(B, kind), drag=0,
                          air_friction=0, laws={"damping": {"kind": "rayleigh", "params": {"mass_damping": 3.0}}})
        part = part_of(cloth_job(tmp_path / f"{kind}{cells}", [body], arrays, gravity=[0, 0, -G]))
        state = stepped(part, part.initial_state(), 1 / 24, 100)
        assert np.abs(part.velocity(state)).max() <= 1e-3
        tip = places(part, state)[: len(vertices)][vertices[:, 0] > length - 1e-9].mean(axis=0)
        end = elastica(length + 0.5 * step, rho * G, B) - np.array([0.5 * step, 0.0])
        errors.append(np.hypot(tip[0] - end[0], tip[2] - end[1]) / length)
    assert errors[2] <= 0.01, errors
    assert errors[2] < errors[1] < errors[0], errors


def test_a_hanging_cloth_is_stretched_by_its_weight(tmp_path):
    """Hung by its upper edge, no contraction: its lower edge sinks by ρ g L² / 2 E."""
    length, rho, E = 0.8, 0.3, 400.0
    vertices, triangles = grid(16, 4, length, 0.2)
    vertices = np.column_stack([vertices[:, 1], 0.0 * vertices[:, 1], -vertices[:, 0]])
    arrays = {}
    top = np.flatnonzero(vertices[:, 2] > -1e-9)
    body = cloth_body("Curtain", vertices, triangles, arrays, pinned=top, area_density=rho, membrane=membrane(E, 200.0),
                      drag=0, air_friction=0, laws={"damping": {"kind": "rayleigh", "params": {"mass_damping": 5.0}}})
    part = part_of(cloth_job(tmp_path / "job", [body], arrays, gravity=[0, 0, -G]))
    state = stepped(part, part.initial_state(), 1 / 48, 300)
    low = vertices[:, 2] < -length + 1e-9
    sunk = (vertices[low, 2] - places(part, state)[: len(vertices)][low, 2]).mean()
    assert sunk == pytest.approx(rho * G * length**2 / (2 * E), rel=0.01)


@pytest.mark.parametrize("solver", ["newton_d", "quick", "newton_visible"])
@pytest.mark.parametrize("law", ["quadratic_bending", "hinge_bending"])
def test_energy_only_falls(tmp_path, solver, law):
    """Crumpled and let go, Backward Euler: kinetic and elastic energy together fall at each step."""
    job = square(tmp_path / "job", cells=8, drag=0, air_friction=0, bending=bending(1e-3, law),
                 scene={"gravity": [0, 0, 0], "stage_solver": {"kind": solver}})
    part = part_of(job)
    rng = np.random.default_rng(5)
    state = moving(part, part.rest * [0.7, 0.8, 1.0] + 0.01 * rng.normal(size=part.rest.shape),
                   np.zeros_like(part.rest))

    def energy(state):
        v = part.velocity(state)
        return (part.evaluate(places(part, state), state.time)[1]
                + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v)))

    energies = [energy(state)]
    for _ in range(40):
        state = part.step(state, 1 / 96)
        energies.append(energy(state))
    energies = np.array(energies)
    # Quick ends a stage before its root, and what it leaves there may be a little more than before
    assert (np.diff(energies) <= {"newton_d": 1e-6, "quick": 3e-4, "newton_visible": 3e-4}[solver] * energies[0]).all()
    assert energies[-1] < 0.5 * energies[0]


def test_cloth_that_hangs_moves_by_newton_visible_as_by_newton_d(tmp_path):
    """Hung by two corners and let go, .5 m wide, half a second: for fewer factors the same motion."""
    ends, factored = [], []
    for solver in ("newton_d", "newton_visible"):
        part = part_of(square(tmp_path / solver, cells=8, pinned=[0, 8],
                              scene={"gravity": [0, 0, -G], "stage_solver": {"kind": solver}}))
        ends.append(places(part, stepped(part, part.initial_state(), 1 / 96, 48)))
        factored.append(part.linear.factored)
    assert np.abs(ends[1] - ends[0]).max() <= 5e-4
    assert factored[1] <= 0.8 * factored[0]


@pytest.mark.parametrize("integrator", ["semi_implicit", "backward_euler", "sdirk2"])
def test_a_level_sheet_falls_at_its_terminal_speed(tmp_path, integrator):
    """½ ρ c v² A = m g, whatever the integrator, and 20 steps of it do not pass it."""
    job = square(tmp_path / "job", area_density=0.05, drag=1.3, air_friction=0.0, end=200,
                 scene={"integrator": {"kind": integrator}, "gravity": [0, 0, -G]})
    part = part_of(job)
    state = part.initial_state()
    wanted, fastest = np.sqrt(2 * 0.05 * G / (1.2 * 1.3)), 0.0
    for _ in range(200):
        state = part.step(state, 1 / 96)
        fastest = max(fastest, -part.velocity(state)[:, 2].min())
    v = part.velocity(state)[: len(part.rest) - 1]
    assert -v[:, 2] == pytest.approx(wanted, rel=1e-3)
    assert fastest <= 1.06 * wanted


def test_a_sheet_drifts_with_the_wind(tmp_path):
    """No gravity: it ends at the speed of the wind; the air's node is nowhere in the output."""
    job = square(tmp_path / "job", area_density=0.02, drag=1.0, air_friction=1.0, end=97,
                 scene={"gravity": [0, 0, 0], "wind": {"velocity": [1.0, 0.5, 2.0]}})
    part = part_of(job)
    state = stepped(part, part.initial_state(), 1 / 24, 95)
    n = len(part.rest) - 1
    assert part.velocity(state)[:n] == pytest.approx(np.tile([1.0, 0.5, 2.0], (n, 1)), rel=0.03)
    assert part.output(state, 1).shape == (n, 3)


def test_air_pushes_along_the_normal_of_a_face_that_leans(tmp_path):
    """Wind along X on a plate that leans by 30°: drag and lift of ½ ρ c A v² sin²: the first step's impulse."""
    vertices, triangles = grid(4, 4, 0.5, 0.5)
    lean = np.radians(30.0)
    vertices = vertices @ np.array([[np.cos(lean), 0, -np.sin(lean)], [0, 1, 0], [np.sin(lean), 0, np.cos(lean)]]).T
    arrays = {}
    body = cloth_body("Plate", vertices, triangles, arrays, area_density=1.0, drag=1.2, air_friction=0.0)
    part = part_of(cloth_job(tmp_path / "job", [body], arrays, gravity=[0, 0, 0], wind={"velocity": [3.0, 0, 0]}))
    h = 1e-5
    state = part.step(part.initial_state(), h)
    force = (part.mass @ part.velocity(state)) / h
    normal = np.array([np.sin(lean), 0.0, -np.cos(lean)])
    assert force == pytest.approx(0.5 * 1.2 * 1.2 * 0.25 * (3.0 * np.sin(lean)) ** 2 * normal, rel=1e-3, abs=1e-9)


def test_wind_over_time_blows_when_its_samples_do(tmp_path):
    """Still for half of the time, then 2 m/s."""
    samples = (25 - 1) * 2 + 1
    speed = np.zeros((samples, 3))
    speed[samples // 2 :, 0] = 2.0
    vertices, triangles = grid(4, 4, 0.5, 0.5)
    vertices = vertices[:, [2, 1, 0]]  # upright, across X
    arrays = {"speed": speed}
    body = cloth_body("Sail", vertices, triangles, arrays, area_density=0.1, drag=2.0)
    part = part_of(cloth_job(tmp_path / "job", [body], arrays, gravity=[0, 0, 0], wind={"motion": "arrays/speed.npy"}))
    state = stepped(part, part.initial_state(), 1 / 96, 46)
    assert np.abs(part.velocity(state)[:-1]).max() <= 0.05
    state = stepped(part, state, 1 / 96, 48)
    assert part.velocity(state)[:-1, 0].mean() > 0.5
