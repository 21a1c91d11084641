"""A joint from outside with its add-on half: one file and one entry, chosen on a bone, gathered and baked."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parents[2]

MADE_UP = """
import json, sys, types
sys.path[:0] = [sys.argv[1] + "/tests", sys.argv[1] + "/tests/addon", sys.argv[1]]
import conftest  # loads the root as the package `conjac`
import bpy, numpy as np
from pathlib import Path
import conjac
from conjac.solver import catalogue


class Gate:
    "Turns about Z of its frame, and what turns slides along the frame's X: an angle and a length."

    centre = ()

    @staticmethod
    def fill(bodies, dof, q, u, start, centres, place, subspace, bend):
        first = dof[bodies]
        c, s = np.cos(q[first]), np.sin(q[first])
        place[bodies, 0, 0], place[bodies, 0, 1], place[bodies, 1, 0], place[bodies, 1, 1] = c, -s, s, c
        place[bodies, 0, 3] = q[first + 1]
        subspace[first, 2] = 1.0
        subspace[first + 1, 3], subspace[first + 1, 4] = c, -s
        bend[bodies, 3], bend[bodies, 4] = -s * u[first] * u[first + 1], -c * u[first] * u[first + 1]


module = types.ModuleType("conjac.solver.coordinates.joints.gate")
module.Gate = Gate
sys.modules[module.__name__] = module
catalogue.ENTRIES = (*catalogue.ENTRIES, catalogue.Entry(
    "joint", "gate", "coordinates.joints.gate:Gate", "Gate", "Turns about an axis and slides across it",
    rates=("angle", "length"), motions=("turn_z", "slide_x"), number=max(
        one.number for one in catalogue.ENTRIES if one.family == "joint" and one.number is not None) + 1))

from rig import add_chain, job_of
from conjac.conjac_addon.gather import articulation
from conjac.solver.frames.read import Cache
from conjac.solver.simulate import bake

bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
conjac.register()
scene = bpy.context.scene
scene.frame_start, scene.frame_end, scene.render.fps = 1, 6, 24
folder = Path(sys.argv[2])
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
rig = add_chain(2)
rig.pose.bones["B0"].conjac.joint = "fixed"
rig.pose.bones["B1"].conjac.joint, rig.pose.bones["B1"].conjac.axis = "gate", "X"
document, job = job_of(rig, folder / "job")

class Quiet:
    def __getattr__(self, name):
        return lambda *_: None

bake(folder / "job", Quiet())
cache = Cache(folder / "job" / "cache")
poses = np.array([cache.poses(k)["pose"] for k in range(1, 7)])
names = [one["name"] for one in document["mechanisms"][0]["bodies"]]
child = poses[:, names.index("B1")]
# the joint's axes are those of the world about which it was gathered: Z along −Y, X along X
joint = document["mechanisms"][0]["joints"][1]
axes = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
read = []
for pose in child:
    turn = axes.T @ pose[:3, :3] @ child[0][:3, :3].T @ axes
    hinge = pose[:3, 3] - pose[:3, :3] @ child[0][:3, :3].T @ [0.15, 0.0, 0.0]
    read.append([*articulation.coordinates("gate", turn, axes.T @ (hinge - [0.3, 0.0, 0.0])), *hinge])
menu = rig.pose.bones["B1"].conjac.bl_rna.properties["joint"].enum_items
print(json.dumps({"kind": joint["kind"], "rotation": joint["rotation"], "read": read,
                  "middle": child[:, :3, 3].tolist(), "menu": [one.identifier for one in menu]}))
"""


def test_a_made_up_joint_is_chosen_on_a_bone_and_baked(tmp_path):
    done = subprocess.run([sys.executable, "-c", MADE_UP, str(ROOT), str(tmp_path)], capture_output=True, text=True,
                          check=False, timeout=280)
    assert not done.returncode, done.stderr[-2000:]
    report = json.loads(done.stdout.strip().splitlines()[-1])
    assert report["kind"] == "gate" and "gate" in report["menu"]
    assert report["rotation"] == pytest.approx([0.5**0.5, 0.5**0.5, 0.0, 0.0])
    # the hinge goes along the rail and nowhere else, and as far as is read off
    angle, length, *hinge = np.array(report["read"]).T
    assert np.array(hinge[1:]) == pytest.approx(0.0, abs=1e-6)
    assert hinge[0] - 0.3 == pytest.approx(length, abs=1e-6) and length[-1] > 0.1 and np.abs(angle[-1]) > 1.2
    # nothing pushes the bone along the rail, so its middle falls straight down, up to what a step of 1/24 s errs by
    middle = np.array(report["middle"])
    assert middle[:, 0] == pytest.approx(0.45, abs=0.08 * length[-1])
    assert middle[-1, 2] == pytest.approx(-0.15 * np.sin(np.abs(angle[-1])), abs=1e-6)
