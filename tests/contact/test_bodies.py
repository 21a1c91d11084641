"""Rigid bodies that touch: they rest, slide, roll, stand on each other and fall down stairs."""

import numpy as np
import pytest
from falling import Falling, about, box, capsule, frame, quaternion, sphere
from matrix import some

from solver.rows.dense_dual import DenseDual
from solver.rows.tables import ConeRows, DenseRows, bounds_of

LEVEL = ((0, 0, 0), (0, 0, 1))


@pytest.mark.parametrize("shape, height", [(box(0.4, 0.3, 0.2), 0.1), (capsule(0.1, 0.4), 0.1), (sphere(0.1), 0.1)])
def test_what_lies_on_the_ground_stays(tmp_path, shape, height):
    lying = about((0, 1, 0), np.pi / 2) if shape["kind"] == "capsule" else about((0, 0, 1), 0.3)
    scene = Falling(tmp_path, {"a": (shape, frame((0.2, 0.1, height), lying))}, ground=LEVEL)
    at = scene.run(5.0, 0.01)
    assert at.E[0, :3, 3] == pytest.approx([0.2, 0.1, height], abs=1e-7)
    assert np.abs(at.twist).max() < 1e-7


def test_bodies_touch_the_ground_where_they_are_nearest_to_it_and_what_stands_does_not(tmp_path):
    """On a slope: of a ball one point, of a box that lies on it its four corners below; an obstacle reaches into it."""
    point, normal = np.array([0.1, -0.2, 0.3]), np.array([0.2, -0.1, 1.0]) / np.sqrt(1.05)
    tilt = about(np.cross([0, 0, 1], normal), np.arccos(normal[2]))
    along = tilt @ np.array([1.0, 0.0, 0.0])
    scene = Falling(tmp_path, {"ball": (sphere(0.1), frame(point + 0.0999 * normal)),
                               "box": (box(0.2, 0.2, 0.2), frame(point + along + 0.1001 * normal, tilt))},
                    obstacles=[(box(0.3, 0.3, 0.3), frame(point - 2.0 * along))], ground=(point, 3.0 * normal))
    found = scene.touching(0.001)
    ball, cube = (scene.place[name] for name in ("ball", "box"))
    assert found.body[:, 0].tolist() == [ball] + 4 * [cube] and (found.shape[:, 1] == -1).all()
    assert found.gap == pytest.approx([-1e-4, 1e-4, 1e-4, 1e-4, 1e-4], abs=1e-12)
    assert found.normal == pytest.approx(np.tile(normal, (5, 1)), abs=1e-12)
    # midway between both
    assert found.point[0] == pytest.approx(point - 5e-5 * normal, abs=1e-12)
    assert (found.point - point) @ normal == pytest.approx(0.5 * found.gap, abs=1e-12)


@pytest.mark.parametrize("mu", [0.2, 0.5])
@pytest.mark.parametrize("turned", [0.0, 0.6])
def test_a_box_slides_down_a_slope_as_coulomb_says(tmp_path, mu, turned):
    # whatever the slope's direction: friction is a cone, not a pyramid
    angle, around = np.radians(35.0), about((0, 0, 1), turned)
    normal = around @ np.array([np.sin(angle), 0, np.cos(angle)])
    down = around @ np.array([np.cos(angle), 0, -np.sin(angle)])
    tilt = around @ about((0, 1, 0), angle)
    scene = Falling(tmp_path, {"a": (box(0.4, 0.3, 0.2), frame(0.1 * normal, tilt))}, ground=((0, 0, 0), normal), mu=mu)
    h, steps = 0.005, 200
    at = scene.run(h * steps, h)
    acceleration = 9.81 * (np.sin(angle) - mu * np.cos(angle))
    # semi-implicit Euler goes Σ k h² a
    distance = at.E[0, :3, 3] - 0.1 * normal
    assert distance @ down == pytest.approx(0.5 * acceleration * h**2 * steps * (steps + 1), rel=1e-5)
    assert abs(distance @ np.cross(normal, down)) < 1e-6 and abs(distance @ normal) < 1e-8


def test_two_that_touch_rub_with_the_geometric_mean(tmp_path):
    """A box that slides on the ground and one that slides on an obstacle stop according to μ = √(μ₁ μ₂)."""
    speed, far = [0, 0, 0, 1.5, 0, 0], 1.5**2 / (2.0 * 0.4 * 9.81)
    bodies = {"a": (box(0.4, 0.3, 0.1), frame((0, 0, 0.05))), "b": (box(0.4, 0.3, 0.1), frame((0, 2, 0.25)))}
    scene = Falling(tmp_path, bodies, obstacles=[(box(4, 1, 0.2), frame((0, 2, 0.1)))], ground=LEVEL,
                    friction={"a": 0.2, "ground": 0.8, "b": 0.16, "o0": 1.0}, fast={"a": speed, "b": speed})
    h = 0.0025
    distance = scene.run(0.5, h).E[:, 0, 3]
    assert distance + 0.5 * h * 1.5 == pytest.approx(far, rel=2e-3) and np.abs(scene.state.u).max() < 1e-6


