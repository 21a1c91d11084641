"""Constraints between points in bakes: exact where hard, soft where they have a compliance, of every kind, to soft
bodies, ropes, rigid bodies and animated objects; and what is refused."""

import numpy as np
import pytest
from matrix import some
from mechanisms import double_pendulum
from rope_jobs import Quiet, rope_body
from small_jobs import box_tets, change, write_job

from solver import threads
from solver.build.world import build
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

LOW, TETS = box_tets((2, 2, 2), (0.2, 0.1, 0.1))
RIGHT = int(np.flatnonzero((LOW == [0.2, 0.0, 0.05]).all(axis=1))[0])
LEFT = int(np.flatnonzero((LOW == [0.0, 0.0, 0.05]).all(axis=1))[0])


def body(name, arrays, at=(0.0, 0.0, 0.0), pinned=False, youngs=5e4):
    arrays |= {f"{name}_n": LOW + at, "t": TETS, "p": np.flatnonzero(LOW[:, 0] == 0.0).astype(np.int32)}
    return {"name": name, "tets": {"nodes": f"arrays/{name}_n.npy", "tets": "arrays/t.npy"},
            "method": {"kind": "vanilla"}, **({"pin": {"nodes": "arrays/p.npy"}} if pinned else {}),
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": youngs, "poisson_ratio": 0.4}}}


def job_of(folder, bodies, constraints, arrays, end=25, **scene):
    return write_job(folder, {"version": 1, "name": "held", "time": {"start": 1, "end": end, "fps": 24, "step": 1 / 96},
                              "bodies": bodies, "integrator": {"kind": "backward_euler"}, "constraints": constraints,
                              **scene}, arrays)


def two(folder, kind, constraint=None, pinned=True, gap=0.02, end=25, scene=None, **params):
    """A box that is pinned at its left and one that hangs on its right."""
    arrays = {}
    bodies = [body("A", arrays, pinned=pinned), body("B", arrays, at=(0.2 + gap, 0.0, 0.0))]
    one = {"kind": {"kind": kind, "params": params}, "name": "Tie",
           "ends": [{"body": "A", "point": [0.2, 0.0, 0.05]}, {"body": "B", "point": [0.2 + gap, 0.0, 0.05]}]}
    return job_of(folder, bodies, [one | (constraint or {})], arrays, end, **(scene or {}))


def frames(job, *ends):
    last = load(job).scene.time.end
    for end in ends or (last,):
        bake(job, Quiet(), frames=(1, end), resume=True)
    return [Cache(job / "cache").frame(k) for k in range(1, last + 1)]


def apart(frame):
    return float(np.linalg.norm(frame["A"][RIGHT] - frame["B"][LEFT]))


@pytest.mark.parametrize("solver", some(["newton_d", "qlb"], "newton_d"))
def test_a_hard_distance_is_constant_while_both_swing(tmp_path, solver):
    scene = {"stage_solver": {"kind": solver}} | ({"integrator": {"kind": "sdirk2"}} if solver == "qlb" else {})
    found = frames(two(tmp_path, "distance", scene=scene))
    assert max(abs(apart(frame) - 0.02) for frame in found) < 2e-8, "to the last digit of single precision"
    assert found[-1]["B"][:, 2].mean() < -0.05, "it hangs down"


def test_a_string_may_be_slack_and_no_longer_than_it_is(tmp_path):
    found = frames(two(tmp_path, "distance", {"length": 0.08}, at_most=True))
    ways = [apart(frame) for frame in found]
    assert ways[1] < 0.06 and 0.079 < max(ways) < 0.08 + 2e-8


def test_a_soft_distance_stretches_by_its_force_times_its_compliance(tmp_path):
    """A box that hangs from a place that does not move, once it has come to rest."""
    arrays = {"anchor": np.array([[0.1, 0.05, 0.5]])}
    boxes = [body("A", arrays) | {"damping": {"kind": "rayleigh", "params": {"mass_damping": 20.0}}}]
    tie = {"kind": {"kind": "distance"}, "compliance": 1e-3,
           "ends": [{"body": "A", "point": [0.1, 0.05, 0.05]},
                    {"vertices": "arrays/anchor.npy", "point": [0.1, 0.05, 0.5]}]}
    found = frames(job_of(tmp_path, boxes, [tie], arrays, 73))
    middle = int(np.flatnonzero(np.abs(LOW - [0.1, 0.05, 0.05]).max(axis=1) < 1e-12)[0])
    weight = 1000.0 * 0.2 * 0.1 * 0.1 * 9.81
    assert 0.5 - found[-1]["A"][middle, 2] == pytest.approx(0.45 + 1e-3 * weight, rel=2e-3)


def test_a_hinge_turns_about_its_axis_and_a_ball_about_its_point(tmp_path):
    hinge = frames(two(tmp_path / "hinge", "hinge", {"axis": [0.0, 0.1, 0.0]}, gap=0.0, end=49))
    right, left = (np.flatnonzero((LOW[:, 0] == x) & (LOW[:, 2] == 0.05)) for x in (0.2, 0.0))
    for frame in hinge:
        ends = [0, -1]
        assert np.abs(frame["A"][right[ends]] - frame["B"][left[ends]]).max() < 2e-8
    lowest = min(frame["B"][:, 2].mean() for frame in hinge)
    assert lowest < -0.1 and abs(hinge[-1]["B"][:, 1].mean() - 0.05) < 0.02, "about the axis, but for how soft it is"
    ball = frames(two(tmp_path / "ball", "ball", gap=0.02, closes=0.25))
    assert apart(ball[0]) == pytest.approx(0.02, abs=1e-8)
    assert apart(ball[3]) == pytest.approx(0.01, abs=1e-8), "half of the gap after half of the time"
    assert max(apart(frame) for frame in ball[7:]) < 2e-8


def hung(folder, kind, cells, radius):
    """How far the middle of a soft box sinks that hangs by the middle of its upper side, once at rest [m]: on a ball
    just above it, or by a distance from a place above that."""
    nodes, tets = box_tets(cells, (0.2, 0.1, 0.1))
    low, high = (0.11, 0.11) if kind == "ball" else (0.1, 0.25)
    arrays = {"n": nodes, "t": tets, "anchor": np.array([[0.1, 0.05, high]])}
    box = {"name": "A", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"}, "method": {"kind": "vanilla"},
           "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e4, "poisson_ratio": 0.4}},
           "damping": {"kind": "rayleigh", "params": {"mass_damping": 20.0}}}
    tie = {"kind": {"kind": kind}, "ends": [{"body": "A", "point": [0.1, 0.05, low], "radius": radius},
                                            {"vertices": "arrays/anchor.npy", "point": [0.1, 0.05, high]}]}
    return 0.05 - frames(job_of(folder, [box], [tie], arrays, time={"start": 1, "end": 17, "fps": 24,
                                                                        "step": 1 / 48}))[-1]["A"][:, 2].mean()


@pytest.mark.parametrize("kind", ["ball", "distance"])
def test_what_hangs_by_all_around_a_point_sinks_as_far_however_fine_its_mesh(tmp_path, kind):
    coarse, fine, drawn_out = (hung(tmp_path / f"{number}", kind, *mesh) for number, mesh in enumerate(
        [((4, 2, 2), 0.05), ((8, 4, 4), 0.05), ((8, 4, 4), 0.0)]))
    assert fine == pytest.approx(coarse, rel=0.15)
    assert drawn_out > 2.0 * fine, "one tetrahedron would bear it all"


def test_what_is_listed_twice_is_shared_and_changes_nothing(tmp_path):
    """A rod and a ball that hold the points of another such pair: as one of each."""
    def both(folder, times):
        job = two(folder, "distance")
        one = load(job).raw["constraints"][0]
        ball = one | {"kind": {"kind": "ball"}, "ends": [{"body": "A", "point": [0.2, 0.1, 0.05]},
                                                         {"body": "B", "point": [0.22, 0.1, 0.05]}]}
        change(job, "constraints", [one, ball] * times)
        return frames(job)[-1]

    once, twice = (both(tmp_path / str(times), times) for times in (1, 2))
    assert max(np.abs(twice[name] - once[name]).max() for name in once) < 1e-4, "it swings by decimetres"
    assert abs(apart(twice) - 0.02) < 2e-8 and twice["B"][:, 2].mean() < -0.02


def test_threads_do_not_change_a_byte(tmp_path):
    """Two threads share bodies so fine, which a rod, a hinge and a weld tie."""
    nodes, tets = box_tets((6, 6, 6), (0.2, 0.1, 0.1))
    arrays = {"n": nodes, "t": tets, "u": nodes + [0.202, 0.0, 0.0], "p": np.flatnonzero(nodes[:, 0] == 0.0)}
    stuff = {"method": {"kind": "vanilla"},
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4, "poisson_ratio": 0.4}}}
    bodies = [{"name": "A", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"},
               "pin": {"nodes": "arrays/p.npy"}, **stuff},
              {"name": "B", "tets": {"nodes": "arrays/u.npy", "tets": "arrays/t.npy"}, **stuff}]
    ends = [{"body": "A", "point": [0.2, 0.0, 0.03], "radius": 0.04}, {"body": "B", "point": [0.202, 0.0, 0.03]}]
    rod = [{"body": "A", "point": [0.1, 0.0, 0.03]}, {"body": "B", "point": [0.302, 0.0, 0.07], "radius": 0.04}]
    ties = [{"kind": {"kind": "distance"}, "ends": rod},
            {"kind": {"kind": "hinge"}, "ends": ends, "axis": [0.0, 0.1, 0.0]}]
    weld = {"law": {"kind": "weld", "params": {"distance": 0.005}}, "bodies": ["B", "A"]}
    job, before, found = job_of(tmp_path, bodies, ties, arrays, forces=[weld]), threads.count(), []
    try:
        for count in (1, 2):
            threads.configure(count)
            [part] = build(load(job), lambda *_: None)[0].parts
            state = part.initial_state()
            for _ in range(3):
                state = part.step(state, 1 / 96)
            found.append(state)
    finally:
        threads.configure(before)
    one, other = found
    assert np.array_equal(one.q, other.q) and np.array_equal(one.u, other.u)
    assert np.abs(one.u).max() > 0.1 and one.memory.keys() == other.memory.keys()
    assert all(np.array_equal(value, other.memory[key]) for key, value in one.memory.items())


