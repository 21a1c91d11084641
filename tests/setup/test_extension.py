"""The zip that Blender's own tool builds contains the two packages and nothing else, installs, and is enabled then."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import linked_kernels
import numpy as np
import pytest
from PIL import Image

from scripts import build_extension, manual_pages, wheels

ROOT = Path(__file__).resolve().parents[2]


INSTALLED = "extensions/user_default/conjac"  #: in a user's folder


@pytest.fixture(scope="module")
def light_zip(tmp_path_factory):
    return build_extension.build(tmp_path_factory.mktemp("dist"))


#: a folder as it would be on a server: permissions stop everybody but root, and tests may run as root
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def run_in_blender(script: str, resources: Path, *arguments: str, read_only: Path | None = None) -> dict:
    """Return the record that a script printed, run in a fresh bpy with an empty user folder, away from the checkout.
    The time limit allows a busy machine to compile all kernels."""
    for name in ("config", "extensions", "scripts", "datafiles"):
        (resources / name).mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(resources), "PYTHONPATH": "",
                                "XDG_CACHE_HOME": str(resources / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", script, *arguments]
    if read_only is not None:
        for path in [read_only, *read_only.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        if os.geteuid() == 0:
            mounted = ["unshare", "--mount", "--propagation", "private", "sh", "-c", READ_ONLY, str(read_only)]
            command = [*mounted, *command]
            if subprocess.run([*mounted, "true"], capture_output=True).returncode:
                pytest.skip("this root may not mount, and nothing else keeps it from writing")
    ran = subprocess.run(command, cwd=resources, capture_output=True, text=True,
                         env=environment, timeout=900)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("FOUND")]
    assert ran.returncode == 0 and lines, ran.stdout[-2000:] + ran.stderr[-4000:]
    return json.loads(lines[-1][5:])


def test_manifest_and_pyproject_say_the_same_version():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert manifest["id"] == "conjac" and project["project"]["name"] == "conjac-solver"
    assert manifest["version"] == project["project"]["version"]
    assert manifest["license"] == [f"SPDX:{project['project']['license']}"]


def test_blender_accepts_the_zip(light_zip):
    ran = subprocess.run([sys.executable, "-I", str(build_extension.blender_tool()), "validate", str(light_zip)],
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_zip_contains_the_two_packages_and_nothing_else(light_zip):
    names = [name for name in zipfile.ZipFile(light_zip).namelist() if not name.endswith("/")]
    assert {name.partition("/")[0] for name in names} == {
        "__init__.py", "LICENSE", "LICENSES", "blender_manifest.toml", "conjac_addon", "solver"}
    tracked = subprocess.run(["git", "ls-files", "conjac_addon", "solver"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:
        assert set(tracked.stdout.split()) <= set(names)
    library = [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".blend"))]
    assert library == ["conjac_addon/assets/ConJac.blend"] and "conjac_addon/assets/blender_assets.cats.txt" in names


def test_the_manual_is_in_the_zip_and_its_links_lead_to_pages_that_are_there(light_zip):
    folder = "conjac_addon/manual/"
    with zipfile.ZipFile(light_zip) as packed:
        names = set(packed.namelist())
        pages = {name: packed.read(name).decode() for name in names if name.startswith(folder) and ".html" in name}
    docs = ROOT / "docs"
    written = {path.relative_to(docs).with_suffix(".html").as_posix() for path in docs.rglob("*.md")}
    assert set(pages) == {folder + name for name in (*written, "index.html")}
    for name, text in pages.items():
        assert "\0" not in text and "](" not in re.sub(r"<(code|pre)>.*?</\1>", "", text, flags=re.S)
        for target, anchor in re.findall(r'(?:href|src)="([^"#]*)#?([^"]*)"', text):
            if "://" in target:
                continue
            linked = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
            assert linked in names, (name, target)
            assert not anchor or f'id="{anchor}"' in pages[linked], (name, target, anchor)


def test_pictures_of_the_manual_are_small_in_the_zip(light_zip):
    with zipfile.ZipFile(light_zip) as packed:
        pictures = [entry for entry in packed.infolist() if entry.filename.startswith("conjac_addon/manual/")
                    and not entry.filename.endswith(".html")]
        shown = [Image.open(io.BytesIO(packed.read(entry))) for entry in pictures]
    assert len(pictures) == len(list((ROOT / "docs").rglob("*.png")))
    assert sum(entry.compress_size for entry in pictures) < 2e6  # 9.7 MB in docs/
    for picture in shown:
        assert picture.format == "WEBP" and 100 < max(picture.size) <= manual_pages.WIDTH
        assert np.ptp(np.asarray(picture.convert("L"))) > 50  # there is something in it


def test_manifest_names_no_website_but_the_readmes():
    """Blender shows a button for the website, which must not lead to an untested address. The manual is in the zip."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    website = manifest.get("website")
    assert website is None or (website.startswith("https://") and website in (ROOT / "README.md").read_text())