def turning(about_z, at, seconds, centre=(0.0, 0.0, 0.0)):
    """Frames of an obstacle that stands at `at` and turns about Z through `centre` at this rate [rad/s]."""
    angles = about_z * np.arange(round(seconds * 48) + 1) / 48
    there, back = frame(centre), frame(-np.asarray(centre))
    return np.array([there @ frame(rotation=about((0, 0, 1), angle)) @ back @ at for angle in angles])


@pytest.mark.parametrize("off", some([0.0, 0.3], 0.3))
def test_a_turntable_takes_along_what_stands_on_it(tmp_path, off):
    """Whether or not the obstacle's own origin is on its axis."""
    speed, seconds = 1.5, 1.0
    table = turning(speed, frame((off, 0, 0)), seconds)
    scene = Falling(tmp_path, {"a": (box(0.1, 0.1, 0.1), frame((0.8, 0, 0.15)))},
                    obstacles=[(box(4, 4, 0.2), table)], mu=0.9, end=25,
                    fast={"a": [0, 0, speed, 0, speed * 0.8, 0]})
    at, angle = scene.run(seconds, 0.005), speed * seconds
    assert at.E[0, :3, 3] == pytest.approx([0.8 * np.cos(angle), 0.8 * np.sin(angle), 0.15], abs=0.01)
    assert at.E[0, :2, 0] == pytest.approx([np.cos(angle), np.sin(angle)], abs=0.01)


def test_a_lever_lifts_what_lies_on_its_end(tmp_path):
    """A plate that tips about Y, with the origin on the axis: an object at 0.8 m is lifted and does not sink in."""
    tips = np.array([frame(rotation=about((0, 1, 0), -0.3 * t)) for t in np.arange(25) / 48])
    scene = Falling(tmp_path, {"a": (sphere(0.1), frame((0.8, 0, 0.2)))}, obstacles=[(box(2, 1, 0.2), tips)],
                    mu=0.0, end=13)
    for k in range(1, 51):
        scene.step(0.01)
        there = tips[0][:3, :3] @ about((0, 1, 0), -0.3 * 0.01 * k)
        height = there[:, 2] @ scene.at().E[0, :3, 3] - 0.2
        assert abs(height) < 2e-4  # contact was found a step ago, where the plate stood less steep
    assert scene.at().E[0, 2, 3] > 0.29


@pytest.mark.parametrize("integrator", ["semi_implicit", "sdirk2"])
def test_what_overlaps_is_lifted_out_slowly_and_rests(tmp_path, integrator):
    """Five centimeters deep: at most one a step, at 1 m/s, and nothing is thrown."""
    scene = Falling(tmp_path, {"a": (box(0.4, 0.3, 0.2), frame((0, 0, 0.05)))}, ground=LEVEL, integrator=integrator)
    heights = [0.05]
    for _ in range(25):
        scene.step(0.01)
        heights.append(scene.at().E[0, 2, 3])
        assert np.abs(scene.state.u).max() < 2e-3
    rises = np.diff(heights)
    assert rises.max() <= 0.01 * (1 + 1e-6) and rises[0] > 0.005 and heights[-1] == pytest.approx(0.1, abs=1e-4)


def test_a_spinning_rod_does_not_pass_through_a_post(tmp_path):
    """A step turns it by far more than the post is thick; its middle stands still."""
    post = frame((0.9 * np.cos(0.5), 0.9 * np.sin(0.5), 0))
    scene = Falling(tmp_path, {"rod": (box(2, 0.04, 0.1), frame())}, obstacles=[(sphere(0.04), post)], mu=0.0,
                    gravity=(0, 0, 0), fast={"rod": [0, 0, 20.0, 0, 0, 0]})
    for _ in range(6):
        scene.step(0.02)
        E = scene.at().E[0]
        beside = E[:3, :3].T @ (post[:3, 3] - E[:3, 3])
        assert beside[1] > 0.0 and np.hypot(*E[:2, 3]) < 1.0
    assert abs(scene.at().twist[0, 2]) < 10.0  # it was struck


def test_a_box_holds_on_a_slope_that_is_not_steep_enough(tmp_path):
    angle = np.radians(25.0)
    normal = np.array([np.sin(angle), 0, np.cos(angle)])
    scene = Falling(tmp_path, {"a": (box(0.4, 0.3, 0.2), frame(0.1 * normal, about((0, 1, 0), angle)))},
                    ground=((0, 0, 0), normal), mu=0.5)
    at = scene.run(5.0, 0.01)
    assert at.E[0, :3, 3] == pytest.approx(0.1 * normal, abs=1e-6)


