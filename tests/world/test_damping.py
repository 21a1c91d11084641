"""Material damping D = ∂f/∂v: its matrix, its place in every kind of stage, and what it must not brake."""

import functools

import numpy as np
import pytest
import scipy.linalg
from bodies import box, damping, make, nearest, positions, rows, run, stiffness
from matrix import crossed
from small_jobs import box_job, change
from worlds import nodes_of

from solver import catalogue
from solver.coordinates.floating import evaluate_rigid_field
from solver.job.load import load
from solver.meshing.volume import tet_volumes
from solver.nonlinear.problem import StageProblem
from solver.parts.stage import NodeStage
from solver.state import State

H, BETA = 1 / 120, 0.6
BAR = box((5, 2, 2), (0.1, 0.04, 0.04))
KINDS = list(catalogue.family("damping"))
#: one share of K everywhere; shares of their own; and what is no share of K at all
LAWS = {"one share": ("rayleigh", 0.02, 3.0), "pieces": [("rayleigh", 0.002, 3.0), ("rayleigh", 0.03, 3.0)],
        "green": ("green", 0.02, 3.0), "mixed": [("green", 0.01, 0.0), ("rayleigh", 0.02, 0.0)],
        "drag": ("rayleigh", 0.0, 3.0)}


class Drag:
    """Prescribed nodes that leave their places, each at a velocity of its own."""

    def __init__(self, start):
        self.start, self.speed = start, 0.3 * np.random.default_rng(4).normal(size=start.shape)

    def at(self, time):
        return self.start + time * self.speed

    def velocity(self, time):
        return self.speed


def left(nodes):
    return np.flatnonzero(nodes[:, 0] < 1e-9)


def shaken(world, size=1e-3):
    state = world.initial_state()
    rng = np.random.default_rng(0)
    return State(0.0, state.q + size * rng.normal(size=state.q.shape), 0.1 * rng.normal(size=state.q.shape))


def test_rayleigh_is_shares_of_stiffness_and_mass():
    nodes, tets = BAR
    world = make(nodes, tets, damping=("rayleigh", 0.02, 3.0))
    x = positions(world, shaken(world))
    K, _ = stiffness(world, x)
    want = 0.02 * K - 3.0 * np.diag(np.repeat(world.mass, 3))
    assert np.abs(damping(world, x) - want).max() <= 1e-12 * np.abs(want).max()


def test_green_dissipates_by_the_rate_of_green_strain():
    """−½ vᵀ D v is Σ V ½ η |Ė|², η = α E, at any deformation."""
    nodes, tets = BAR
    young = np.geomspace(1e4, 1e5, len(tets))
    world = make(nodes, tets, young=young, damping=("green", 0.02, 0.0))
    rng = np.random.default_rng(3)
    x, v = nodes + 0.02 * rng.normal(size=nodes.shape), rng.normal(size=nodes.shape)
    inverse = np.linalg.inv(np.swapaxes(nodes[tets[:, 1:]] - nodes[tets[:, :1]], 1, 2))
    F, rate = (np.swapaxes(field[tets[:, 1:]] - field[tets[:, :1]], 1, 2) @ inverse for field in (x, v))
    strain = 0.5 * (np.swapaxes(F, 1, 2) @ rate + np.swapaxes(rate, 1, 2) @ F)
    want = 0.5 * np.sum(tet_volumes(nodes, tets) * 0.02 * young * np.sum(strain**2, axis=(1, 2)))
    D = damping(world, x)
    assert -0.5 * v.ravel() @ D @ v.ravel() == pytest.approx(want, rel=1e-12)
    assert np.abs(D - D.T).max() <= 1e-12 * np.abs(D).max()


def test_both_kinds_stretch_a_bar_of_cork_alike():
    nodes, tets = BAR
    pulled = np.stack([nodes[:, 0], 0 * nodes[:, 0], 0 * nodes[:, 0]], 1)
    forces = [damping(make(nodes, tets, poisson=1e-6, damping=(kind, 0.02, 0.0)), nodes) @ pulled.ravel()
              for kind in KINDS]
    assert np.abs(forces[0] - forces[1]).max() <= 1e-5 * np.abs(forces[0]).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-3, 0.02])
