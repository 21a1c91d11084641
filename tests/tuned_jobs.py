"""Builders of small jobs in which tuned constants of the solver steer."""

import json

import numpy as np
from small_jobs import box_job, box_tets, change, write_job

GROUND = {"point": [0, 0, -0.05], "normal": [0, 0, 1], "stiffness": 50.0,
          "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}
VANILLA = {"kind": "vanilla"}


def stage(kind, integrator="sdirk2", young=4e3, weight=60.0, step=1 / 48, **more):
    """A bar that is thrown about, by one stage solver."""
    def job(folder):
        made = box_job(folder, end=3, method=VANILLA, integrator={"kind": integrator}, stage_solver={"kind": kind},
                       gravity=[6.0, 0.0, -weight], step=step, **more)
        change(made, "bodies.0.material.params.youngs_modulus", young)
        return made
    return job


def condensed(integrator, **more):
    """The bar on one dynamic node."""
    return lambda folder: box_job(folder, end=3, integrator={"kind": integrator}, gravity=[6.0, 0.0, -30.0], **more)


def half_life(folder, end=3):
    """A free bar with a half-life on the ground."""
    job = box_job(folder, end=end, integrator={"kind": "bdf2"}, ground={**GROUND, "point": [0, 0, -0.001]},
                  motion=False)
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.wobble_half_life", 0.3)
    return job


def dropped(folder, **scene):
    """A bar that lands on the ground and tips over."""
    job = box_job(folder, end=5, motion=False, gravity=[2.0, 0.0, -30.0], step=1 / 24, **{
        "method": VANILLA, "integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"},
        "ground": {**GROUND, "point": [0, 0, -0.02]}, **scene})
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


def jointed(integrator="semi_implicit", friction=None, speed=6.0, end=4, **more):
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
            "version": 1, "name": "robot", "time": {"start": 1, "end": end, "fps": 24, "step": 1 / 48},
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

def settling(folder):
    """A soft bar that starts in equilibrium, hanging far down."""
    job = box_job(folder, end=2, motion=False, method={"kind": "vanilla", "params": {"quasistatic_start": True}},
                  gravity=[0.0, 0.0, -9.81], step=1 / 24)
    change(job, "bodies.0.material.params.youngs_modulus", 400.0)
    return job


def torn(folder):
    """A bar that hardly resists being drawn out to many times its size."""
    job = box_job(folder, end=4, motion=False, method=VANILLA, gravity=[900.0, 0.0, 0.0],
                  integrator={"kind": "backward_euler"})
    change(job, "bodies.0.material.params.youngs_modulus", 50.0)
    return job


def stressed(folder):
    """A bar whose stress is shown while it is pressed flat by its weight."""
    job = box_job(folder, end=3, motion=False, method=VANILLA, integrator={"kind": "backward_euler"},
                  gravity=[-600.0, 0.0, 0.0], step=1 / 96)
    change(job, "bodies.0.material.params.youngs_modulus", 3e3)
    change(job, "bodies.0.stress_output", True)
    return job


def spinning(folder):
    """A free box that spins fast."""
    return write_job(folder, {
        "version": 1, "name": "top", "time": {"start": 1, "end": 4, "fps": 24, "step": 1 / 48},
        "mechanisms": [{"name": "Top", "bodies": [{"name": "Box", "mass": 1.0, "shape": BOX}], "joints": [
            {"name": "Free", "kind": "free", "child": "Box", "rate": [3.0, 60.0, 5.0, 0.0, 0.0, 0.0]}]}],
        "integrator": {"kind": "sdirk2"}}, {})


def rubbing(folder, **scene):
    """Blocks that slide on each other and on a slab, with limits of how much a step changes edges."""
    job = touching(**scene)(folder)
    for body in range(2):
        change(job, f"bodies.{body}.friction", 0.5)
    change(job, "time.largest_deformation", 0.05)
    return job


def pressed(way, **scene):
    """A block on a slab, with its pinned upper side moved down, or aside, into another block."""
    def job(folder):
        made = touching(**scene)(folder)
        nodes = np.load(made / "arrays" / "B_nodes.npy")
        top = np.flatnonzero(nodes[:, 2] > nodes[:, 2].max() - 1e-9).astype(np.int32)
        np.save(made / "arrays" / "top.npy", top)
        np.save(made / "arrays" / "led.npy", nodes[top] + np.linspace(0.0, 1.0, 5)[:, None, None] * np.array(way))
        change(made, "bodies.1.pin", {"nodes": "arrays/top.npy", "node_motion": "arrays/led.npy"})
        return made
    return job


def island(folder):
    """Two blocks on a slab, which do not touch each other, and two above it."""
    job = touching(integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"})(folder)
    change(job, "time.end", 2)
    np.save(job / "arrays" / "B_nodes.npy", np.load(job / "arrays" / "B_nodes.npy") + [0.25, 0.0, -0.102])
    nodes, tets = box_tets((3, 3, 3), (0.1, 0.1, 0.1))
    scene = json.loads((job / "scene.json").read_text())
    for name, at in (("C", (-0.13, 0.0, 0.06)), ("D", (0.0, -0.13, 0.06))):
        np.save(job / "arrays" / f"{name}_nodes.npy", nodes + at)
        np.save(job / "arrays" / f"{name}_tets.npy", tets)
        scene["bodies"].append({**scene["bodies"][0], "name": name, "tets": {
            "nodes": f"arrays/{name}_nodes.npy", "tets": f"arrays/{name}_tets.npy"}})
    change(job, "bodies", scene["bodies"])
    return job


def on_a_lever(folder):
    """A square cloth with sharp edges that falls on a box on a hinge."""
    job = cloth({})(folder)
    change(job, "obstacles", [])
    box = {"kind": "box", "params": {"size_x": 0.1, "size_y": 0.1, "size_z": 0.1}}
    change(job, "mechanisms", [{"name": "Lever", "bodies": [
        {"name": "Box", "position": [0.15, 0.15, -0.05], "mass": 0.2, "shape": box}], "joints": [
        {"name": "Hinge", "child": "Box", "position": [0.1, 0.15, -0.05], "rotation": ALONG_Y}]}])
    return job


def singular(folder, sag=0.0):
    """A row of links whose ends are both fixed: a level one cannot move. sag: of the middle, nearly [m]."""
    low = [-sag * k * (5 - k) / 6 for k in range(6)]
    thin = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.02, "size_z": 0.02}}
    names = [f"Link {k}" for k in range(5)]
    bodies = [{"name": name, "position": [0.2 * k + 0.1, 0, (low[k] + low[k + 1]) / 2], "mass": 1.0,
               "shape": thin}
              for k, name in enumerate(names)]
    joints = [{"name": f"Joint {k}", "child": name, "parent": names[k - 1] if k else None,
               "position": [0.2 * k, 0, low[k]], "rotation": ALONG_Y} for k, name in enumerate(names)]
    return write_job(folder, {
        "version": 1, "name": "bridge", "time": {"start": 1, "end": 3, "fps": 24, "step": 1 / 48},
        "mechanisms": [{"name": "Bridge", "bodies": bodies, "joints": joints, "loops": [
            {"name": "Far End", "kind": "hinge", "body_a": names[-1], "position": [1.0, 0, 0], "rotation": ALONG_Y}]}],
        "integrator": {"kind": "semi_implicit"}}, {})