def test_a_sphere_rolls_down_without_slipping(tmp_path):
    angle, radius = np.radians(20.0), 0.1
    normal = np.array([np.sin(angle), 0, np.cos(angle)])
    scene = Falling(tmp_path, {"a": (sphere(radius), frame(radius * normal))}, ground=((0, 0, 0), normal), mu=0.5)
    h, steps = 0.005, 200
    at = scene.run(h * steps, h)
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    velocity = at.E[0, :3, :3] @ at.twist[0, 3:] @ down
    assert velocity == pytest.approx(5.0 / 7.0 * 9.81 * np.sin(angle) * h * steps, rel=1e-3)
    spin = at.E[0, :3, :3] @ at.twist[0, :3]
    assert velocity == pytest.approx(spin[1] * radius, rel=1e-6)


def test_three_boxes_stand_on_each_other(tmp_path):
    bodies = {f"b{k}": (box(0.3, 0.3, 0.2), frame((0.02 * k, -0.01 * k, 0.1 + 0.2 * k), about((0, 0, 1), 0.5 * k)))
              for k in range(3)}
    scene = Falling(tmp_path, bodies, ground=LEVEL)
    before = scene.at().E.copy()
    at = scene.run(5.0, 0.01)
    assert len(scene.touching(0.01)) == 12
    assert at.E[:, :3, 3] == pytest.approx(before[:, :3, 3], abs=1e-5)


def test_a_dropped_box_comes_to_rest_on_another(tmp_path):
    scene = Falling(tmp_path, {"low": (box(0.5, 0.5, 0.2), frame((0, 0, 0.1))),
                     "high": (box(0.2, 0.2, 0.2), frame((0.05, 0, 0.6), about((1, 1, 0), 0.4)))}, ground=LEVEL)
    at = scene.run(4.0, 0.01)
    assert np.abs(at.twist).max() < 1e-6
    assert at.E[1, 2, 3] == pytest.approx(0.3, abs=1e-5)