def test_damping_never_gives_energy(kind, size):
    """Also where elements are turned inside out."""
    nodes, tets = BAR
    world = make(nodes, tets, damping=(kind, 0.02, 3.0), gravity=(0, 0, 0))
    values = np.linalg.eigvalsh(damping(world, positions(world, shaken(world, size))))
    assert values.max() <= -3.0 * world.mass.min() * (1 - 1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("ground", [None, (0.001, 300.0)])
def test_vanilla_step_is_the_dense_step(law, ground):
    nodes, tets = BAR
    pinned = left(nodes)
    world = make(nodes, tets, pinned=pinned, motion=Drag(nodes[pinned]), method="vanilla", beta=BETA,
                 damping=LAWS[law], ground=ground)
    state = shaken(world)
    x = positions(world, state)
    K, f = stiffness(world, x)
    D = damping(world, x)
    after = world.step(state, H)
    free, prescribed = rows(world.coordinates.free), rows(pinned)
    M, w = np.repeat(world.mass, 3), world.coordinates.compute_prescribed_velocity(0.0, H).ravel()
    S = np.diag(M) - H * D - BETA * H**2 * K
    right = (M[free] * state.u + H * f[free]) - S[np.ix_(free, prescribed)] @ w
    want = np.linalg.solve(S[np.ix_(free, free)], right)
    assert np.abs(H * D).max() > 1e-3 * np.abs(S).max()
    assert np.abs(after.u - want).max() <= 1e-9 * np.abs(want).max()


@pytest.mark.parametrize("support", ["pinned", "moving", "free"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("ground", [None, (0.001, 300.0)])
def test_conjac_step_is_the_dense_step(law, support, ground):
    """J from K alone, without contacts; the correction of positions leaves f − M (a + β v) without residual, a and v
    rigid."""
    nodes, tets = BAR
    pinned = np.zeros(0, int) if support == "free" else left(nodes)
    dynamic = [nearest(nodes, p) for p in [(0.1, 0, 0), (0.06, 0.04, 0.04), (0.02, 0.04, 0)]]
    world = make(nodes, tets, pinned=pinned, motion=Drag(nodes[pinned]) if support == "moving" else None,
                 dynamic=dynamic, beta=BETA, gamma=0.4, damping=LAWS[law], ground=ground, solve_impacts=False)
    state = shaken(world, 1e-4)
    x = positions(world, state)
    K, f = stiffness(world, x)
    D = damping(world, x)
    contacts = world.linearise_at(x, None, 0.0, True).node_blocks.copy()
    bare = K - scipy.linalg.block_diag(*contacts)
    assert (ground is None) == (not contacts.any())
    after = world.step(state, H)

    d, free, still = rows(dynamic), rows(world.coordinates.free), rows(pinned)
    q = np.setdiff1d(free, d)

    def follow(K):
        J, w = np.zeros((len(K), len(d))), np.zeros(len(K))
        J[d] = np.eye(len(d))
        J[q] = -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, d)])
        if support == "moving":
            w[still] = world.coordinates.compute_prescribed_velocity(0.0, H).ravel()
            w[q] = -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, still)] @ w[still])
        return J, w

    (V, w), (B, w_balance) = follow(bare), follow(K)
    M = np.repeat(world.mass, 3)
    v0 = world.coordinates.spread(state.u, None).ravel()
    field, drag = evaluate_rigid_field(x, x.mean(axis=0), 1.0).reshape(-1, 6), np.repeat(
        world._damping.at(x, np.zeros_like(x), 0.0).drag / world.mass, 3)
    rigidly = field @ np.linalg.solve(field.T @ (M[:, None] * field), field.T * M) * (support == "free")
    # f of the step's end balances with M a where velocities follow in another way than positions
    lag = (V - B).T @ (M[:, None] * rigidly)
    A = V.T @ (np.diag(M) - H * D) @ V - BETA * H**2 * B.T @ K @ B - lag @ ((1 + H * drag)[:, None] * V)
    b = V.T @ (M * (v0 - w) + H * D @ w) + H * B.T @ f + BETA * H**2 * B.T @ K @ w_balance
    v = w + V @ np.linalg.solve(A, b + lag @ ((1 + H * drag) * w - v0))
    assert np.abs(after.u - v[free]).max() <= 1e-8 * np.abs(v).max()

    rigid = rigidly @ ((v - v0) / H + drag * v)
    b = np.zeros(len(K))
    b[q] = -np.linalg.solve(K[np.ix_(q, q)], (f - M * rigid)[q]) / H
    moved = H * (v + 0.4 * b)[free]
    assert np.abs(after.q - state.q - moved).max() <= 1e-8 * np.abs(moved).max()