def test_the_same_files_in_another_order_and_of_another_date_make_the_same_zip(tmp_path):
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    for path, names, year in ((first, "ab", 1999), (second, "ba", 2031)):
        with zipfile.ZipFile(path, "w") as packed:
            for name in names:
                packed.writestr(zipfile.ZipInfo(f"{name}.py", (year, 1, 1, 0, 0, 0)), name * 1000)
    assert first.read_bytes() != second.read_bytes()
    made = [build_extension.repack(path, path.with_suffix(".anew")).read_bytes() for path in (first, second)]
    assert made[0] == made[1]
    with zipfile.ZipFile(first.with_suffix(".anew")) as packed:
        assert packed.read("a.py") == b"a" * 1000 and packed.read("b.py") == b"b" * 1000


def test_a_zip_is_the_same_however_often_it_is_built(light_zip, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert build_extension.build(tmp_path).read_bytes() == light_zip.read_bytes()


def test_blender_lets_a_zip_in_whose_python_is_another_and_a_repository_offers_the_right_one(tmp_path, monkeypatch):
    def made(name):
        with zipfile.ZipFile(tmp_path / name, "w") as wheel:
            wheel.writestr(f"{name.partition('-')[0]}/__init__.py", "")
        return tmp_path / name

    def tag(python):
        return "cp" + python.replace(".", "")

    # wheels of their right names with nothing in them
    monkeypatch.setattr(wheels, "fetch", lambda python, _: [
        made(f"real-1-{tag(python)}-{tag(python)}-manylinux2014_x86_64.whl")])
    monkeypatch.setattr(wheels, "_fetch", lambda python, target, wanted: [made(wheel.file) for wheel in wanted])
    folder = tmp_path / "dist"
    for python in wheels.PYTHONS:
        with zipfile.ZipFile(build_extension.build(folder, python, "linux-x64")) as packed:
            manifest = tomllib.loads(packed.read("blender_manifest.toml").decode())
            assert {f"./{name}" for name in packed.namelist() if name.endswith(".whl")} == set(manifest["wheels"])
        # one wheel of each Python, which Blender requires, and for this platform only those that it shall unpack
        assert all(any(f"-{tag(version)}-" in name for name in manifest["wheels"]) for version in wheels.PYTHONS)
        assert [name for name in manifest["wheels"] if "linux" in name] == [
            f"./wheels/real-1-{tag(python)}-{tag(python)}-manylinux2014_x86_64.whl"]
    build_extension.write_repository(folder)
    listed = json.loads((folder / "index.json").read_text())["data"]
    assert len(listed) == len(wheels.PYTHONS)
    for entry in listed:
        assert entry["python_versions"] == ["3." + digits for digits in re.findall(r"-py3(\d+)-", entry["archive_url"])]
    for row in (folder / "index.html").read_text().split("<tr>"):
        for python in re.findall(r"-py3(\d+)-", row):
            assert re.findall(r'python_versions=([^&"]+)', row) == [f"3.{python}"] and f"<td>3.{python}</td>" in row


def test_sizes_of_the_parts_add_up_to_the_zip(light_zip):
    parts = build_extension.sizes(light_zip)
    assert {"ConJac", "the manual"} <= {name for name, _ in parts} | {"smaller parts"}
    assert 0.9 * light_zip.stat().st_size < sum(size for _, size in parts) < light_zip.stat().st_size


INSTALL = """
import json, sys
import bpy
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True,
                                         overwrite=True)
name = "bl_ext.user_default.conjac"
found = {"enabled": [key for key in bpy.context.preferences.addons.keys() if key.endswith("conjac")],
         "property": hasattr(bpy.types.Object, "conjac"),
         "operators": sorted(dir(bpy.ops.conjac)),
         "heavy": sorted({"scipy", "numba", "msgspec", "sksparse"} & {n.partition(".")[0] for n in sys.modules}),
         "packages": sorted(n for n in sys.modules if n.startswith(("solver", "conjac"))),
         "solver": sorted({n.split(".conjac.solver.")[1].split(".")[0] for n in sys.modules if ".conjac.solver." in n})}
bpy.ops.preferences.addon_disable(module=name)
found["left"] = [hasattr(bpy.types.Object, "conjac"), sorted(dir(bpy.ops.conjac))]
print("FOUND" + json.dumps(found))
"""


@pytest.fixture(scope="module")
def installation(light_zip, tmp_path_factory):
    """Return a user's folder where the extension was installed, and the script's record."""
    folder = tmp_path_factory.mktemp("user")
    return folder, run_in_blender(INSTALL, folder, str(light_zip))


def test_install_enables_it_and_disable_leaves_nothing(installation):
    report = installation[1]
    assert report["enabled"] == ["bl_ext.user_default.conjac"]
    assert report["property"]
    assert {"add_soft_body", "bake", "cancel", "pause", "free_bake", "export"} <= set(report["operators"])
    assert report["heavy"] == []  # nothing heavy ever loads in Blender
    assert {"catalogue"} <= set(report["solver"]) <= {"catalogue", "errors", "frames", "job"}  # the half that reads
    assert report["packages"] == []  # no top-level name but Blender's own bl_ext
    assert report["left"] == [False, []]


BAKE = """
import json, sys
import bpy
import numpy as np
bpy.ops.wm.read_factory_settings(use_empty=True)
import addon_utils
addon_utils.enable("bl_ext.user_default.conjac")
bpy.ops.mesh.primitive_cube_add(size=0.1)
cube = bpy.context.object
scene = bpy.context.scene
scene.frame_start, scene.frame_end, scene.render.fps = 1, 4, 24
cube.vertex_groups.new(name="Pin").add([v.index for v in cube.data.vertices if v.co.z > 0], 1.0, "REPLACE")
soft = cube.conjac
soft.enabled, soft.mesher, soft.edge_length, soft.youngs_modulus = True, "grid", 0.05, 5e3
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
code = soft.bake(wait=True)
lowest = []
for frame in (1, 4):
    scene.frame_set(frame)
    shown = cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    lowest.append(min(v.co.z for v in shown.vertices))
found = {"code": code, "lowest": lowest, "modifiers": [m.type for m in cube.modifiers],
         "cache": sorted(bpy.utils.blend_paths(absolute=True))}
addon_utils.disable("bl_ext.user_default.conjac")
print("FOUND" + json.dumps(found))
"""


def hangs_and_plays(report):
    assert report["code"] == 0
    rest, sagged = report["lowest"]
    assert rest == pytest.approx(-0.05, abs=1e-6)
    assert -0.07 < sagged < -0.0501  # hangs from its upper face
    assert report["modifiers"] == ["MESH_CACHE"]
    assert any(Path(path).is_file() and path.endswith(".pc2") for path in report["cache"])


@pytest.fixture(scope="module")
def baked(installation, tmp_path_factory):
    """Return a user's folder after a bake with kernels compiled before and the extension's own folder read-only, the
    contents of that one before, and the script's record."""
    folder = tmp_path_factory.mktemp("baked") / "user"
    shutil.copytree(installation[0], folder)
    linked_kernels.give(folder / "extensions/.user/user_default")
    before = sorted((folder / INSTALLED).rglob("*"))
    report = run_in_blender(BAKE, folder, str(folder.parent / "cube.blend"), read_only=folder / INSTALLED)
    return folder, before, report


def test_installed_extension_bakes_and_plays(baked):
    hangs_and_plays(baked[2])


@pytest.mark.long
def test_a_first_bake_compiles_and_plays(installation, tmp_path):
    folder = tmp_path / "user"
    shutil.copytree(installation[0], folder)
    hangs_and_plays(run_in_blender(BAKE, folder, str(tmp_path / "cube.blend")))


def test_kernels_are_stored_in_the_extensions_user_folder_and_nothing_in_its_own(baked):
    folder, before, report = baked
    assert report["code"] == 0
    assert sorted((folder / INSTALLED).rglob("*")) == before
    marks = list((folder / "extensions/.user/user_default/conjac").glob("kernels-*/loaded-*"))
    assert len(marks) == 1  # what the worker wrote there
    assert not (folder / "cache" / "conjac").exists()  # the folder of a solver without the extension


COMPILE = """
import json, sys, time
import bpy, addon_utils
addon_utils.enable("bl_ext.user_default.conjac")
from bl_ext.user_default.conjac.conjac_addon.bake import kernels
status = []
kernels.status_line.say = status.append
first = kernels.look()
while kernels._worker is not None:
    time.sleep(0.2)
    kernels.look()
found = {"first": first, "status": sorted(set(status)), "again": kernels.begin(),
         "marks": [path.name for path in kernels.folder().glob("compiled-*")]}
addon_utils.disable("bl_ext.user_default.conjac")
print("FOUND" + json.dumps(found))
"""


@pytest.mark.long
def test_kernels_are_compiled_behind_the_window_once_and_the_window_says_so(installation, tmp_path):
    folder = tmp_path / "user"
    shutil.copytree(installation[0], folder)
    installed = folder / "extensions/.user/user_default"
    linked_kernels.give(installed, without=["definite_kernels"])
    report = run_in_blender(COMPILE, folder)
    assert report["first"] is not None and report["again"] is False
    assert report["status"] == ["ConJac is compiling for this computer, only this once. You can keep working, and bake"]
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text())["version"]
    assert report["marks"] == [f"compiled-{version}"]
    assert list(installed.glob("conjac/kernels-*/definite_kernels.*.nbc"))


