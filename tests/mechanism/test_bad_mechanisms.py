"""Bad mechanisms, baked as an artist would: one clear sentence and no traceback, or bounded motion without a NaN."""

import numpy as np
import pytest
from mechanisms import double_pendulum, mechanism_job
from small_jobs import box_job, change

from solver.cli import main
from solver.frames.read import Cache

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
OUTWARDS = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.int32)
STILL = np.tile(np.eye(4), (3, 1, 1))
ARRAYS = {"corners": CORNERS, "flat": CORNERS * [1, 1, 0], "thin": CORNERS * [1, 1, 2e-6], "far": CORNERS + 1e6,
          "none": np.zeros((0, 3)), "inwards": OUTWARDS[:, ::-1].copy(), "open": OUTWARDS[:3], "still": STILL,
          "zeros": 0 * STILL, "mirrored": STILL * [-1, 1, 1, 1], "target": np.linspace(0, 1, 3)[:, None]}
BALL = {"body_a": "Lower", "kind": "ball", "position": [1.4, 0, 0]}
SPRING = {"point_a": [0, 0, 0], "point_b": [0, 0, 0], "body_a": "Lower", "stiffness": 10.0}
GROUND = {"point": [0, 0, 0.3], "normal": [0, 0, 1]}
DRIVE = {"mode": {"kind": "drive"}, "target": [2.0]}
BODY, JOINT = "mechanisms.0.bodies.1", "mechanisms.0.joints.1"


def box(x, y, z):
    return {"kind": "box", "params": {"size_x": x, "size_y": y, "size_z": z}}


def solid(vertices, triangles=None):
    faces = {} if triangles is None else {"triangles": f"arrays/{triangles}.npy"}
    kind = "mesh" if faces else "hull"
    return {"name": "Lower", "shape": {"kind": kind}, "vertices": f"arrays/{vertices}.npy", **faces}


def mechanism_of(name):
    return [{"name": "Upper", "motion": f"arrays/{name}.npy"}, {"name": "Lower"}]


def arm(folder, *changes, **options):
    """The double pendulum with some fields changed."""
    job = mechanism_job(folder, *double_pendulum(), arrays=ARRAYS, samples=1, **options)
    for path, value in changes:
        change(job, path, value)
    return job


def bake(job, capsys):
    """Return (exit code, output). Checks that the cache is finite and that no exception escaped."""
    code = main(["bake", str(job)], read_stdin=False)
    sentence = capsys.readouterr().err
    assert "Traceback" not in sentence and "report this" not in sentence
    if (job / "cache").exists():
        cache = Cache(job / "cache")
        assert all(np.isfinite(values).all() for frame in cache.frames_done() for values in cache.poses(frame).values())
    return code, sentence


def test_what_rounding_leaves_of_a_zero_is_no_slip(tmp_path, capsys):
    """As a rig's joints have it where a bone turns about one axis alone."""
    job = arm(tmp_path, (f"{JOINT}.start", [-3.08e-33]), (f"{BODY}.position", [0.5, 1e-40, -2e-31]))
    assert bake(job, capsys)[0] == 0


