"""The room test: what is made up comes from outside, each one file and one entry: a material, an integrator, a damping
law, a joint, directions of fibers, a force between bodies; and a part."""

import json
import sys
import types

import numpy as np
import pytest
from made_up import Pendulum
from mechanisms import mechanism_job, mechanism_world, run
from small_jobs import box_job, change
from worlds import world_of as parts_of

from solver import catalogue
from solver.build.mechanisms import build_mechanisms
from solver.errors import BadScene
from solver.forces.rate_blocks import RateBlocks
from solver.forces.stencils import Stencils
from solver.job.load import load
from solver.materials.lanes import CONSTANT, ENERGY, GRADIENT, LANES, MATERIAL_KERNEL, STRESS, TANGENT
from solver.state import State
from solver.threads import kernel
from solver.world.world import World

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel(MATERIAL_KERNEL)
def energy(work, project):
    for lane in range(LANES):
        for entry in range(9):
            strain = work[(GRADIENT + entry) * LANES + lane] - IDENTITY[entry]
            work[ENERGY * LANES + lane] += 0.5 * work[CONSTANT * LANES + lane] * strain * strain


@kernel(MATERIAL_KERNEL)
def stress(work, project):
    for lane in range(LANES):
        for entry in range(9):
            strain = work[(GRADIENT + entry) * LANES + lane] - IDENTITY[entry]
            work[(STRESS + entry) * LANES + lane] += work[CONSTANT * LANES + lane] * strain


@kernel(MATERIAL_KERNEL)
def tangent(work, project):
    for lane in range(LANES):
        for block in range(3):
            for axis in range(3):
                work[(TANGENT + 9 * block + 4 * axis) * LANES + lane] += work[CONSTANT * LANES + lane]


class Gauze:
    """ψ = k/2 |F − 1|²: each coordinate solves Laplace's equation by itself."""

    energy, stress, tangent = energy, stress, tangent

    @staticmethod
    def constants(pull):
        return pull[None]


class Spokes:
    """Fibers away from the object's origin."""

    def __init__(self, params):
        self._reach = params["reach"]

    def directions(self, muscle):
        return self._reach * muscle.in_object(muscle.centres)


class Explicit:
    """v = v⁰ + h M⁻¹ f, x = x⁰ + h v, in rates; no stage is posed."""

    order, remembers = 1, ()

    def __init__(self, params):
        pass

    def step(self, system, state, h):
        u = state.u + h * system.acceleration(state)
        return State(state.time + h, state.q + h * u, u, state.memory)


class Sand:
    """D = −k M, and nothing between the nodes."""

    share = None

    def __init__(self, nodes, elastic, modulus, params):
        self.drag = params["grit"]

    def fill(self, x, forces, blocks):
        blocks[:] = 0.0


class Hooks:
    """Springs from each corner of the second body's skin to its nearest node of the first one's skin."""

    def __init__(self, bodies, rest, params):
        above, below = (np.unique(body.skin) for body in bodies)
        top = below[rest[below, 2] > rest[below, 2].max() - 1e-9]
        away = np.linalg.norm(rest[above] - rest[top][:, None], axis=2)
        self.pairs = np.stack([top, above[away.argmin(axis=1)]], axis=1).astype(np.int32)
        self.length = away.min(axis=1)
        self.stiffness, self.drag = params["pull"] / len(self.pairs), params["drag"] / len(self.pairs)

    def measure(self, x, time):
        return self.fill(x, time, True)

    def damp(self, x, time):
        if not self.drag:
            return None
        way = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        along = way / np.linalg.norm(way, axis=1)[:, None]
        block = self.drag * along[:, :, None] * along[:, None, :]
        return Stencils(self.pairs, np.zeros((len(block), 2, 3)), block.reshape(-1, 1, 9), 0.0)

    def fill(self, x, time, project):
        way = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        length = np.linalg.norm(way, axis=1)
        along, stretch = way / length[:, None], length - self.length
        force = -self.stiffness * stretch[:, None] * along
        lateral = self.stiffness * stretch / length
        lateral = np.maximum(lateral, 0.0) if project else lateral
        outer = along[:, :, None] * along[:, None, :]
        block = self.stiffness * outer + lateral[:, None, None] * (np.eye(3) - outer)
        return Stencils(self.pairs, np.stack([force, -force], axis=1), block.reshape(-1, 1, 9),
                        0.5 * self.stiffness * float(stretch @ stretch))