UPGRADE = """
import json, sys
import bpy
module = "bl_ext.user_default.conjac"
def install(path):
    bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True, overwrite=True)
install(sys.argv[1])
bpy.context.preferences.addons[module].preferences.threads = 3
bpy.ops.mesh.primitive_cube_add(size=0.1)
cube = bpy.context.object
name = cube.name
cube.conjac.enabled, cube.conjac.youngs_modulus = True, 1234.0
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[3])
kernels = bpy.utils.extension_path_user(module, path="kernels", create=True)
open(kernels + "/one", "w").close()
install(sys.argv[2])
import os, tomllib
folder = bpy.utils.user_resource("EXTENSIONS", path="user_default/conjac")
with open(folder + "/blender_manifest.toml", "rb") as file:
    version = tomllib.load(file)["version"]
bpy.ops.wm.open_mainfile(filepath=sys.argv[3])
cube = bpy.data.objects[name]
found = {"version": version, "threads": bpy.context.preferences.addons[module].preferences.threads,
         "young": cube.conjac.youngs_modulus, "enabled": cube.conjac.enabled, "kept": os.path.exists(kernels + "/one")}
bpy.ops.extensions.package_uninstall(repo_index=[r.module for r in bpy.context.preferences.extensions.repos].index(
    "user_default"), pkg_id="conjac")
found["gone"] = [not os.path.exists(folder), not os.path.exists(kernels)]
found["left"] = module in bpy.context.preferences.addons
print("FOUND" + json.dumps(found))
"""


