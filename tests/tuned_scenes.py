"""Small jobs in which tuned constants of the solver steer: each is baked in a second or two."""

import ast
import hashlib
import importlib
import shutil
from functools import cache
from pathlib import Path

import numpy as np
from small_jobs import box_job, box_tets, change, write_job

from solver.errors import ConJacError
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

SOLVER = Path(__file__).resolve().parents[1] / "solver"
GROUND = {"point": [0, 0, -0.05], "normal": [0, 0, 1], "stiffness": 50.0,
          "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}
VANILLA = {"kind": "vanilla"}


class Quiet:
    """A reporter that nobody listens to."""

    def __getattr__(self, name):
        return lambda *_: None


def stage(kind, integrator="sdirk2", **more):
    """A bar that is thrown about, by one stage solver."""
    def job(folder):
        made = box_job(folder, end=3, method=VANILLA, integrator={"kind": integrator}, stage_solver={"kind": kind},
                       gravity=[6.0, 0.0, -60.0], step=1 / 48, **more)
        change(made, "bodies.0.material.params.youngs_modulus", 4e3)
        return made
    return job


def condensed(integrator, **more):
    """The bar on one dynamic node."""
    return lambda folder: box_job(folder, end=3, integrator={"kind": integrator}, gravity=[6.0, 0.0, -30.0], **more)


def half_life(folder):
    job = box_job(folder, end=3, integrator={"kind": "bdf2"}, ground={**GROUND, "point": [0, 0, -0.001]}, motion=False)
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.wobble_half_life", 0.3)
    return job


def dropped(folder):
    """A bar that lands on the ground and tips over."""
    job = box_job(folder, end=5, motion=False, method=VANILLA, integrator={"kind": "sdirk2"}, gravity=[2.0, 0.0, -30.0],
                  stage_solver={"kind": "quick"}, ground={**GROUND, "point": [0, 0, -0.02]}, step=1 / 24)
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.material.params.youngs_modulus", 3e4)
    return job


def sliding(folder):
    """The bar with a half-life, which lands on a slope and slides."""
    job = dropped(folder)
    change(job, "time.end", 9)
    change(job, "gravity", [5.0, 0.0, -9.0])
    change(job, "bodies.0.wobble_half_life", 0.75)
    return job


def touching(contact=None, speed=0.0, **scene):
    """Two blocks, one on the other on a slab."""
    def job(folder):
        arrays, bodies = {}, []
        for name, at in (("A", (0.0, 0.0, 0.002)), ("B", (0.03, 0.02, 0.104))):
            nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
            arrays |= {f"{name}_nodes": nodes + at, f"{name}_tets": tets}
            bodies.append({"name": name,
                           "tets": {"nodes": f"arrays/{name}_nodes.npy", "tets": f"arrays/{name}_tets.npy"},
                           "material": {"kind": "stable_neo_hookean",
                                        "params": {"youngs_modulus": 1e4, "poisson_ratio": 0.4}}})
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-0.1, 0)], float)
        faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                          [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32)
        arrays |= {"floor": corners, "faces": faces}
        slab = {"name": "Slab", "vertices": "arrays/floor.npy", "triangles": "arrays/faces.npy"}
        if speed:
            arrays["way"] = np.array([corners + [0.0, 0.0, speed * k / 48] for k in range(5)])
            slab["motion"] = "arrays/way.npy"
        whole = {"version": 1, "name": "touching", "time": {"start": 1, "end": 3, "fps": 24, "step": 1 / 96},
                 "bodies": bodies, "obstacles": [slab], "contact": contact or {}, "method": VANILLA,
                 "integrator": {"kind": "backward_euler"}, "gravity": [2.0, 0.0, -30.0], **scene}
        return write_job(folder, whole, arrays)
    return job


BOX = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.05, "size_z": 0.05}}
ALONG_Y = [0.5**0.5, -(0.5**0.5), 0, 0]