def test_momentum_of_free_bodies_that_are_tied_stays(tmp_path):
    """Without gravity, one of them thrown by a pin that lets go would need a push; here a strained start does it."""
    job = two(tmp_path, "distance", {"length": 0.05}, pinned=False, scene={"gravity": [0.0, 0.0, 0.0]},
              end=13)
    change(job, "constraints.0.compliance", 1e-3)
    found = frames(job)
    mass = np.full(len(LOW), 0.0)
    for tet in TETS:
        mass[tet] += np.linalg.det(LOW[tet[1:]] - LOW[tet[0]]) / 24.0 * 1000.0
    centres = [(mass @ frame["A"] + mass @ frame["B"]) / (2 * mass.sum()) for frame in found]
    assert apart(found[-1]) != pytest.approx(0.02, abs=1e-3), "they have moved"
    assert np.abs(np.array(centres) - centres[0]).max() < 2e-8


def bead(folder, end=25, slant=0.3, **constraint):
    arrays = {}
    x = np.stack([np.linspace(-0.3, 0.3, 31), np.zeros(31), np.linspace(slant, -slant, 31)], axis=1)
    string = rope_body("String", x, arrays, pinned=(0, 30), linear_density=0.02)
    at = x[8] - [0.1, 0.05, 0.05]
    one = {"kind": {"kind": "on_curve"}, "ends": [{"body": "Bead", "point": list(x[8])}, {"body": "String"}]}
    return job_of(folder, [string, body("Bead", arrays, at=at, youngs=2e5)], [one | constraint], arrays, end), x