class Belt:
    """A damped spring between what two hinges turn by, and a flywheel that turns with the first one."""

    def __init__(self, rates, params):
        self.rates, self.params = np.concatenate(rates), params

    def blocks(self, place, u, time):
        way = np.array([1.0, -self.params["ratio"]])
        pull, off = self.params["pull"], way @ place
        outer = np.outer(way, way)
        return RateBlocks(-pull * off * way, np.diag([self.params["flywheel"], 0.0]), -self.params["drag"] * outer,
                          -pull * outer, 0.5 * pull * off**2)


class Wire:
    """A bead on z = x²: one length, a motion along a curve."""

    centre = ()

    @staticmethod
    def fill(bodies, dof, q, u, start, centres, place, subspace, bend):
        x, rate = q[dof[bodies]], u[dof[bodies]]
        place[bodies, 0, 3], place[bodies, 2, 3] = x, x * x
        subspace[dof[bodies], 3], subspace[dof[bodies], 5] = 1.0, 2.0 * x
        bend[bodies, 5] = 2.0 * rate * rate


@pytest.fixture
def room(monkeypatch):
    """Files that the solver does not have, and their entries."""
    for name, made in (("materials.gauze", Gauze), ("integrators.explicit", Explicit), ("forces.sand", Sand),
                       ("fields.fibers.spokes", Spokes), ("coordinates.joints.wire", Wire), ("forces.hooks", Hooks),
                       ("forces.belt", Belt)):
        module = types.ModuleType(f"solver.{name}")
        setattr(module, made.__name__, made)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    pull = catalogue.Param("pull", "Pull", "How much it resists", 2e4, "Pa", 1.0, 1e9, field=True)
    grit = catalogue.Param("grit", "Grit", "How fast it stops", 5.0, "1/s", 0.0, 1e3)
    monkeypatch.setattr(catalogue, "ENTRIES", (
        *catalogue.ENTRIES, catalogue.Entry("fiber_field", "spokes", "fields.fibers.spokes:Spokes", "Spokes", "Made up",
                                            (catalogue.Param("reach", "Reach", "How far", 2.0),)),
        catalogue.Entry("force", "hooks", "forces.hooks:Hooks", "Hooks", "Made up",
                        (catalogue.Param("pull", "Pull", "Of all springs together", 100.0, "N/m", 1e-3, 1e9),
                         catalogue.Param("drag", "Drag", "Of all springs together", 0.0, "N s/m", 0.0, 1e9))),
        catalogue.Entry("rate_law", "belt", "forces.belt:Belt", "Belt", "Made up", tuple(
            catalogue.Param(key, key.title(), "Made up", default) for key, default in
            (("pull", 30.0), ("drag", 0.0), ("ratio", 2.0), ("flywheel", 0.0)))),
        catalogue.Entry("joint", "wire", "coordinates.joints.wire:Wire", "Wire", "Made up", rates=("length",)),
        catalogue.Entry("damping", "sand", "forces.sand:Sand", "Sand", "Made up", (grit,)),
        catalogue.Entry("material", "gauze", "materials.gauze:Gauze", "Gauze", "Made up", (pull,)),
        catalogue.Entry("integrator", "explicit", "integrators.explicit:Explicit", "Explicit", "Made up")))


def world_of(job):
    from worlds import nodes_of

    return nodes_of(load(job))


