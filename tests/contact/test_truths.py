"""References for contact: Coulomb's slope, Hertz's ball, energy, the same bytes, other meshes and steps."""

import numpy as np
import pytest
from contact_scenes import ball
from matrix import crossed, some
from scipy.optimize import brentq
from touching import box, contact_job, crosses, distance, obstacle, sheet, soft
from worlds import nodes_of

from solver.job.load import load
from solver.state import State

H, G = 1 / 96, 9.81


def energy(part, state):
    x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
    return part.evaluate(x, state.time)[1] + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v))


# a block on a slope

def on_a_plate(folder, slope, plate, mu=0.5, solver="newton_d", block=(4, 4, 1)):
    """A block of so many cells that lies on a plate of so many, which is turned and moved; gravity is tilted."""
    cells, turn, shift = plate
    arrays = {}
    body = soft("Block", *box(block, (0.2, 0.2, 0.05), (-0.1, -0.1, 0.004)), arrays, modulus=1e6, friction=mu,
                damping={"kind": "rayleigh", "params": {"stiffness_damping": 0.002}})
    vertices, triangles = sheet(3.0, cells)
    c, s = np.cos(turn), np.sin(turn)
    vertices = vertices @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T + [shift, -shift, 0.0]
    g = G / np.hypot(1.0, slope)
    return contact_job(folder, [body], [obstacle("Plate", vertices, triangles, arrays, friction=mu)], arrays,
                       gravity=[slope * g, 0.0, -g], integrator={"kind": "sdirk2"}, stage_solver={"kind": solver})


def slid(folder, shares, plate, solver, count, mu=0.5, **more):
    """Speeds down slopes [m/s] of a block that came to rest on less of one, tan of each slope a share of μ."""
    state = None
    for less in (0.0, 0.9):
        part = nodes_of(load(on_a_plate(folder / f"less{less}", less * mu, plate, mu, solver, **more)))
        state = State(0.0, part.initial_state().q if state is None else state.q, part.initial_state().u)
        for _ in range(count):
            state = part.step(state, H)
    seen, rests = [], state
    for share in shares:
        part = nodes_of(load(on_a_plate(folder / f"slope{share}", share * mu, plate, mu, solver, **more)))
        state = State(0.0, rests.q, 0.0 * rests.u)
        for _ in range(count):
            state = part.step(state, H)
            seen.append(float((part.mass @ part.velocity(state))[0] / part.mass.sum()))
    return np.array(seen).reshape(len(shares), count)


INSIDE, ACROSS = (1, 0.3, 0.6), (14, 0.7, 0.0)  #: plates: the block on one triangle, or on many and their edges


@pytest.mark.parametrize("plate,solver,off", some(
    [(plate, *solver) for plate in (INSIDE, ACROSS) for solver in (("newton_d", 0.01), ("quick", 0.02))],
    (INSIDE, "quick", 0.02)))
def test_a_block_slides_from_the_slope_of_its_friction_on(tmp_path, plate, solver, off):
    sticks, slides = slid(tmp_path, (1.0 - off, 1.0 + off), plate, solver, 48)
    # what stands creeps, no faster than smoothed friction lets it
    assert np.abs(sticks[-24:]).max() <= 1.0e-3
    assert slides[-1] > 4.0e-3 and (np.diff(slides[-24:]) > 0.0).all()
    if solver == "newton_d":  # Quick leaves changes of speed that are as small as these
        gained = (slides[-1] - slides[-25]) / (24 * H)
        assert gained == pytest.approx(G / np.hypot(1.0, 0.5 * (1.0 + off)) * 0.5 * off, rel=0.03)


def test_a_coarse_block_slides_across_many_triangles_as_well(tmp_path):
    sticks, slides = slid(tmp_path, (0.95, 1.05), ACROSS, "quick", 24, block=(2, 2, 1))
    assert np.abs(sticks[-12:]).max() <= 1.0e-3
    assert slides[-1] > 4.0e-3 and (np.diff(slides[-12:]) > 0.0).all()


# Hertz: a ball of radius 1 between two plates

MODULUS, POISSON = 1.0e6, 0.3


def graded_ball(cells):
    """Nodes and tets of a ball whose elements are small at its poles."""
    nodes, tets = box((cells, cells, cells), (2.0, 2.0, 2.0), (-1.0, -1.0, -1.0))
    fine = np.sign(nodes) * nodes**2
    fine[:, 2] = np.sign(nodes[:, 2]) * (1.0 - (1.0 - np.abs(nodes[:, 2])) ** 2)
    length = np.linalg.norm(fine, axis=1)
    return fine * (np.abs(fine).max(axis=1) / np.maximum(length, 1e-12))[:, None], tets