@pytest.mark.parametrize("integrator", [entry.key for entry in catalogue.family("integrator").values()
                                        if not entry.why_not("quasistatic")])
@pytest.mark.parametrize("law", LAWS)
def test_conjac_with_every_node_dynamic_is_vanilla(law, integrator):
    """In every stage, also in stages that share a factor."""
    nodes, tets = box((4, 1, 1), (0.12, 0.03, 0.03))
    pinned = left(nodes)
    free = np.setdiff1d(np.arange(len(nodes)), pinned)
    ends = [run(make(nodes, tets, pinned=pinned, motion=Drag(nodes[pinned]), method=method, dynamic=dynamic,
                     integrator=integrator, damping=LAWS[law], tolerance=1e-11), 4)
            for method, dynamic in (("vanilla", free[:0]), ("conjac", free))]
    assert np.abs(ends[0].q - ends[1].q).max() <= 1e-10
    assert np.abs(ends[0].u - ends[1].u).max() <= 1e-9


@pytest.mark.parametrize("law", LAWS)
def test_merit_s_gradient_is_the_residual_and_a_stage_lands_on_its_root(law):
    nodes, tets = BAR
    pinned = left(nodes)
    world = make(nodes, tets, pinned=pinned, motion=Drag(nodes[pinned]), method="vanilla", damping=LAWS[law],
                 integrator="backward_euler", tolerance=1e-11)
    state, full = shaken(world), world.condensation
    v0 = world.velocity(state)
    stage = NodeStage(H, 2 / 3, 0.6, H, None, v0, world.coordinates.compute_prescribed_rate(H))
    base = world.coordinates.positions(state.q, H)
    base[pinned] -= stage.b * H * stage.w
    damped = world._evaluate_damping(state, H)
    problem = StageProblem(world, world.stage_method.system, stage, base, pinned, damped)
    rng = np.random.default_rng(1)
    u, direction = (rng.normal(size=3 * len(full.pattern.order)) for _ in range(2))
    ends = [problem.evaluate(u + sign * 1e-5 * direction) for sign in (1, -1)]
    at = problem.evaluate(u)
    assert (ends[0].merit - ends[1].merit) / 2e-5 == pytest.approx(at.residual @ direction, rel=1e-6)
    # and the matrix is the slope of the residual
    problem.fill(u, project=False)
    lower = full.matrix.toarray()
    slope = (lower + np.tril(lower, -1).T) @ direction
    assert np.abs((ends[0].residual - ends[1].residual) / 2e-5 - slope).max() <= 1e-6 * np.abs(slope).max()

    D = damping(world, world.coordinates.positions(state.q + H * state.u, H))
    after = world.step(state, H)
    v = world.velocity(after)
    _, f = stiffness(world, positions(world, after), H)
    rest = np.repeat(world.mass, 3) * (v - v0).ravel() - H * (f + D @ v.ravel())
    free = rows(world.coordinates.free)
    assert np.abs(rest[free]).max() <= 1e-9 * np.abs(H * f[free]).max()


@pytest.mark.parametrize("kind", KINDS)
def test_a_mode_dies_at_the_rate_of_the_closed_form(kind):
    """d = α ω² + β, by the midpoint rule, which damps nothing itself."""
    nodes, tets = BAR
    world = make(nodes, tets, pinned=left(nodes), method="vanilla", gravity=(0, 0, 0), integrator="midpoint",
                 poisson=1e-6, tolerance=1e-8, damping=(kind, 1e-2, 1.5))
    free = rows(world.coordinates.free)
    K, _ = stiffness(world, nodes)
    squares, modes = scipy.linalg.eigh(-K[np.ix_(free, free)], np.diag(np.repeat(world.mass, 3)[free]))
    omega, mode = np.sqrt(squares[0]), modes[:, 0]
    rate = 1e-2 * omega**2 + 1.5
    start = world.initial_state()
    h, steps = 2 * np.pi / omega / 200, 100
    state = State(0.0, start.q + 1e-4 * mode / np.abs(mode).max(), 0 * start.q)
    after = run(world, steps, h, state)

    def amplitude(state):
        """Return the envelope of q̈ + d q̇ + ω² q = 0: the size of (q, (q̇ + d q/2)/Ω)."""
        weights = np.repeat(world.mass, 3)[free] * mode
        q, u = weights @ (state.q - start.q), weights @ state.u
        return np.hypot(q, (u + 0.5 * rate * q) / np.sqrt(omega**2 - 0.25 * rate**2))

    found = -2 * np.log(amplitude(after) / amplitude(state)) / (steps * h)
    # cork in both kinds of damping alike, so Green's is α ω² too
    assert found == pytest.approx(rate, rel=2e-3)
    assert rate > 5.0