def test_an_update_keeps_settings_and_kernels_and_uninstalling_leaves_nothing(light_zip, tmp_path):
    older = tmp_path / "older.zip"
    with zipfile.ZipFile(light_zip) as newer, zipfile.ZipFile(older, "w") as packed:
        for name in newer.namelist():
            data = newer.read(name)
            if name == "blender_manifest.toml":
                data = re.sub(rb'(?m)^version = "[^"]*"', b'version = "0.0.9"', data)
            packed.writestr(name, data)
    report = run_in_blender(UPGRADE, tmp_path / "user", str(older), str(light_zip), str(tmp_path / "cube.blend"))
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text())["version"]
    assert report["version"] == version
    assert report["threads"] == 3 and report["young"] == 1234.0 and report["enabled"] and report["kept"]
    assert report["gone"] == [True, True] and not report["left"]


FARM = """
import json, sys
import bpy
import addon_utils
module = "bl_ext.system.conjac"
addon_utils.enable(module)
""" + BAKE.partition('addon_utils.enable("bl_ext.user_default.conjac")\n')[2].replace("user_default", "system")


@pytest.mark.long
def test_a_farm_unpacks_the_zip_once_where_nobody_may_write(light_zip, tmp_path, monkeypatch):
    shared, user = tmp_path / "shared", tmp_path / "user"
    own = shared / "system" / "conjac"
    with zipfile.ZipFile(light_zip) as packed:
        packed.extractall(own)
    before = sorted(own.rglob("*"))
    monkeypatch.setenv("BLENDER_SYSTEM_EXTENSIONS", str(shared))
    linked_kernels.give(user / "extensions/.user/system")
    report = run_in_blender(FARM, user, str(tmp_path / "cube.blend"), read_only=shared)
    assert report["code"] == 0 and report["modifiers"] == ["MESH_CACHE"]
    assert sorted(own.rglob("*")) == before
