"""Bakes of jointed bodies: poses in the cache, the same bytes again, errors with a body and a remedy."""

import json

import numpy as np
import pytest
from matrix import some
from mechanisms import double_pendulum, mechanism_job, mechanism_world, random_free_tree, run
from small_jobs import box_job, change
from test_chain_energy import chain

from solver.build.mechanisms import build_mechanisms
from solver.cli import main
from solver.errors import Diverged, StepFailed
from solver.frames.layout import file_of
from solver.frames.read import Cache
from solver.job.estimate import estimate
from solver.job.load import load
from solver.simulate import Timeline, advance_frame


def baked(job, *arguments):
    assert main(["bake", str(job), *arguments], read_stdin=False) == 0
    return Cache(job / "cache")


def poses_of(job):
    return [(job / "cache/poses" / f"{frame:06d}.npz").read_bytes() for frame in Cache(job / "cache").frames]


@pytest.mark.parametrize("integrator", some(["semi_implicit", "leapfrog", "bdf2"], "semi_implicit", "bdf2"))
def test_a_mechanism_bakes_to_poses_and_again_to_the_same_bytes(tmp_path, integrator, capsys):
    jobs = [mechanism_job(tmp_path / name, *random_free_tree(), end=9, integrator=integrator) for name in "ab"]
    cache, _ = (baked(job) for job in jobs)
    assert cache.frames_done() == list(range(1, 10)) and cache.verify() == [] and cache.status().state == "complete"
    robot = cache.mechanisms()[0]
    assert (robot["name"], robot["first"], robot["bodies"]) == ("Robot", 0, ["Trunk", "Left", "Right", "Tip"])
    assert [(joint["name"], joint["count"]) for joint in robot["joints"]] == [("Root", 6), ("Ball", 3), ("Cardan", 2),
                                                                              ("Slide", 1)]
    assert poses_of(jobs[0]) == poses_of(jobs[1])
    frame = cache.poses(9)
    assert frame["pose"].shape == (4, 4, 4) and frame["rates"].shape == frame["effort"].shape == (12,)
    world = mechanism_world(tmp_path / "c", *random_free_tree(), end=9, integrator=integrator)
    state = run(world, 1 / 24, 8)
    assert frame["pose"] == pytest.approx(world.poses(state)["pose"], abs=1e-12)
    assert main(["info", str(jobs[0])], read_stdin=False) == 0
    assert 'Mechanism "Robot": 4 bodies, 4 joints' in capsys.readouterr().out
    first = np.load(file_of(cache.folder, "frame", 9))
    assert first.shape == (0, 3)


@pytest.mark.parametrize("integrator", some(["semi_implicit", "leapfrog", "bdf2"], "leapfrog", "bdf2"))
def test_a_bake_that_is_resumed_gives_the_same_bytes(tmp_path, integrator):
    whole, parted = (mechanism_job(tmp_path / name, *random_free_tree(), end=9, integrator=integrator)
                     for name in ("whole", "parted"))
    baked(whole)
    baked(parted, "--frames", "1-6")
    cache = baked(parted, "--resume")
    assert len(cache.manifest["runs"]) == 2 and cache.manifest["runs"][1]["from"] == 5
    assert poses_of(whole) == poses_of(parted)


def test_a_pose_that_is_lost_is_made_again(tmp_path):
    job = mechanism_job(tmp_path, *double_pendulum(), end=9)
    cache, before = baked(job), poses_of(job)
    file_of(cache.folder, "poses", 6).write_bytes(b"torn")
    assert Cache(job / "cache").verify() == [6] and 6 not in Cache(job / "cache").frames_done()
    baked(job, "--resume")
    assert poses_of(job) == before
    assert Cache(job / "cache").free() > 20 and not (job / "cache").exists()


def test_a_change_makes_the_cache_stale_by_name(tmp_path):
    job = mechanism_job(tmp_path, *double_pendulum(), end=3)
    baked(job)
    change(job, "mechanisms.0.joints.1.damping", [1.0])
    assert Cache(job / "cache").status().state == "stale"
    assert any("Robot" in name for name in Cache(job / "cache").status().changed)