def total(world, field):
    return (world.mass[:, None] * field).sum(axis=0)


@pytest.mark.parametrize("method,integrator", [("vanilla", "semi_implicit"), ("vanilla", "bdf2"), ("vanilla", "sbdf2"),
                                               ("vanilla", "generalized_alpha"), ("conjac", "semi_implicit")])
@pytest.mark.parametrize("law", [("rayleigh", 0.02, 0.0), ("green", 0.02, 0.0)])
def test_without_mass_damping_momentum_is_conserved(law, method, integrator):
    nodes, tets = BAR
    params = {"spectral_radius": 0.5} if integrator == "generalized_alpha" else {}
    world = make(nodes, tets, method=method, integrator=integrator, gravity=(0, 0, 0), damping=law, tolerance=1e-11,
                 dynamic=[nearest(nodes, (0.1, 0, 0)), nearest(nodes, (0, 0.04, 0.04))], **params)
    state = shaken(world)
    first = world.step(state, H)  # ConJac's step has made velocities follow the dynamic nodes
    before, after = (total(world, world.velocity(at)) for at in (first, run(world, 8, H, first)))
    assert np.abs(after - before).max() <= 1e-8 * np.abs(world.mass[:, None] * world.velocity(first)).sum()


@pytest.mark.parametrize("law,share", [(("rayleigh", 0.01, 0.0), 1e-2), (("green", 0.1, 0.0), 2e-3)])
def test_a_turning_body_is_not_braked_to_first_order(law, share):
    """A tenth of the step, a thousandth of what a step loses; at the first moment nothing at all."""
    nodes, tets = BAR
    world = make(nodes, tets, method="vanilla", integrator="midpoint", gravity=(0, 0, 0), damping=law, tolerance=1e-12)
    spin = np.cross([0.0, 2.0, 5.0], nodes - nodes.mean(axis=0))
    assert np.abs(damping(world, nodes) @ spin.ravel()).max() <= 1e-12

    def lost(h):
        state = world.initial_state()
        after = world.velocity(world.step(State(0.0, state.q, spin.ravel()), h))
        momenta = [np.cross(nodes - nodes.mean(axis=0), world.mass[:, None] * spin).sum(axis=0),
                   np.cross(nodes + 0.5 * h * (spin + after) - nodes.mean(axis=0),
                            world.mass[:, None] * after).sum(axis=0)]
        return np.linalg.norm(momenta[1] - momenta[0]) / np.linalg.norm(momenta[0])

    assert lost(0.01) <= share
    assert lost(0.001) <= 2e-3 * lost(0.01)


def test_green_lets_a_loaded_body_turn_and_rayleigh_brakes_it():
    nodes, tets = BAR
    x = 1.3 * nodes
    spin = np.cross([0.0, 2.0, 5.0], x - x.mean(axis=0)).ravel()
    pull = [np.abs(damping(make(nodes, tets, damping=(kind, 0.1, 0.0)), x) @ spin).max()
            for kind in ("rayleigh", "green")]
    assert pull[1] <= 1e-12 and pull[0] > 0.1


@pytest.mark.parametrize("method", ["conjac", "vanilla"])
def test_a_body_that_falls_through_mud_keeps_its_shape(method):
    """v' = g − β v to terminal speed g/β, no strain: quasistatic nodes do not hang from the dynamic ones."""
    nodes, tets = BAR
    world = make(nodes, tets, method=method, young=1e4, damping=("rayleigh", 0.01, 20.0), gamma=1.0,
                 dynamic=[nearest(nodes, (0.1, 0, 0)), nearest(nodes, (0, 0.04, 0.04)), nearest(nodes, (0.06, 0, 0))])
    state, speed = world.initial_state(), 0.0
    for _ in range(120):
        state = world.step(state, H)
        speed = (speed - 9.81 * H) / (1 + 20.0 * H)
        assert np.abs(world.velocity(state) - [0, 0, speed]).max() <= 1e-9
    moved = positions(world, state) - nodes
    assert speed == pytest.approx(-9.81 / 20.0, rel=1e-6)
    assert np.ptp(moved, axis=0).max() <= 1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("integrator", ["backward_euler", "sdirk2"])
