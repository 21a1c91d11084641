"""The complete zip in the complete Blender: the wrong zip, an update, no network, a removal. The Debian chroot of
test_real_blender.py: Blender 4.3 on Python 3.13, root only. Each Blender below is a new process."""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from scripts import build_extension

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "scripts" / "blender-chroot"
SUITE, RIGHT, WRONG = "trixie", "3.13", "3.11"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not TOOL.exists(), reason="scripts/blender-chroot is not here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="making a chroot needs root"),
]

SCENE = """
import bpy
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
bpy.ops.mesh.primitive_cube_add(size=0.1)
cube, scene = bpy.context.object, bpy.context.scene
scene.frame_start, scene.frame_end, scene.render.fps = 1, 4, 24
cube.vertex_groups.new(name="Pin").add([v.index for v in cube.data.vertices if v.co.z > 0], 1.0, "REPLACE")
soft = cube.conjac
soft.enabled, soft.mesher, soft.edge_length, soft.youngs_modulus = True, "grid", 0.05, 4321.0
bpy.context.preferences.addons["bl_ext.user_default.conjac"].preferences.threads = 1
bpy.ops.wm.save_userpref()
bpy.ops.wm.save_as_mainfile(filepath="/project/cube.blend")
"""

ONLY_THE_SENTENCE = """
import bpy
print("THERE", sorted(name for name in dir(bpy.types) if name.startswith("CONJAC")), dir(bpy.ops.conjac))
"""

LOOK = """
import sys, bpy
from bl_ext.user_default.conjac.conjac_addon import bake
cube, module = bpy.data.objects["Cube"], "bl_ext.user_default.conjac"
preferences = bpy.context.preferences.addons[module].preferences
print("KEPT", round(cube.conjac.youngs_modulus), preferences.threads, bake.status(cube).state)
top = {name.partition(".")[0] for name in sys.modules}
print("TOP", sorted(top & {"conjac", "conjac_addon", "solver", "conjac_solver", "scipy", "numba", "msgspec", "cvxopt"}))
"""

#: Debian's package of mount is not in the chroot: bind (4096), then remount (32) it read-only (1)
READ_ONLY = """
import ctypes, sys
libc, folder = ctypes.CDLL(None, use_errno=True), sys.argv[1].encode()
sys.exit(libc.mount(folder, folder, None, 4096, None) or libc.mount(None, folder, None, 4096 | 32 | 1, None))
"""