def test_soft_bodies_and_mechanisms_bake_side_by_side(tmp_path):
    """Each as it would without the other, and what is resumed is the same."""
    bodies, joints = random_free_tree()
    alone = mechanism_job(tmp_path / "alone", bodies, joints, end=7, step=1 / 96)
    mechanism = json.loads((alone / "scene.json").read_text())["mechanisms"]
    soft = box_job(tmp_path / "soft", end=7, method={"kind": "vanilla", "params": {"beta": 1.0}})
    both, parted = (box_job(tmp_path / name, end=7, method={"kind": "vanilla", "params": {"beta": 1.0}},
                            mechanisms=mechanism) for name in ("both", "parted"))
    change(alone, "time.samples_per_frame", 2)
    for job in (alone, soft, both):
        baked(job)
    change(parted, "time.snapshot_every", 3)
    baked(parted, "--frames", "1-5")
    baked(parted, "--resume")
    assert poses_of(both) == poses_of(alone) == poses_of(parted)
    frames = [[np.load(job / "cache/frames" / f"{k:06d}.npy") for k in range(1, 8)] for job in (soft, both)]
    assert np.array_equal(*frames) and frames[0][0].shape[0] > 0
    assert any("side by side" in note for note in Cache(both / "cache").manifest["notes"])


def test_a_chain_that_whips_beside_a_soft_body_is_halved_as_it_is_alone(tmp_path, capsys):
    """At a frame a step: its path would turn too far in one, whoever it shares the scene with."""
    soft = {"method": {"kind": "vanilla", "params": {"beta": 1.0}}, "step": 1 / 24}
    alone = mechanism_job(tmp_path / "alone", *chain(5), end=13, step=1 / 24, samples=2)
    mechanism = json.loads((alone / "scene.json").read_text())["mechanisms"]
    both = box_job(tmp_path / "both", end=13, mechanisms=mechanism, **soft)
    printed = []
    for job in (alone, both):
        baked(job)
        printed.append([line for line in "".join(capsys.readouterr()).splitlines() if "its path turned by" in line])
    assert printed[0] and printed[0] == printed[1]
    assert poses_of(both) == poses_of(alone)


def test_what_cannot_be_stepped_names_its_body_and_a_remedy(tmp_path):
    """A ball that turns 40 times a second at a frame a step: its chart ends within the step."""
    bodies, joints = random_free_tree()
    joints[1]["rate"] = [250.0, 0, 0]
    world = mechanism_world(tmp_path, bodies, joints)
    with pytest.raises(StepFailed, match="turned nearly all around") as failed:
        world.step(world.initial_state(), 1 / 24)
    assert failed.value.object == "Robot/Left"
    # a sixteenth of the step is short enough
    world.step(world.initial_state(), 1 / 24 / 16)
    joints[1]["rate"] = [1e5, 0, 0]
    world = mechanism_world(tmp_path, bodies, joints)
    with pytest.raises(Diverged, match=r"\"Robot/Left\", frame 2: the motion could not be solved.*Lower the step"):
        advance_frame(world, world.initial_state(), Timeline(1, 2, 24, 1 / 24, 10), 2)


def test_what_is_not_a_number_never_reaches_a_cache(tmp_path):
    world = mechanism_world(tmp_path, *double_pendulum())
    state = world.initial_state()
    with pytest.raises(StepFailed, match="not a number"):
        world.step(type(state)(0.0, state.q, np.array([np.nan, 0.0]), {}), 0.01)
    with pytest.raises(StepFailed, match="1e\\+08 a second") as failed:
        world.step(type(state)(0.0, state.q, np.array([0.0, 1e8]), {}), 1e-12)
    assert failed.value.object == "Robot/Lower"


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "sdirk2"])
def test_a_stage_that_does_not_settle_fails(tmp_path, integrator):
    world = mechanism_world(tmp_path, *double_pendulum((400.0, -900.0)), integrator=integrator)
    with pytest.raises(StepFailed):
        world.step(world.initial_state(), 1 / 24)