@pytest.mark.parametrize(("path", "value", "sentence"), [
    (f"{BODY}.mass", 0, "mass of 0 kg"),
    (f"{BODY}.shape", box(1, 1, 0), "is flat"),
    (f"{BODY}.shape", box(1e-150, 1e-150, 1e-150), "closer to 0 than what can be computed with"),
    (BODY, solid("flat"), "vertices lie in a plane"),
    (BODY, solid("thin"), "is flat and encloses no volume"),
    (BODY, solid("none"), "0 vertices"),
    (BODY, solid("corners", "open"), "surface is open"),
    (BODY, solid("corners", "inwards"), "inside out"),
    (f"{BODY}.position", [float("nan"), 0, 0], "json"),
    (f"{BODY}.rotation", [0, 0, 0, 0], "is zero"),
    (f"{BODY}.name", "Upper", "two rigid bodies"),
    (f"{JOINT}.child", "Foot", "which is not there"),
    (f"{JOINT}.child", "Upper", "is attached to two joints"),
    ("mechanisms.0.joints.0.parent", "Lower", "in a circle"),
    (f"{JOINT}.low", [0.0], "limits on one side"),
    (f"{JOINT}.start", [0.0, 1.0], "2 numbers in start"),
    (f"{JOINT}.motor", {"target": "arrays/corners.npy"}, "should have (3, 1)"),
    (f"{JOINT}.motor", {"target": [1.0], "until": 0}, "before anything moves"),
    (f"{JOINT}.friction", {"mu": 0.1, "points": 10**9}, "1000 at most"),
    ("mechanisms.0.bodies", mechanism_of("still"), "which is animated"),
    ("mechanisms.0.springs", [{**SPRING, "stiffness": -1}], "stiffness of -1"),
    ("mechanisms.0.bodies", [], "has no body"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 0]}, "normal"),
])
def test_it_is_refused_in_a_sentence(tmp_path, capsys, path, value, sentence):
    code, text = bake(arm(tmp_path, (path, value)), capsys)
    assert code == 2 and sentence in text.lower()


@pytest.mark.parametrize("motion", ["zeros", "mirrored"])
def test_an_obstacle_whose_motion_is_none_of_a_rigid_body_is_refused(tmp_path, capsys, motion):
    job = mechanism_job(tmp_path, mechanism_of(motion), [], arrays=ARRAYS, samples=1)
    code, text = bake(job, capsys)
    assert code == 2 and "scales, shears or mirrors it at sample 0" in text and "bodies[0].motion" in text
    change(job, "mechanisms.0.bodies", mechanism_of("still"))
    assert bake(job, capsys)[0] == 0


@pytest.mark.parametrize("changes", [
    [("mechanisms.0.bodies.0.mass", 1e12), (f"{BODY}.mass", 1e-12)],
    [("mechanisms.0.bodies.0.mass", 1e-12), (f"{BODY}.mass", 1e12)],
    [(f"{BODY}.shape", box(1, 1, 1e-9))],
    [(BODY, solid("far"))],
    [(f"{JOINT}.start", [2.0]), (f"{JOINT}.low", [-1.0]), (f"{JOINT}.high", [1.0])],
    [(f"{JOINT}.low", [0.0]), (f"{JOINT}.high", [0.0])],
    [(f"{JOINT}.stiffness", [1e30]), (f"{JOINT}.damping", [1e30])],
    [(f"{JOINT}.motor", DRIVE), (f"{JOINT}.low", [-1.0]), (f"{JOINT}.high", [1.0])],
    [("mechanisms.0.loops", [BALL, BALL, {**BALL, "kind": "hinge"}])],
    [("mechanisms.0.loops", [{**BALL, "position": [0.6, 0, 0]}]), ("mechanisms.0.joints.0.low", [0.5]),
     ("mechanisms.0.joints.0.high", [1.0])],
    [("mechanisms.0.springs", [SPRING, {**SPRING, "rest_length": 1.0}])],
    [("ground", GROUND)],
    [("gravity", [0, 0, 0])],
    [("mechanisms.0.joints.0", {"name": "Shoulder", "kind": "fixed", "child": "Upper"}),
     (JOINT, {"name": "Elbow", "kind": "fixed", "child": "Lower", "parent": "Upper"}), ("mechanisms.0.loops", [BALL])],
    [("mechanisms.0.joints", []), ("mechanisms.0.self_collisions", True), (f"{BODY}.position", [0.3, 0, 0])],
], ids=["heavy root", "heavy tip", "foil", "far", "outside", "shut", "rigid", "drive and limits", "loops",
        "loop and limits", "short springs", "in the ground", "weightless", "fixed", "in each other"])