#: one run: the chroot's HOME, and with it what is installed, is new each time
STEPS = r"""
C="$HOME/.config/blender"
own() { (cd "$1" && find . -name __pycache__ -prune -o -type f -print0 | sort -z | xargs -0 sha1sum | sha1sum); }
install() { blender --command extension install-file -r user_default -e "$1" 2>&1; }

echo "== wrong"; install /project/wrong.zip || exit 100
find "$C" -path '*/.local/*' -name '*.so*'; blender -b --python-exit-code 3 -P /project/wrong.py || exit 100
echo "== older"; install /project/older.zip || exit 101
blender -b --python-exit-code 3 -P /project/scene.py || exit 102
echo "== bake"; E=$(dirname $(find "$C" -path '*conjac/blender_manifest.toml')); own "$E"
unshare -n sh -c 'grep -c : /proc/net/dev; blender -b /project/cube.blend -c conjac bake --save'; echo "EXIT $?"
own "$E"
echo "== newer"; install /project/right.zip || exit 103
grep '^version' "$E/blender_manifest.toml"
blender -b /project/cube.blend --python-exit-code 3 -P /project/look.py; echo "EXIT $?"
echo "== again"; unshare -n blender -b /project/cube.blend -c conjac bake; echo "EXIT $?"
echo "== farm"; python3 -c "$READ_ONLY" /project/shared || exit 104
touch /project/shared/system/conjac/x 2>&1
own /project/shared/system/conjac
mkdir /tmp/node; HOME=/tmp/node BLENDER_SYSTEM_EXTENSIONS=/project/shared unshare -n blender -b \
    --addons bl_ext.system.conjac /project/cube.blend -c conjac bake --replace; echo "EXIT $?"
own /project/shared/system/conjac
echo "== removed"; blender --command extension remove user_default.conjac; find "$C" -ipath '*conjac*'
find "$C" -path '*/.local/*' -name '*.so*'
echo "== left"; find /project/conjac_cache -name '*.pc2'
echo "== end"
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return the lines that Blender printed, by step."""
    made = subprocess.run([str(TOOL), "make", SUITE], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no chroot could be made here: {made.stderr.strip().splitlines()[-1:]}")
    project = tmp_path_factory.mktemp("project")
    right = build_extension.build(project / "dist", RIGHT, "linux-x64")
    build_extension.build(project / "dist", WRONG, "linux-x64").rename(project / "wrong.zip")
    right.rename(project / "right.zip")
    with zipfile.ZipFile(project / "right.zip") as newer, zipfile.ZipFile(project / "older.zip", "w") as older:
        newer.extractall(project / "shared" / "system" / "conjac")
        for name in newer.namelist():
            data = newer.read(name)
            if name == "blender_manifest.toml":
                data = re.sub(rb'(?m)^version = "[^"]*"', b'version = "0.0.9"', data)
            older.writestr(name, data)
    (project / "scene.py").write_text(SCENE)
    (project / "look.py").write_text(LOOK)
    (project / "wrong.py").write_text(ONLY_THE_SENTENCE)
    ran = subprocess.run([str(TOOL), "run", SUITE, str(project), "env", f"READ_ONLY={READ_ONLY}", "bash", "-c", STEPS],
                         capture_output=True, text=True, env=os.environ | {"TMO": "1500"})
    text = ran.stdout + ran.stderr
    outputs = {step.partition("\n")[0]: step.partition("\n")[2] for step in ran.stdout.split("== ")}
    shutil.rmtree(project)  # half a gigabyte
    if "unshare failed" in text or "mount:" in text and "permission denied" in text:
        pytest.skip("this root may not mount")
    assert ran.returncode == 0 and "== end" in ran.stdout, text[-6000:]
    return outputs


def test_the_wrong_zip_names_the_right_one_and_does_nothing_else_and_the_right_one_installs_over_it(outputs):
    sentence = (rf"ConJac: This zip of ConJac is for Python {WRONG}, and this Blender has Python {RIGHT}: "
                rf"install conjac-[0-9.]+-py{RIGHT.replace('.', '')}-linux-x64\.zip instead\n")
    assert len(re.findall(sentence, outputs["wrong"])) == 2  # as it is installed, and at the next start
    assert "THERE ['CONJAC_PT_view3d'] []" in outputs["wrong"]
    assert "Traceback" not in outputs["wrong"] and "/.local/" not in outputs["wrong"]
    assert 'Reinstalled "conjac"' in outputs["older"]


def test_a_bake_needs_no_network_and_writes_nothing_where_it_is_installed(outputs):
    before, devices, *others = outputs["bake"].strip().splitlines()
    assert devices == "1"  # the loop, which is down
    assert "EXIT 0" in others and others[-1] == before


def test_an_update_keeps_preferences_settings_and_the_bake(outputs):
    assert 'version = "0.0.9"' not in outputs["newer"]
    assert "KEPT 4321 1 complete" in outputs["newer"] and "EXIT 0" in outputs["newer"]
    assert "already baked" in outputs["again"] and "EXIT 0" in outputs["again"]


def test_it_puts_no_module_beside_its_own_namespace_and_loads_nothing_heavy(outputs):
    assert "TOP []" in outputs["newer"]


def test_a_farm_bakes_from_a_folder_that_is_read_only(outputs):
    written, before, *others = outputs["farm"].splitlines()
    assert "Read-only file system" in written
    assert "EXIT 0" in others and others[-1] == before


def test_removing_it_leaves_nothing_but_the_caches(outputs):
    assert [line for line in outputs["removed"].splitlines() if line.startswith("/")] == []
    assert outputs["left"].strip().endswith(".pc2")