def test_a_made_up_material_bakes(room, tmp_path):
    """Pulled along itself by gravity g the bar stretches by ρ g (L x − x²/2) / k, found by the Newton of the start."""
    job = box_job(tmp_path / "job", end=2, cells=(12, 4, 4), motion=False, gravity=[3.0, 0.0, 0.0],
                  method={"kind": "conjac", "params": {"quasistatic_start": True}})
    change(job, "bodies.0.material", {"kind": "gauze", "params": {"pull": 1e4}})
    world = world_of(job)
    x = world.rest[:, 0]
    state = world.initial_state()
    moved = world.output(state, 0) - world.rest
    assert moved[:, 0] == pytest.approx(1000 * 3.0 * (0.2 * x - 0.5 * x * x) / 1e4, abs=2e-2 * 6e-3)
    assert np.abs(moved[:, 1:]).max() <= 1e-12
    after = world.step(state, 1 / 96)
    assert np.abs(after.q - state.q).max() <= 1e-9


def test_a_made_up_direction_of_fibers_bakes(room, tmp_path):
    job = box_job(tmp_path / "job", end=2, motion=False)
    change(job, "bodies.0.fiber_material", {"kind": "astvk", "params": {}})
    change(job, "bodies.0.fiber_field", {"kind": "spokes", "params": {"reach": 3.0}})
    world = world_of(job)
    centres = world.rest[world.tets].mean(axis=1)
    fibers = world.elastic[0].fibers.constants[:3].T
    assert fibers == pytest.approx((centres / np.linalg.norm(centres, axis=1)[:, None])[:len(fibers)])
    assert np.isfinite(world.step(world.initial_state(), 1 / 96).q).all()


def test_its_parameters_are_checked_like_any_other_s(room, tmp_path):
    job = box_job(tmp_path / "job", end=2, motion=False)
    change(job, "bodies.0.material", {"kind": "gauze", "params": {"pull": 0.5}})
    with pytest.raises(BadScene, match=r"Pull is 0.5 and cannot be below 1 Pa.*material\.params\.pull"):
        load(job)


def test_a_made_up_integrator_bakes(room, tmp_path):
    """Explicit: a first step from rest moves free nodes by h² g, whatever the stiffness."""
    job = box_job(tmp_path / "job", end=2, motion=False, integrator={"kind": "explicit"})
    world = world_of(job)
    state = world.initial_state()
    after = world.step(state, 1e-4)
    moved = (after.q - state.q).reshape(-1, 3)
    assert np.abs(moved - [0, 0, -9.81e-8]).max() <= 1e-15


def test_a_made_up_damping_law_bakes(room, tmp_path):
    """A first step from rest under g, of a body without stiffness: v = h g / (1 + h k)."""
    job = box_job(tmp_path / "job", end=2, motion=False, method={"kind": "vanilla"})
    change(job, "bodies.0.material", {"kind": "gauze", "params": {"pull": 1.0}})
    change(job, "bodies.0.damping", {"kind": "sand", "params": {"grit": 8.0}})
    world = world_of(job)
    after = world.step(world.initial_state(), 1e-3)
    assert after.u.reshape(-1, 3)[:, 2] == pytest.approx(-9.81e-3 / (1 + 8e-3), rel=1e-3)
    assert np.abs(after.u + 9.81e-3).max() > 5e-5