def test_capsules_and_spheres_touch_boxes_at_edges_too(tmp_path):
    # a capsule across two boxes' edges, a sphere between two capsules
    scene = Falling(tmp_path, {"bar": (capsule(0.05, 0.8), frame((0, 0, 0.25), about((0, 1, 0), np.pi / 2)))},
                    obstacles=[(box(0.2, 0.5, 0.2), frame((-0.3, 0, 0.1))),
                               (box(0.2, 0.5, 0.2), frame((0.3, 0, 0.1)))])
    at = scene.run(3.0, 0.01)
    assert at.E[0, 2, 3] == pytest.approx(0.25, abs=1e-6)
    groove = [(capsule(0.1, 1.0), frame((x, 0, 0), about((1, 0, 0), np.pi / 2))) for x in (-0.12, 0.12)]
    scene = Falling(tmp_path, {"ball": (sphere(0.1), frame((0.01, 0, 0.3)))}, obstacles=groove, mu=0.2)
    at = scene.run(3.0, 0.01)
    assert at.E[0, 2, 3] == pytest.approx(np.sqrt(0.2**2 - 0.12**2), abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_contact_and_friction_agree_in_the_end(seed):
    """Coulomb's conditions on random contacts, one of them duplicated, up to the regularisation."""
    rng = np.random.default_rng(seed)
    m, k = 12, 5
    half = rng.normal(size=(m, m))
    A = half @ half.T + np.eye(m)
    N, T = rng.normal(size=(k, m)), rng.normal(size=(2 * k, m))
    N[4], T[8:] = N[3], T[6:8]
    mu = np.full(k, 0.4)
    external = DenseDual(lambda b: np.linalg.solve(A, b), DenseRows.none(m),
                         DenseRows(np.zeros(k), *bounds_of(np.zeros(k, bool)), np.zeros(k), np.arange(k), N),
                         ConeRows(T, np.zeros(2 * k), mu))
    free = rng.normal(size=m)
    answer = external.solve(free)
    assert answer.sweeps < DenseDual.max_sweeps
    assert answer.u == pytest.approx(free + np.linalg.solve(A, N.T @ answer.unilateral + T.T @ answer.friction),
                                     abs=1e-10)
    apart, push = N @ answer.u, answer.unilateral
    assert apart.min() > -1e-6 and push.min() >= 0.0 and np.abs(apart * push).max() < 1e-5
    slip, rub = (T @ answer.u).reshape(-1, 2), answer.friction.reshape(-1, 2)
    size, most = np.linalg.norm(rub, axis=1), mu * push
    assert (size <= np.sqrt(2) * most + 1e-9).all()
    assert np.einsum("ka,ka->k", slip, rub).max() < 1e-6  # against the slip
    assert np.linalg.norm(slip, axis=1)[size < 0.999 * most].max(initial=0.0) < 1e-6  # what holds does not slip


def ragdoll(high):
    """Fifteen bodies joined by hinges and balls."""
    up = np.eye(3)
    bodies, joints = {}, []

    def limb(name, parent, shape, middle, joint, kind="spherical"):
        bodies[name] = (shape, frame(np.array(middle) + (0, 0, high), up))
        if parent:
            turned = about((1, 0, 0), -np.pi / 2) if kind == "revolute" else up
            joints.append({"name": name, "kind": kind, "child": name, "parent": parent,
                           "position": (np.array(joint) + (0, 0, high)).tolist(),
                           "rotation": quaternion(turned).tolist()})

    limb("pelvis", None, box(0.3, 0.2, 0.15), (0, 0, 0), None)
    limb("spine", "pelvis", box(0.25, 0.18, 0.25), (0, 0, 0.22), (0, 0, 0.08))
    limb("chest", "spine", box(0.3, 0.2, 0.25), (0, 0, 0.5), (0, 0, 0.36))
    limb("head", "chest", sphere(0.11), (0, 0, 0.78), (0, 0, 0.65))
    for side, x in (("l", -1), ("r", 1)):
        limb("thigh" + side, "pelvis", capsule(0.06, 0.3), (0.1 * x, 0, -0.3), (0.1 * x, 0, -0.09))
        limb("shin" + side, "thigh" + side, capsule(0.05, 0.3), (0.1 * x, 0, -0.72), (0.1 * x, 0, -0.51), "revolute")
        limb("foot" + side, "shin" + side, box(0.1, 0.24, 0.06), (0.1 * x, 0.05, -0.96), (0.1 * x, 0, -0.93))
        limb("arm" + side, "chest", capsule(0.045, 0.2), (0.22 * x, 0, 0.4), (0.2 * x, 0, 0.55))
        limb("fore" + side, "arm" + side, capsule(0.04, 0.2), (0.22 * x, 0, 0.1), (0.22 * x, 0, 0.25), "revolute")
    return bodies, joints


@pytest.mark.long
def test_a_ragdoll_falls_down_stairs_and_stays_a_number(tmp_path):
    bodies, joints = ragdoll(2.2)
    stairs = [(box(1.5, 0.3, 0.2), frame((0, 0.3 * k, 0.9 - 0.2 * k))) for k in range(6)]
    scene = Falling(tmp_path, bodies, joints, obstacles=stairs, ground=LEVEL, mu=0.4)
    scene.state.u[4] = 1.5  # pushed down the stairs
    lowest, energy = np.inf, []
    for _ in range(300):
        scene.step(0.01)
        at = scene.at()
        assert np.isfinite(at.E).all() and np.isfinite(scene.state.u).all()
        lowest = min(lowest, at.E[:, 2, 3].min())
        energy.append(scene.world.energy(scene.state))
    assert lowest > 0.0 and at.E[0, 1, 3] > 0.5 and at.E[0, 2, 3] < 1.3
    assert max(energy) < energy[0] * 1.02


def test_jointed_bodies_that_overlap_at_the_start_pass_through_each_other(tmp_path):
    """As the thighs of a thick ragdoll. Loose ones that overlap are pushed apart."""
    rods = {f"b{k}": (capsule(0.1, 0.4), frame((0.15 * k, 0, 0), about((1, 0, 0), 0.5 * np.pi))) for k in (0, 1)}
    rods["top"] = (box(0.6, 0.1, 0.1), frame((0.1, 0, 0.4)))
    rods["far"] = (capsule(0.1, 0.4), frame((0.9, 0, 0), about((1, 0, 0), 0.5 * np.pi)))

    def joint(child, x):
        return {"name": child, "kind": "revolute", "child": child, "parent": "top", "position": [x, 0, 0.4],
                "rotation": [np.sqrt(0.5), np.sqrt(0.5), 0, 0]}

    free = [{"name": "top", "kind": "fixed", "child": "top", "position": [0.1, 0, 0.4]}]
    hung = Falling(tmp_path / "hung", rods, [*free, *(joint(name, 0.15 * k) for k, name in enumerate(("b0", "b1"))),
                                            joint("far", 0.9)])
    apart = hung.world.constraints.colliders.excluded.tolist()
    assert apart == [sorted(hung.place[name] for name in ("b0", "b1"))]
    loose = Falling(tmp_path / "loose", rods)
    assert not len(loose.world.constraints.colliders.excluded)