def hung(method="conjac", contact=False, **scene):
    """A soft bar between two boxes on hinges, the first of which is driven round."""
    def job(folder):
        made = box_job(folder, end=3, motion=False, step=1 / 48, method={"kind": method}, **scene)
        nodes, _ = box_tets()
        for name, value in (("left", 0.0), ("right", 0.2)):
            face = np.flatnonzero(np.abs(nodes[:, 0] - value) < 1e-9)
            np.save(made / "arrays" / f"{name}.npy", face.astype(np.int32))
        np.save(made / "arrays" / "dynamic.npy", np.array([np.argmin(np.linalg.norm(nodes - 0.05, axis=1))], np.int32))
        bodies = [{"name": "Upper", "position": [0.0, 0.05, -0.05], "mass": 0.3, "shape": BOX},
                  {"name": "Lower", "position": [0.2, 0.05, -0.05], "mass": 0.2, "shape": BOX}]
        drive = {"mode": {"kind": "drive"}, "target": [0.4]}
        joints = [{"name": "Shoulder", "child": "Upper", "position": [-0.1, 0.05, -0.05], "rotation": ALONG_Y,
                   "motor": drive if contact else None, "rate": [0.0 if contact else 2.0]},
                  {"name": "Elbow", "child": "Lower", "parent": "Upper", "position": [0.1, 0.05, -0.05],
                   "rotation": ALONG_Y}]
        joints[0] = {key: value for key, value in joints[0].items() if value is not None}
        change(made, "bodies.0.pin", {})
        change(made, "mechanisms", [{"name": "Arm", "bodies": bodies, "joints": joints}])
        change(made, "bodies.0.attach", [{"mechanism": "Arm", "body": "Upper", "nodes": "arrays/left.npy"},
                                         {"mechanism": "Arm", "body": "Lower", "nodes": "arrays/right.npy"}])
        if contact:
            plate = np.array([[x, y, -0.08] for x in (-1, 1) for y in (-1, 1)], float)
            np.save(made / "arrays" / "plate.npy", plate)
            np.save(made / "arrays" / "plate_faces.npy", np.array([[0, 2, 3], [0, 3, 1]], np.int32))
            change(made, "contact", {})
            change(made, "obstacles", [{"name": "Plate", "vertices": "arrays/plate.npy",
                                        "triangles": "arrays/plate_faces.npy"}])
        return made
    return job


def jointed(integrator="semi_implicit", friction=None, speed=6.0, **more):
    """A double pendulum of boxes with a stop, fast."""
    def job(folder):
        bodies = [{"name": "Upper", "position": [0.3, 0, 0], "mass": 2.0, "shape": BOX},
                  {"name": "Lower", "position": [1.0, 0, 0], "mass": 1.0, "shape": BOX}]
        joints = [{"name": "Shoulder", "child": "Upper", "rotation": ALONG_Y, "rate": [speed]},
                  {"name": "Elbow", "child": "Lower", "parent": "Upper", "position": [0.6, 0, 0], "rotation": ALONG_Y,
                   "rate": [-speed], "low": [-0.3], "high": [0.3]}]
        if friction:
            joints = [{**joint, "friction": {"mu": 0.3}} for joint in joints]
        scene = {"joint_friction": {"kind": friction}} if friction else {}
        return write_job(folder, {
            "version": 1, "name": "robot", "time": {"start": 1, "end": 4, "fps": 24, "step": 1 / 48},
            "mechanisms": [{"name": "Robot", "bodies": bodies, "joints": joints}],
            "integrator": {"kind": integrator}, **scene, **more}, {})
    return job