def test_a_made_up_joint_bakes(room, tmp_path):
    """A bead slides down its wire and up again: x'' (1 + 4 x²) + 4 x x'² + 2 g x = 0."""
    from scipy.integrate import solve_ivp

    bead = {"name": "Bead", "position": [0.5, 0.0, 0.25], "shape": {"kind": "sphere", "params": {"radius": 0.05}}}
    wire = {"name": "Wire", "kind": "wire", "child": "Bead", "start": [0.5]}
    world = mechanism_world(tmp_path / "job", [bead], [wire], integrator="sdirk2")
    after = run(world, 1e-3, 800)

    def slide(t, y):
        x, rate = y
        return rate, -(4.0 * x * rate**2 + 2.0 * 9.81 * x) / (1.0 + 4.0 * x * x)

    x = solve_ivp(slide, (0.0, 0.8), [0.5, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]
    assert x[0] < -0.2
    assert [after.q[0], after.u[0]] == pytest.approx(list(x), abs=1e-5)
    # a number too many is refused as for any other joint
    with pytest.raises(BadScene, match="Wire"):
        mechanism_world(tmp_path / "wrong", [bead], [{**wire, "start": [0.5, 0.5]}])


WHEEL = {"kind": "sphere", "params": {"radius": 0.1}}


def wheels(joints=2, **belt):
    """Wheels side by side on hinges along Z, the first one spinning, and a belt from the first to the second."""
    bodies = [{"name": f"Wheel {k}", "position": [0.4 * k, 0, 0], "mass": 2.0, "shape": WHEEL} for k in range(joints)]
    hinges = [{"name": f"Axle {k}", "child": f"Wheel {k}", "position": [0.4 * k, 0, 0], "rate": [0.0 if k else 3.0]}
              for k in range(joints)]
    force = {"rate_law": {"kind": "belt", "params": belt}, "joints": ["Axle 0", "Axle 1"]}
    return bodies, hinges, force


def belt_mechanism(folder, integrator, bodies, hinges, force, **scene):
    job = mechanism_job(folder, bodies, hinges, integrator=integrator, **scene)
    change(job, "mechanisms.0.rate_forces", [force])
    return job


@pytest.mark.parametrize("friction", ["none", "bisp"])
@pytest.mark.parametrize("integrator", ["semi_implicit", "bdf2", "sdirk2"])
def test_a_made_up_law_on_rates_bakes(room, tmp_path, integrator, friction):
    """M θ̈ = −(k θ + c θ̇) of two wheels, M with a flywheel that no body has, against its closed solution."""
    from scipy.linalg import expm

    bodies, hinges, force = wheels(pull=30.0, drag=0.05, flywheel=0.02)
    if friction == "bisp":
        # a bearing that rubs next to nothing: what joints carry is asked all the same
        hinges[1]["friction"] = {"mu": 1e-9}
    world = build_mechanisms(load(belt_mechanism(tmp_path / "job", integrator, bodies, hinges, force,
                                                 gravity=[0.0, 0.0, 0.0], joint_friction={"kind": friction})))
    steps, h = 400, 1e-3
    state = run(world, h, steps)
    moment = 0.4 * 2.0 * 0.1**2
    mass, way = np.diag([moment + 0.02, moment]), np.array([1.0, -2.0])
    rates = np.zeros((4, 4))
    rates[:2, 2:] = np.eye(2)
    rates[2:, :2] = np.linalg.solve(mass, -30.0 * np.outer(way, way))
    rates[2:, 2:] = np.linalg.solve(mass, -0.05 * np.outer(way, way))
    wanted = expm(steps * h * rates) @ [0.0, 0.0, 3.0, 0.0]
    near = 0.15 if integrator == "semi_implicit" else 2e-3
    assert np.abs([*state.q, *state.u] - wanted).max() <= near * 3.0
    # the spring couples both: by itself the second one would not have moved
    assert abs(wanted[3]) > 0.5


def test_a_law_on_rates_keeps_the_energy_that_it_tells_of(room, tmp_path):
    bodies, hinges, force = wheels(3, flywheel=0.05)
    world = build_mechanisms(load(belt_mechanism(tmp_path / "job", "sdirk2", bodies, hinges, force)))
    before = world.initial_state()
    after = run(world, 2e-4, 500, before)
    assert world.energy(before) == pytest.approx(0.5 * (0.008 + 0.05) * 9.0)
    assert world.energy(after) == pytest.approx(world.energy(before), rel=1e-5)


def test_a_law_on_rates_acts_on_bones_with_flesh(room, tmp_path):
    """What hangs on the wheels is inertia to the belt: as if they were heavier by it."""
    bodies, hinges, force = wheels(pull=30.0)
    job = box_job(tmp_path / "job", motion=False, cells=(2, 1, 1), gravity=[0.0, 0.0, 0.0],
                  method={"kind": "vanilla"}, integrator={"kind": "sdirk2"})
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.material.params", {"youngs_modulus": 1e8})
    nodes = np.load(job / "arrays" / "nodes.npy")
    np.save(job / "arrays" / "held.npy", np.arange(len(nodes) - 4, dtype=np.int32))
    change(job, "bodies.0.attach", [{"mechanism": "Robot", "body": "Wheel 1", "nodes": "arrays/held.npy"}])
    change(job, "mechanisms", [{"name": "Robot", "bodies": bodies, "joints": hinges, "rate_forces": [force]}])
    [part] = parts_of(load(job)).parts
    state = part.initial_state()
    moment = part.jointed.tree.inertia[:, 2, 2]
    soft = part.parted(state)[0]
    x = part.soft.coordinates.place(soft.q, 0.0, soft.led) - [0.4, 0.0, 0.0]
    heavier = moment[1] + part.soft.mass @ (x[:, 0]**2 + x[:, 1]**2)
    for _ in range(100):
        state = part.step(state, 1e-3)
    joints = part.parted(state)[1]
    way = np.array([1.0, -2.0])
    frequency = np.sqrt(30.0 * (way**2 @ (1.0 / np.array([moment[0], heavier]))))
    # apart they swing at this frequency, and the mean of both, weighed with what they are worth, goes on as it was
    assert way @ joints.u == pytest.approx(3.0 * np.cos(0.1 * frequency), abs=0.03)
    # J_0 u_0 and J_1 u_1 change as 1 to −2, so this stays
    assert 2.0 * moment[0] * joints.u[0] + heavier * joints.u[1] == pytest.approx(2.0 * moment[0] * 3.0, rel=5e-3)


def test_laws_on_rates_are_checked(room, tmp_path):
    bodies, hinges, force = wheels()
    job = belt_mechanism(tmp_path / "job", "bdf2", bodies, hinges, force)
    for joints, said in (([], "acts on no joint"),
                         (["Axle 0", "Axle 7"], '"Axle 7" is no joint of "Robot".*Use Axle 0'),
                         (["Axle 0", "Axle 0"], '"Axle 0" is named twice')):
        change(job, "mechanisms.0.rate_forces.0.joints", joints)
        with pytest.raises(BadScene, match=said):
            load(job)
    change(job, "mechanisms.0.rate_forces.0.joints", ["Axle 0", "Axle 1"])
    change(job, "mechanisms.0.joints.1", {"name": "Axle 1", "child": "Wheel 1", "kind": "spherical"})
    with pytest.raises(BadScene, match='"Axle 1" neither turns about axes.*Name hinges'):
        build_mechanisms(load(job))


def hanging_job(folder, kind, **scene):
    """A box that is held at one end, one that hangs from it by hooks and is free, and one by itself."""
    job = box_job(folder, motion=False, cells=(2, 1, 1), method={"kind": kind}, **scene)
    [body] = json.loads((job / "scene.json").read_text())["bodies"]
    np.save(job / "arrays" / "below.npy", np.load(job / "arrays" / "nodes.npy") - [0.0, 0.0, 0.15])
    np.save(job / "arrays" / "apart.npy", np.load(job / "arrays" / "nodes.npy") + [0.0, 1.0, 0.0])
    free = {"name": "Lamp", "tets": {"nodes": "arrays/below.npy", "tets": "arrays/tets.npy"}, "density": 100.0,
            "material": body["material"], "dynamic": body["dynamic"]}
    alone = {**body, "name": "Apart", "tets": {"nodes": "arrays/apart.npy", "tets": "arrays/tets.npy"}}
    change(job, "bodies", [free, body, alone])
    change(job, "forces", [{"law": {"kind": "hooks", "params": {"pull": 400.0}}, "bodies": ["Ear", "Lamp"]}])
    return job


def bake(world, h, steps):
    state = world.initial_state()
    for _ in range(steps):
        state = world.step(state, h)
    return state


@pytest.mark.parametrize("kind,integrator", [("vanilla", "semi_implicit"), ("vanilla", "sdirk2"),
                                             ("conjac", "semi_implicit"), ("conjac", "bdf2")])
def test_a_made_up_force_between_bodies_bakes_with_a_soft_body_and_a_made_up_part(room, tmp_path, kind, integrator):
    job = hanging_job(tmp_path / "job", kind, integrator={"kind": integrator})
    world = parts_of(load(job))
    # what acts on each other is one part; who is by itself in ConJac's has one of its own
    assert [sorted(name for name, _, _ in part.bodies) for part in world.parts] == (
        [["Apart", "Ear", "Lamp"]] if kind == "vanilla" else [["Ear", "Lamp"], ["Apart"]])
    whole = World([*world.parts, Pendulum(0.2)])
    h = 1 / 192
    state = bake(whole, h, 96)
    vertices = {name: whole.output(state, 1)[first:first + count] for name, first, count in whole.bodies}
    rest = {"Lamp": np.load(job / "arrays" / "below.npy"), "Ear": np.load(job / "arrays" / "nodes.npy")}
    fallen = (vertices["Lamp"] - rest["Lamp"])[:, 2].mean()
    # 0.2 kg on 400 N/m: it swings about 5 mm below where it starts, and the ear gives way besides; else it falls 1.2 m
    assert -0.08 < fallen < -0.002
    assert np.linalg.norm(vertices["Bob"][1]) == pytest.approx(0.2)
    # and what nothing joins moves as it does without the others
    change(job, "forces", [])
    loose = parts_of(load(job))
    apart = bake(loose, h, 96)
    place = {name: (first, count) for name, first, count in loose.bodies}
    first, count = place["Apart"]
    assert np.abs(loose.output(apart, 1)[first:first + count] - vertices["Apart"]).max() <= 1e-7
    first, count = place["Lamp"]
    assert (loose.output(apart, 1)[first:first + count] - rest["Lamp"])[:, 2].mean() < -1.0


@pytest.mark.parametrize("kind", ["vanilla", "conjac"])
def test_what_hooks_pull_one_way_they_pull_the_other(room, tmp_path, kind):
    """Without gravity and pins momentum stays, in both directions of a stretched spring."""
    job = hanging_job(tmp_path / "job", kind, gravity=[0.0, 0.0, 0.0], integrator={"kind": "sdirk2"})
    change(job, "bodies.1.pin", {})
    change(job, "bodies.2.pin", {})
    [part, *_] = parts_of(load(job)).parts
    state = part.initial_state()
    lamp = next(body.nodes for body in part.parts if body.name == "Lamp")
    u = np.zeros((len(part.rest), 3))
    u[lamp] = [0.05, 0.0, -0.3]
    state = State(0.0, state.q, u[part.coordinates.free].ravel())
    before = part.mass @ part.velocity(state)
    seen = []
    for _ in range(40):
        state = part.step(state, 1 / 192)
        velocity = part.velocity(state)
        assert part.mass @ velocity == pytest.approx(before, abs=1e-9)
        seen.append((part.mass[lamp] @ velocity[lamp])[2])
    # 400 N/m between 0.2 and 2 kg: 7.4 rad/s turns it back after 0.21 s
    assert min(seen) < 0.0 < max(seen)


@pytest.mark.parametrize("kind,integrator", [("vanilla", "semi_implicit"), ("vanilla", "bdf2"), ("vanilla", "sbdf2"),
                                             ("conjac", "semi_implicit"), ("conjac", "sdirk2")])
def test_what_hooks_damp_comes_to_rest_and_momentum_stays(room, tmp_path, kind, integrator):
    """Two stiff boxes on a damped spring: m ẍ = −k x − c ẋ of what their centres are apart, momentum as it was."""
    job = hanging_job(tmp_path / "job", kind, gravity=[0.0, 0.0, 0.0], integrator={"kind": integrator})
    change(job, "bodies.1.pin", {})
    change(job, "bodies.2.pin", {})
    for k in range(2):
        change(job, f"bodies.{k}.material.params", {"youngs_modulus": 1e8})
    change(job, "forces.0.law.params", {"pull": 40.0, "drag": 1.5})
    [part, *_] = parts_of(load(job)).parts
    state = part.initial_state()
    lamp, ear = (next(body.nodes for body in part.parts if body.name == name) for name in ("Lamp", "Ear"))
    u = np.zeros((len(part.rest), 3))
    u[lamp, 2] = -0.02
    state = State(0.0, state.q, u[part.coordinates.free].ravel())
    before = part.mass @ part.velocity(state)
    h, seen = 1 / 480, []
    for _ in range(120):
        state = part.step(state, h)
        velocity = part.velocity(state)
        assert part.mass @ velocity == pytest.approx(before, abs=1e-9)
        seen.append([part.mass[body] @ velocity[body, 2] / part.mass[body].sum() for body in (lamp, ear)])
    reduced = 1.0 / (1.0 / part.mass[lamp].sum() + 1.0 / part.mass[ear].sum())
    roots = np.roots([reduced, 1.5, 40.0])
    weights = np.linalg.solve([[1.0, 1.0], roots], [0.0, -0.02])  # apart by nothing, and at this rate
    rates = ((weights * roots)[:, None] * np.exp(np.outer(roots, h * np.arange(1, 121)))).sum(axis=0).real
    apart = np.array(seen)[:, 0] - np.array(seen)[:, 1]
    assert np.abs(apart - rates).max() <= (0.05 if integrator == "semi_implicit" else 0.01) * 0.02
    # without the damping it would swing on
    assert np.abs(rates[60:]).max() < 0.5 * 0.02


def test_forces_between_bodies_are_checked(room, tmp_path):
    job = hanging_job(tmp_path / "job", "conjac")
    for bodies, said in (([], "acts on no body"), (["Ear", "Lam"], r'"Lam" is no soft body.*Use Lamp, Ear, Apart'),
                         (["Ear", "Ear"], '"Ear" is named twice')):
        change(job, "forces.0.bodies", bodies)
        with pytest.raises(BadScene, match=said):
            load(job)
    change(job, "forces.0.bodies", ["Ear", "Lamp"])
    change(job, "bodies.0.method", {"kind": "vanilla"})
    with pytest.raises(BadScene, match='"Ear" and "Lamp" have different methods.*Give both the same'):
        load(job)
    change(job, "forces.0.law.kind", "hoks")
    with pytest.raises(BadScene, match='There is no force "hoks"'):
        load(job)


def test_forces_count_in_the_hash_and_names_do_not(room, tmp_path):
    from solver.job.hashes import hashes, settings

    job = hanging_job(tmp_path / "job", "conjac")
    first = hashes(settings(load(job))).solve
    change(job, "bodies.0.name", "Bulb")
    change(job, "forces.0.bodies", ["Ear", "Bulb"])
    assert hashes(settings(load(job))).solve == first
    change(job, "forces.0.law.params", {"pull": 401.0})
    assert hashes(settings(load(job))).solve != first
    change(job, "forces", [])
    assert hashes(settings(load(job))).solve != first


def test_what_a_force_joins_to_flesh_on_bones_is_solved_with_it(room, tmp_path):
    """A lamp hangs by hooks from an ear that rides on a body that nothing moves but a hinge."""
    job = hanging_job(tmp_path / "job", "conjac")
    arm = {"name": "Arm", "position": [-0.1, 0.05, 0.05], "mass": 5.0, "shape": {"kind": "box"}}
    hinge = {"name": "Hinge", "child": "Arm", "position": [-0.2, 0.05, 0.05], "rotation": [0.5**0.5, -(0.5**0.5), 0, 0],
             "stiffness": [500.0]}
    change(job, "mechanisms", [{"name": "Robot", "bodies": [arm], "joints": [hinge]}])
    change(job, "bodies.1.pin", {})
    change(job, "bodies.1.attach", [{"mechanism": "Robot", "body": "Arm", "nodes": "arrays/pinned.npy"}])
    world = parts_of(load(job))
    assert [sorted(name for name, _, _ in part.bodies) for part in world.parts] == [["Apart"], ["Ear", "Lamp"]]
    state = bake(world, 1 / 192, 48)
    place = {name: (first, count) for name, first, count in world.bodies}
    first, count = place["Lamp"]
    fallen = (world.output(state, 1)[first:first + count] - np.load(job / "arrays" / "below.npy"))[:, 2].mean()
    assert -0.15 < fallen < -0.002  # 0.3 m where nothing holds it
    change(job, "bodies.0.cuts", [{"frame": 3, "kind": "plane", "point": [0.1, 0, 0], "normal": [1, 0, 0]}])
    with pytest.raises(BadScene, match='"Lamp" hangs on a mechanism and has cuts or nails'):
        load(job)