def hertz(force):
    """How far a plate has come nearer to the ball's middle [m]; the ball gives way as a whole too (Tatara 1991)."""
    square = (0.75 * force * (1.0 - POISSON**2) / MODULUS) ** (2 / 3)
    far = square + 4.0
    return square - force / (np.pi * MODULUS) * (2.0 * (1.0 + POISSON) / far**1.5 + (1.0 - POISSON**2) / far**0.5)


def squeezed(folder, cells, indentation, reach=4e-4):
    """Force of either plate [N] over Hertz's, once they have come so far and all is at rest."""
    arrays, plates = {}, []
    vertices, triangles = sheet(4.0, 1)
    way = np.minimum(np.arange(49) / 12, 1.0)[:, None, None] * (indentation + reach)
    for name, side in (("Low", -1.0), ("High", 1.0)):
        base = vertices + [0.1, 0.17, side * (1.0 + reach)]
        plates.append(obstacle(name, base, triangles[:, :: -int(side)].copy(), arrays, base - way * [0.0, 0.0, side]))
    body = soft("Ball", *graded_ball(cells), arrays, modulus=MODULUS, poisson=POISSON)
    law = {"kind": "barrier", "params": {"distance": reach, "friction_coefficient": 0.0}}
    part = nodes_of(load(contact_job(folder, [body], plates, arrays, gravity=[0.0, 0.0, 0.0], step=1 / 24,
                                     contact={"law": law}, stage_solver={"kind": "newton_d"})))
    state = part.initial_state()
    for _ in range(10):
        state = part.step(state, 1 / 24)
    x = part.coordinates.positions(state.q, state.time)
    found = part.contacts[0].find_active_pairs(x)
    force = np.zeros_like(x)
    np.add.at(force, found.nodes, found.forces)
    low, high = -force[-8:-4, 2].sum(), force[-4:, 2].sum()
    assert low == pytest.approx(high, rel=1e-6)
    gap = float(np.sqrt(found.work[:, 16]).mean())
    apart = 0.5 * (x[-4:, 2].mean() - x[-8:-4, 2].mean()) - gap
    return low / brentq(lambda load: hertz(load) - (1.0 - apart), 1e-6, 1e8)


@pytest.mark.long
def test_a_ball_between_plates_comes_nearer_to_hertz_with_finer_cells(tmp_path):
    coarse, fine = (squeezed(tmp_path / str(cells), cells, 0.02) - 1.0 for cells in (8, 12))
    assert 0.0 < fine < 0.5 * coarse < 0.2


@pytest.mark.long
def test_a_fine_ball_between_plates_is_hertz_s(tmp_path):
    assert squeezed(tmp_path / "job", 16, 0.02) == pytest.approx(1.0, abs=0.05)


# energy

@pytest.mark.parametrize("method,friction", crossed([
    ("backward_euler", {"kind": "newton_d", "params": {"tolerance": 1e-9}}, 1e-12),
    ("sdirk2", {"kind": "quick"}, 1e-5),  # per kilogram; lifting it by a thousandth of a millimetre
    ("sdirk2", {"kind": "newton_d", "params": {"tolerance": 1e-9}}, 1e-12)], [0.0, 0.5]))
def test_energy_never_rises(tmp_path, method, friction):
    """Two boxes that fall on each other and a sheet: no step gains more than its solver leaves."""
    integrator, solver, allowed = method
    arrays = {}
    bodies = [soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.03)), arrays, modulus=1e4),
              soft("Top", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.07, -0.06, 0.26)), arrays, modulus=3e4)]
    contact = {"law": {"kind": "barrier", "params": {"friction_coefficient": friction}}}
    part = nodes_of(load(contact_job(tmp_path / "job", bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays,
                                     contact=contact, integrator={"kind": integrator}, stage_solver=solver)))
    state = part.initial_state()
    last, lost = energy(part, state), 0.0
    for _ in range(60):
        state = part.step(state, H)
        assert distance(part, state) > 0.0 and not crosses(part, state)
        now = energy(part, state)
        assert now - last <= allowed * float(part.mass.sum())
        last, lost = now, lost + last - now
    assert lost > 0.1 * float(part.mass.sum())