def test_a_bead_slides_down_its_string(tmp_path):
    job, x = bead(tmp_path)
    found = frames(job, 13, 25)
    middle = int(np.flatnonzero(np.abs(LOW - [0.1, 0.05, 0.05]).max(axis=1) < 1e-12)[0])
    places = np.array([frame["Bead"][middle] for frame in found])
    assert places[-1, 0] > places[0, 0] + 0.1, "it slides"
    for frame, place in zip(found, places):
        rope = frame["String"]
        side = rope[1:] - rope[:-1]
        along = np.clip(np.einsum("kj,kj->k", place - rope[:-1], side) / (side**2).sum(axis=1), 0, 1)
        assert np.linalg.norm(rope[:-1] + along[:, None] * side - place, axis=1).min() < 1e-6
    again = frames(bead(tmp_path / "again")[0])
    for frame, resumed in zip(found, again):
        assert all(frame[name].tobytes() == resumed[name].tobytes() for name in frame), "resumed, the same bytes"


def test_a_point_slides_on_the_surface_of_an_animated_object(tmp_path):
    """On a plane that slopes by 45 degrees and rises: down along it, and never off it."""
    plane = np.array([[-1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
    arrays = {"plane": plane, "faces": np.array([[0, 1, 2], [0, 2, 3]], np.int32)}
    times = np.arange(2 * 24 + 1) / 48
    arrays["rises"] = plane + times[:, None, None] * [0.0, 0.0, 0.2]
    box = body("A", arrays, at=(-0.1, -0.05, -0.05))
    tie = {"kind": {"kind": "on_surface"},
           "ends": [{"body": "A", "point": [0.0, 0.0, 0.0]},
                    {"vertices": "arrays/plane.npy", "triangles": "arrays/faces.npy", "motion": "arrays/rises.npy"}]}
    found = frames(job_of(tmp_path, [box], [tie], arrays))
    middle = int(np.flatnonzero(np.abs(LOW - [0.1, 0.05, 0.05]).max(axis=1) < 1e-12)[0])
    places = np.array([frame["A"][middle] for frame in found])
    height = places[:, 2] + places[:, 0] - 0.2 * np.arange(25) / 24
    assert np.abs(height).max() < 1e-6 and places[-1, 0] > 0.3


def test_it_lets_go_and_its_strength_may_fade(tmp_path):
    job = two(tmp_path / "lasts", "distance", {"lasts": 0.5})
    ways = [apart(frame) for frame in frames(job)]
    assert max(ways[:12]) < 0.02 + 2e-8 and ways[-1] > 0.1
    job = two(tmp_path / "fades", "distance", {"strength": "arrays/s.npy"})
    np.save(job / "arrays" / "s.npy", np.repeat([1.0, 0.0], [25, 24]))
    ways = [apart(frame) for frame in frames(job)]
    assert max(ways[:12]) < 0.02 + 2e-8 and ways[-1] > 0.1


def test_a_rigid_body_of_a_mechanism_pulls_at_what_it_is_tied_to_and_is_pulled(tmp_path):
    """A pendulum that is let go beside a box that is pinned, tied by a string of the distance that they begin with."""
    arrays = {}
    bodies, joints = double_pendulum((0.0, 0.0))
    boxes, mechanism = [body("A", arrays, at=(1.2, -0.05, 0.4), pinned=True)], {"name": "M", "bodies": bodies,
                                                                                "joints": joints}
    tie = {"kind": {"kind": "distance"}, "ends": [{"body": "A", "point": [1.4, -0.05, 0.45]},
                                                  {"body": "Lower", "mechanism": "M", "point": [1.4, 0.0, 0.05]}]}
    tied = frames(job_of(tmp_path / "tied", boxes, [tie], arrays, 13, mechanisms=[mechanism]))
    alone = frames(job_of(tmp_path / "alone", boxes, [], arrays, 13, mechanisms=[mechanism]))
    drawn = tied[-1]["A"][RIGHT] - alone[-1]["A"][RIGHT]
    assert drawn[2] < -0.01, "the soft body feels the pendulum"

    def height(folder):
        return Cache(folder / "cache").poses(13)["pose"][1, 2, 3]

    assert height(tmp_path / "tied") > height(tmp_path / "alone") + 0.01, "which hangs on it"


@pytest.mark.parametrize("constraint, message", [
    ({"ends": [{"body": "A", "point": [0.2, 0.0, 0.05]}, {"body": "B", "point": [0.2, 0.0, 0.05]}], "kind":
      {"kind": "distance"}}, "one and the same"),
    ({"kind": {"kind": "hinge"}, "axis": [0.0, 0.0, 0.0]}, "axis of no length"),
    ({"kind": {"kind": "on_surface"}, "ends": [{"body": "A", "point": [0, 0, 0]},
                                               {"vertices": "arrays/A_n.npy"}]}, "no face"),
    ({"ends": [{"body": "A", "point": [0, 0, 0]}, {"body": "Nobody", "point": [0, 0, 0]}]}, "no soft body"),
    ({"ends": [{"body": "A"}, {"body": "B"}]}, "has no points where it holds"),
    ({"ends": [{"vertices": "arrays/A_n.npy", "point": [0, 0, 0]}, {"vertices": "arrays/B_n.npy", "point": [0, 0, 0]}]},
     "joins two objects that are both animated"),
    ({"ends": [{"body": "A", "point": [0.0, 0.0, 0.05]}, {"vertices": "arrays/B_n.npy", "point": [0.22, 0, 0.05]}],
      "kind": {"kind": "ball"}}, "only what is pinned or animated"),
])
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path, constraint, message):
    job = two(tmp_path, "distance", constraint, gap=0.0 if "same" in message else 0.02)
    with pytest.raises(BadScene, match=message):
        frames(job)


def test_contradictory_and_linearised_ones_are_refused(tmp_path):
    job = two(tmp_path, "distance")
    one = load(job).raw["constraints"][0]
    change(job, "constraints", [one, one | {"name": "Other", "length": 0.5}])
    with pytest.raises(BadScene, match='"Other" and the Distance constraint "Tie" contradict each other|"Tie" and the '
                                       'Distance constraint "Other" contradict'):
        frames(job)
    job = two(tmp_path / "linear", "distance", scene={"integrator": {"kind": "semi_implicit"}})
    with pytest.raises(BadScene, match="linearises its steps"):
        frames(job)
    change(job, "constraints.0.compliance", 1e-4)
    assert len(frames(job)) == 25