def test_a_bad_body_is_refused_by_name(tmp_path, capsys):
    bodies, joints = double_pendulum()
    bodies[1] = {"name": "Lower", "shape": {"kind": "mesh"}, "vertices": "arrays/corners.npy",
                 "triangles": "arrays/faces.npy"}
    job = mechanism_job(tmp_path, bodies, joints, arrays={"corners": np.eye(4)[:, :3],
                                                          "faces": np.array([[0, 1, 2]], np.int32)})
    assert main(["bake", str(job)], read_stdin=False) == 2
    printed = capsys.readouterr().err
    assert '"Lower"' in printed and "$.mechanisms[0].bodies[1].shape" in printed


CUT = {"frame": 2, "kind": "plane", "point": [0.1, 0, 0], "normal": [1, 0, 0]}


def test_a_body_is_cut_beside_a_mechanism(tmp_path):
    """As it is without, and the mechanism moves as it does without; a resumed bake gives the same bytes."""
    method = {"kind": "vanilla", "params": {"beta": 1.0}}
    bodies, joints = random_free_tree()
    alone = mechanism_job(tmp_path / "alone", bodies, joints, end=5, step=1 / 96)
    mechanism = json.loads((alone / "scene.json").read_text())["mechanisms"]
    cut = box_job(tmp_path / "cut", end=5, method=method)
    both, parted = (box_job(tmp_path / name, end=5, method=method, mechanisms=mechanism) for name in ("both", "parted"))
    for job in (cut, both, parted):
        change(job, "bodies.0.cuts", [CUT])
    change(alone, "time.samples_per_frame", 2)
    for job in (alone, cut, both):
        baked(job)
    change(parted, "time.snapshot_every", 2)
    baked(parted, "--frames", "1-4")
    baked(parted, "--resume")
    assert poses_of(both) == poses_of(alone) == poses_of(parted)
    frames = [[(job / "cache/frames" / f"{k:06d}.npy").read_bytes() for k in range(1, 6)]
              for job in (cut, both, parted)]
    assert frames[0] == frames[1] == frames[2]


def test_an_estimate_counts_poses(tmp_path):
    few, many = (mechanism_job(tmp_path / str(count), [{"name": f"b{k}"} for k in range(count)], [])
                 for count in (2, 2000))
    assert estimate(many).cache_mb > 100 * estimate(few).cache_mb > 0
    job = mechanism_job(tmp_path / "tree", *random_free_tree())
    assert 'Mechanism "Robot": 4 bodies, 12 joint rates' in estimate(job).sentences()
    assert 'Mechanism "Robot": 2 bodies, 12 joint rates' in estimate(few).sentences()


def test_keep_spin_is_of_soft_bodies_alone(tmp_path):
    """Rigid ones keep theirs; the switch may be on in a scene that has both."""
    job = mechanism_job(tmp_path, *random_free_tree(), end=2)
    plain = run(build_mechanisms(load(job)), 1 / 24, 3)
    change(job, "integrator.params", {"keep_spin": True})
    switched = run(build_mechanisms(load(job)), 1 / 24, 3)
    assert (plain.q == switched.q).all()


def test_an_obstacle_moves_as_animated_and_a_loose_body_falls(tmp_path):
    motion = np.tile(np.eye(4), (5, 1, 1))
    motion[:, 0, 3] = np.arange(5) / 48
    job = mechanism_job(tmp_path, [{"name": "Lift", "motion": "arrays/motion.npy"}, {"name": "Crate"}], [],
                        arrays={"motion": motion}, step=1 / 240)
    cache = baked(job)
    poses = np.array([cache.poses(frame)["pose"] for frame in (1, 2, 3)])
    assert poses[:, 0, 0, 3] == pytest.approx(np.arange(3) / 24)
    assert poses[2, 1, 2, 3] == pytest.approx(-0.5 * 9.81 / 144, rel=0.06)
    assert [joint["name"] for joint in cache.mechanisms()[0]["joints"]] == ["Crate"]
