"""The complete Blender program installs the zip with its wheels, and bakes from the command line. A Debian chroot made
by scripts/blender-chroot (Blender 4.3 on Python 3.13): root only, a minute to make."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import build_extension, installs

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "scripts" / "blender-chroot"
SUITE, PYTHON = "trixie", "3.13"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not TOOL.exists(), reason="scripts/blender-chroot is not here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="making a chroot needs root"),
]

SCENE = """
import bpy
cube = bpy.data.objects["Cube"]  # the default scene: a camera and a light are there, which no bake reads
cube.data.transform(cube.matrix_world.Scale(0.05, 4))
scene = bpy.context.scene
scene.frame_start, scene.frame_end, scene.render.fps = 1, 6, 24
cube.vertex_groups.new(name="Pin").add([v.index for v in cube.data.vertices if v.co.z > 0], 1.0, "REPLACE")
cube.vertex_groups.new(name="Dynamic").add([0], 1.0, "REPLACE")
soft = cube.conjac
soft.enabled, soft.mesher, soft.edge_length, soft.youngs_modulus = True, "grid", 0.05, 5e3
bpy.ops.wm.save_as_mainfile(filepath="/project/cube.blend")
"""

LOOK = """
import json, bpy
cube, scene, lowest = bpy.data.objects["Cube"], bpy.context.scene, []
for frame in (1, 6):
    scene.frame_set(frame)
    lowest.append(min(v.co.z for v in cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices))
keys = cube.data.shape_keys
print("FOUND" + json.dumps([lowest, [m.type for m in cube.modifiers], len(keys.key_blocks) if keys else 0]))
"""

# one run: the chroot's HOME, and with it what is installed, is fresh each time
STEPS = """
set -x
blender --command extension install-file -r user_default -e /project/conjac.zip || exit 101
blender -b --python-exit-code 3 -P /project/scene.py || exit 102
blender -b /project/cube.blend -c conjac bake --format pc2 --save; echo "EXIT pc2 $?"
blender -b --factory-startup /project/cube.blend --python-exit-code 3 -P /project/look.py
blender -b /project/cube.blend -c conjac bake --format shapekeys --frames 1-6 --save; echo "EXIT shapekeys $?"
blender -b --factory-startup /project/cube.blend --python-exit-code 3 -P /project/look.py
blender -b /project/cube.blend -c conjac bake --format abc; echo "EXIT abc $?"
blender -b /project/cube.blend -c conjac farm --out /project/bundle --blend; echo "EXIT farm $?"
blender -b /project/cube.blend -c conjac bake --object Nobody; echo "EXIT nobody $?"
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Return the standard output of Blender."""
    try:
        installs.make_chroot(SUITE)
    except installs.NotHere as reason:
        pytest.skip(str(reason))
    project = tmp_path_factory.mktemp("project")
    shutil.copyfile(build_extension.build(project / "dist", PYTHON, "linux-x64"), project / "conjac.zip")
    shutil.rmtree(project / "dist")
    (project / "scene.py").write_text(SCENE)
    (project / "look.py").write_text(LOOK)
    ran = subprocess.run([str(TOOL), "run", SUITE, str(project), "bash", "-c", STEPS], capture_output=True, text=True,
                         env=os.environ | {"TMO": "900"})
    text = ran.stdout + ran.stderr
    if "unshare failed" in text or "mount:" in text and "permission denied" in text:
        pytest.skip("this root may not mount")
    assert ran.returncode == 0, text[-6000:]
    return ran.stdout


def records_of(output):
    return [json.loads(line[5:]) for line in output.splitlines() if line.startswith("FOUND")]


def test_command_line_bakes_to_pc2(output):
    assert "EXIT pc2 0" in output, output[-4000:]
    (rest, sagged), modifiers, keys = records_of(output)[0]
    assert rest == pytest.approx(-0.05, abs=1e-6) and sagged < -0.0501
    assert modifiers == ["MESH_CACHE"] and keys == 0


def test_command_line_bakes_to_shape_keys(output):
    assert "EXIT shapekeys 0" in output, output[-4000:]
    (rest, sagged), modifiers, keys = records_of(output)[1]
    assert rest == pytest.approx(-0.05, abs=1e-6) and sagged < -0.0501
    assert modifiers == [] and keys == 7  # the basis and six frames


def test_command_line_says_that_this_blender_has_no_alembic(output):
    assert "EXIT abc 4" in output, output[-4000:]


def test_command_line_writes_a_bundle_that_renders_the_open_file(output):
    assert "EXIT farm 0" in output, output[-4000:]


def test_exit_code_of_a_name_that_is_not_there(output):
    assert "EXIT nobody 2" in output