def test_it_bakes_to_numbers(tmp_path, capsys, changes):
    job = arm(tmp_path, *changes, end=6)
    code, text = bake(job, capsys)
    assert code == 0, text
    assert len(Cache(job / "cache").frames_done()) == 6


@pytest.mark.parametrize(("changes", "sentence"), [
    ([(f"{JOINT}.rate", [1e30])], "a second"),
    ([("gravity", [0, 0, -1e30])], "a second"),
    ([("mechanisms.0.joints.0.motor", {**DRIVE, "target": "arrays/target.npy"}),
      ("mechanisms.0.loops", [{**BALL, "body_a": "Upper", "position": [0.6, 0, 0]}])], "do not all hold at once"),
])
def test_what_cannot_be_moved_says_so(tmp_path, capsys, changes, sentence):
    code, text = bake(arm(tmp_path, *changes), capsys)
    assert code == 3 and sentence in text and '"Robot/' in text and "Lower the step" in text


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
@pytest.mark.parametrize(("kind", "listed"), [("fixed", [9, 10, 11]), ("free", [])])
def test_flesh_on_what_never_moves_or_on_nothing_bakes(tmp_path, capsys, method, kind, listed):
    """No rate moves the attached nodes, so there is no column of rates to solve for."""
    job = box_job(tmp_path, end=3, method={"kind": method, "params": {"beta": 1.0}}, mechanisms=[
        {"name": "Robot", "bodies": [{"name": "Upper"}], "joints": [{"name": "Root", "kind": kind, "child": "Upper"}]}])
    np.save(job / "arrays/listed.npy", np.array(listed, np.int32))
    change(job, "bodies.0.attach", [{"mechanism": "Robot", "body": "Upper", "nodes": "arrays/listed.npy"}])
    assert bake(job, capsys)[0] == 0
    first, last = (np.load(job / "cache/frames" / f"{frame:06d}.npy") for frame in (1, 3))
    moved = np.linalg.norm(last - first, axis=1)
    assert np.isfinite(last).all() and moved.max() > 1e-3
    assert not listed or moved[listed].max() < 1e-12


def test_a_light_root_under_a_heavy_tip_with_friction_is_no_defect(tmp_path, capsys):
    """Its contact matrix is singular to rounding: BISP never forms it, Staggered Projections say that they cannot."""
    bearing = {"mu": 0.5}
    changes = [("mechanisms.0.bodies.0.mass", 1e-12), (f"{BODY}.mass", 1e12), (f"{JOINT}.friction", bearing),
               ("mechanisms.0.joints.0.friction", bearing)]
    assert bake(arm(tmp_path / "bisp", *changes, joint_friction={"kind": "bisp"}), capsys)[0] == 0
    code, text = bake(arm(tmp_path / "staggered", *changes, joint_friction={"kind": "staggered"}), capsys)
    assert code == 3 and "system of equations is singular" in text


def test_limits_of_a_ball_are_as_stiff_whichever_way_its_start_is_given(tmp_path, capsys):
    """1.5 rad one way is 2π − 1.5 the other, near where the chart about no turn is singular."""
    last = []
    for angle in (1.5, 1.5 - 2 * np.pi):
        joint = {"name": "Neck", "kind": "spherical", "child": "Lower", "start": [0.6 * angle, 0.8 * angle, 0],
                 "low": [-0.5] * 3, "high": [0.5] * 3}
        body = {"name": "Lower", "rotation": [np.cos(angle / 2), 0.6 * np.sin(angle / 2), 0.8 * np.sin(angle / 2), 0]}
        job = mechanism_job(tmp_path / f"{angle:.1f}", [body], [joint], end=6)
        assert bake(job, capsys)[0] == 0
        last.append(Cache(job / "cache").poses(6))
    assert last[0]["pose"] == pytest.approx(last[1]["pose"], abs=1e-9)
    assert last[0]["rates"] == pytest.approx(last[1]["rates"], abs=1e-7) and np.abs(last[0]["rates"]).max() > 0.1