def test_energy_never_grows(law, integrator):
    """Wobbling hard, no work from outside."""
    nodes, tets = BAR
    world = make(nodes, tets, pinned=left(nodes), method="vanilla", integrator=integrator, gravity=(0, 0, 0),
                 damping=LAWS[law], tolerance=1e-10)
    state = shaken(world, 0.0)
    state = State(0.0, state.q, 20 * state.u)
    energies = []
    for _ in range(15):
        x, v = positions(world, state), world.velocity(state)
        energies.append(0.5 * np.vdot(world.mass[:, None] * v, v) + world.evaluate(x, 0.0)[1])
        state = world.step(state, H)
    assert (np.diff(energies) <= 1e-9 * energies[0]).all()
    assert energies[-1] < 0.5 * energies[0]


@functools.cache
def swung(kind, key, steps):
    """Return where a bar, strongly damped, has swung in 0.05 s."""
    nodes, tets = box((2, 1, 1), (0.08, 0.04, 0.04))
    params = {"spectral_radius": 0.5} if key == "generalized_alpha" else {}
    world = make(nodes, tets, young=1e3, gravity=(0, 0, -2), pinned=left(nodes), method="vanilla", beta=1.0,
                 project=False, integrator=key, tolerance=1e-12, damping=(kind, 0.02, 1.0), **params)
    free = nodes[world.coordinates.free]
    length, width, _ = free.T
    u = np.stack([0 * length, 6.0 * length, length * (4.0 + 40.0 * (width - 0.02))], 1)
    state = State(0.0, free.ravel(), u.ravel())
    h = 0.05 / steps
    for i in range(steps):
        state = world.step(State(i * h, state.q, state.u, state.memory), h)
    return np.concatenate([state.q, 0.02 * state.u])


ORDERS = {"semi_implicit": 1, "backward_euler": 1, "bdf2": 2, "sbdf2": 2, "tr_bdf2": 2, "str_bdf2": 2, "ssdirk2": 2,
          "sdirk": 2, "sdirk2": 2, "generalized_alpha": 2, "midpoint": 2, "trapezoidal": 2}


@pytest.mark.parametrize("integrator,kind", crossed(ORDERS, KINDS))
def test_the_order_of_accuracy_is_reached(once, integrator, kind):
    """D is held fixed in a stage, but where the body will be by then."""
    order = ORDERS[integrator]
    exact = once(f"swung-{kind}", lambda: swung(kind, "tr_bdf2", 320))
    errors = [np.linalg.norm(swung(kind, integrator, steps) - exact) for steps in (30, 60)]
    print(kind, integrator, errors, np.log2(errors[0] / errors[1]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_balance_knows_no_damping():
    nodes, tets = BAR
    ends = [make(nodes, tets, pinned=left(nodes), method="vanilla", integrator="quasistatic", damping=law)
            for law in (None, ("rayleigh", 0.1, 5.0))]
    first, second = (run(world, 2) for world in ends)
    assert np.array_equal(first.q, second.q)


def test_nothing_is_computed_where_nothing_is_damped():
    nodes, tets = BAR
    plain, off = (make(nodes, tets, dynamic=[nearest(nodes, (0.1, 0, 0))], damping=law)
                  for law in (None, [("green", 0.0, 0.0), ("rayleigh", 0.0, 0.0)]))
    assert off._damping is None and off.linearise(off.initial_state()).damped is None
    plain = make(nodes, tets, dynamic=[nearest(nodes, (0.1, 0, 0))])
    one = make(nodes, tets, dynamic=[nearest(nodes, (0.1, 0, 0))], damping=("rayleigh", 0.0, 0.0))
    assert run(plain, 3).q.tobytes() == run(one, 3).q.tobytes()


def test_one_share_of_stiffness_costs_no_blocks():
    nodes, tets = BAR
    world = make(nodes, tets, dynamic=[nearest(nodes, (0.1, 0, 0))], damping=("rayleigh", 0.02, 1.0))
    run(world, 2)
    assert world._damping._blocks is None


def test_ere_takes_the_damping_of_a_job(tmp_path):
    job = box_job(tmp_path / "job", end=2, motion=False, method={"kind": "vanilla"}, integrator={"kind": "ere"})

    def speed():
        world = nodes_of(load(job))
        return np.linalg.norm(world.step(world.initial_state(), 0.01).u)

    free = speed()
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 50.0}})
    assert speed() == pytest.approx(free * (1 - np.exp(-0.5)) / 0.5, rel=0.05)