def cloth(eulerian=None, on=None, **body):
    """A square cloth that falls on a box's edge, obstacle or soft."""
    def job(folder):
        cells = 6
        at = np.linspace(0.0, 0.3, cells + 1)
        x, y = np.meshgrid(at, at, indexing="ij")
        number = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
        a, b, c, d = (one.ravel() for one in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
        arrays = {"v": np.stack([x, y, np.full_like(x, 0.003)], -1).reshape(-1, 3),
                  "t": np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)}
        square = {"name": "Cloth", "cloth": {} if eulerian is None else {"eulerian": eulerian}, "method": VANILLA,
                  "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"}, **body}
        nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
        bodies, obstacles = [square], []
        if on == "soft":
            low = np.flatnonzero(nodes[:, 2] == 0).astype(np.int32)
            arrays |= {"n": nodes + [0.1, 0.1, -0.1], "e": tets, "low": low}
            bodies.append({"name": "Block", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/e.npy"},
                           "pin": {"nodes": "arrays/low.npy"}, "method": VANILLA})
        else:
            corners = np.array([[x, y, z] for x in (0.1, 0.2) for y in (0.1, 0.2) for z in (-0.1, 0)], float)
            arrays |= {"o": corners, "f": np.array(
                [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                 [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32)}
            obstacles.append({"name": "Box", "vertices": "arrays/o.npy", "triangles": "arrays/f.npy"})
        return write_job(folder, {
            "version": 1, "name": "cloth", "time": {"start": 1, "end": 3, "fps": 24, "step": 1 / 96}, "bodies": bodies,
            "obstacles": obstacles, "contact": {}, "integrator": {"kind": "backward_euler"}}, arrays)
    return job


SCENES = {
    "newton": stage("newton_d"), "qlb": stage("qlb"), "frozen": stage("newton_l0"), "hybrid frozen": stage("hybrid_l0"),
    "extrapolated": stage("newton_l1"), "hybrid extrapolated": stage("hybrid_l1"), "iterative": stage("newton_i"),
    "early stopping": stage("quick"), "visible": stage("newton_visible"), "mixed": stage("mixed"),
    "bdf2": stage("newton_d", "bdf2"), "modal condensed": condensed("swinging"),
    "quasistatic": stage("newton_d", "quasistatic"),
    "on the ground": stage("quick", ground=GROUND), "newton on the ground": stage("newton_d", ground=GROUND),
    "condensed": condensed("bdf2"), "condensed on the ground": condensed("semi_implicit", ground=GROUND),
    "condensed root on the ground": condensed("sdirk2", ground=GROUND), "half-life": half_life,
    "dropped": dropped, "sliding": sliding,
    "contact": touching(), "early stopping in contact": touching(
        integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "impact": touching(speed=3.0), "gaps": touching({"law": {"kind": "gap"}}),
    "gaps pushed": touching({"law": {"kind": "gap"}}, 1.0, gravity=[0.0, 0.0, -200.0]),
    "thrown in contact": touching(speed=8.0, integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "condensed contact": touching(method={"kind": "conjac"}),
    "hung": hung(), "hung root": hung("vanilla", integrator={"kind": "sdirk2"}),
    "hung condensed root": hung(integrator={"kind": "sdirk2"}),
    "hung contact": hung("vanilla", True, integrator={"kind": "backward_euler"}),
    "hung condensed contact": hung("conjac", True, integrator={"kind": "backward_euler"}),
    "joints": jointed(), "joints root": jointed("sdirk2"), "leapfrog": jointed("leapfrog"),
    "bisp": jointed(friction="bisp"), "bisp root": jointed("sdirk2", friction="bisp"),
    "fast joints": jointed(speed=60.0),
    "cloth": cloth(), "sharp edges": cloth({}), "sharp edges on flesh": cloth({}, "soft"),
    "subspace": condensed("sdirk2", method={"kind": "subspace", "params": {"subspace_weights": 8}}),
    "projective": condensed("sdirk2", method={"kind": "projective"}, ground=GROUND),
}


def outcome(folder, name):
    """Return a digest of a scene's frames, or the failure in which it ends. folder: made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    job = SCENES[name](folder)
    try:
        bake(job, Quiet())
    except ConJacError as failure:
        return f"{type(failure).__name__}: {failure}"
    cache, digest = Cache(job / "cache"), hashlib.sha256()
    for frame in load(job).frames:
        for kind in ("frames", "poses"):
            for path in sorted((job / "cache" / kind).glob(f"*{frame}*")):
                digest.update(path.read_bytes())
    return f"{cache.frames_done()} {digest.hexdigest()}"


@cache
def importers(file, name):
    """Return modules of the solver that import a constant of one of its files, and that file's own."""
    home = "solver." + file.removesuffix(".py").replace("/", ".")
    found = [home]
    for path in sorted(SOLVER.rglob("*.py")):
        here = ["solver", *path.relative_to(SOLVER).with_suffix("").parts]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level and any(one.name == name for one in node.names):
                if ".".join([*here[:-node.level], *(node.module or "").split(".")]) == home:
                    found.append(".".join(here))
    return found


def set_constant(monkeypatch, file, name, value):
    """Give a constant of a file of the solver another value, wherever it is imported."""
    for module in importers(file, name):
        monkeypatch.setattr(importlib.import_module(module), name, value)