# how high it bounces

def dropped(folder, cells=3, speed=1.0, damping=0.0, step=1 / 192, seconds=0.35):
    """Heights of a ball's middle [m] and its speeds up [m/s]: it falls onto a sheet without friction."""
    arrays = {}
    more = {"damping": {"kind": "rayleigh", "params": {"stiffness_damping": damping}}} if damping else {}
    body = soft("Ball", *ball(0.1, cells, [0.0, 0.0, 0.11]), arrays, modulus=1e5, **more)
    law = {"kind": "barrier", "params": {"distance": 0.004, "friction_coefficient": 0.0}}
    job = contact_job(folder, [body], [obstacle("Floor", *sheet(1.0, 2), arrays)], arrays, step=step,
                      gravity=[0.0, 0.0, 0.0], contact={"law": law}, integrator={"kind": "sdirk2"},
                      stage_solver={"kind": "newton_d"})
    part = nodes_of(load(job))
    state = part.initial_state()
    u = state.u.reshape(-1, 3).copy()
    u[:, 2] = -speed
    state, seen = State(0.0, state.q, u.ravel()), []
    for _ in range(round(seconds / step)):
        state = part.step(state, step)
        x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
        seen.append([float((part.mass @ x)[2]), float((part.mass @ v)[2])])
    return np.array(seen).T / part.mass.sum()


def test_a_ball_bounces_less_the_more_its_material_is_damped(tmp_path):
    """Nothing but the material takes energy: contact gives back what it took. Shares of 1 m/s that are left."""
    bounced = [dropped(tmp_path / f"job{damping}", damping=damping, step=H)[1][-1] for damping in (0.0, 2e-3, 2e-2)]
    assert bounced == pytest.approx([0.89, 0.75, 0.29], abs=0.015)


@pytest.mark.long
def test_how_high_it_bounces_hardly_hangs_on_the_step(tmp_path):
    bounced = [dropped(tmp_path / f"job{damping}", damping=damping, step=H / 4)[1][-1] for damping in (0.0, 2e-3, 2e-2)]
    assert bounced == pytest.approx([0.90, 0.72, 0.23], abs=0.015)


@pytest.mark.parametrize("meshes, step, near, alike", some(
    [((4, 5), 1 / 96, 0.006, 0.03), ((4, 7), 1 / 192, 0.005, 0.02)], ((4, 5), 1 / 96, 0.006, 0.03)))
def test_a_ball_on_a_finer_mesh_bounces_alike(tmp_path, meshes, step, near, alike):
    coarse, fine = (dropped(tmp_path / str(cells), cells, damping=4e-3, step=step) for cells in meshes)
    assert np.abs(coarse[0] - fine[0]).max() < near  # of 20 cm, in 35 cm of way
    assert coarse[1][-1] == pytest.approx(fine[1][-1], rel=alike)


# the same bytes

@pytest.mark.parametrize("solver", some(["quick", "newton_d"], "quick"))
def test_threads_and_what_was_before_change_no_byte(tmp_path, solver):
    """SDIRK2: as many pairs as two threads share, and a new world from the state in mid-contact."""
    from solver.threads import configure

    def made(folder):
        arrays = {}
        bodies = [soft("Low", *box((4, 4, 2), (0.3, 0.3, 0.15), (-0.15, -0.15, 0.01)), arrays, modulus=2e4),
                  soft("High", *box((4, 4, 2), (0.3, 0.3, 0.15), (-0.1, -0.12, 0.18)), arrays, modulus=2e4)]
        law = {"kind": "barrier", "params": {"friction_coefficient": 0.4}}
        return nodes_of(load(contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 24), arrays)], arrays,
                                         integrator={"kind": "sdirk2"}, stage_solver={"kind": solver},
                                         contact={"law": law})))

    ends = []
    for threads in (1, 2):
        configure(threads)
        part = made(tmp_path / f"job{threads}")
        state = part.initial_state()
        for k in range(12):
            state = part.step(state, H)
            part.forget_past()  # as at a snapshot
            if threads == 2 and k == 9:
                pairs = len(part.contacts[0].find_active_pairs(part.coordinates.positions(state.q, state.time)).nodes)
                part = made(tmp_path / "again")
        ends.append(state)
    configure(None)
    assert pairs > 300  # of which each thread takes some
    assert np.array_equal(ends[0].q, ends[1].q) and np.array_equal(ends[0].u, ends[1].u)
