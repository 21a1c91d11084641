"""A .blend preserves the meaning of its settings when the catalogue changes afterwards.
tests/data/settings_before_versions.blend was saved by the ConJac of commit ad61bff, which numbered menus by
position."""

import subprocess
import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "data" / "settings_before_versions.blend"

#: what was chosen in that file
CUBE = {"method": "vanilla", "integrator": "quasistatic", "material": "linear", "fiber_material": "afung",
        "friction": "filter", "linear_solver": "multigrid", "export": "shapekeys", "mesher": "grid",
        "stage_solver": "newton_i", "fiber_field": "combed", "carry": "straight", "damping": "green"}
BONE = {"joint": "free_planar", "shape": "sphere", "motor": "drive", "role": "animated", "axis": "Z"}

#: names and numbers of menus whose items are not all of the catalogue. To be extended, never changed
OWN_MENUS = {
    ("CONJAC_Part", "role"): {"simulated": 0, "animated": 1, "none": 2},
    ("CONJAC_Part", "shape"): {"capsule": 0, "box": 1, "sphere": 2},
    ("CONJAC_Part", "axis"): {"X": 0, "Y": 1, "Z": 2},
    ("CONJAC_Part", "motor"): {"none": 0, "servo": 1, "speed": 2, "drive": 3},
    ("CONJAC_Part", "joint"): {"auto": 0},
    ("CONJAC_Mechanism", "pull_to"): {"start": 0, "rest": 1},
}


@pytest.fixture()
def old_file(addon):
    bpy.ops.wm.open_mainfile(filepath=str(OLD))


def test_menus_of_an_old_file_stand_where_they_stood(old_file):
    settings = bpy.data.objects["Cube"].conjac
    assert {name: getattr(settings, name) for name in CUBE} == CUBE
    part = bpy.data.objects["Rig"].pose.bones[0].conjac
    assert {name: getattr(part, name) for name in BONE} == BONE
    assert bpy.data.objects["Rig"].conjac.mechanism.joint_friction == "staggered"


@pytest.mark.parametrize("group, name", OWN_MENUS)
def test_menus_of_the_add_on_have_frozen_numbers(addon, group, name):
    from conjac.conjac_addon import parts

    known = getattr(parts, group).bl_rna.properties[name].enum_items
    assert OWN_MENUS[group, name].items() <= {item.identifier: item.value for item in known}.items()


WITH_NEWER_ENTRIES = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("conjac", ROOT + "/__init__.py", submodule_search_locations=[ROOT])
package = importlib.util.module_from_spec(spec)
sys.modules["conjac"] = package
spec.loader.exec_module(package)
from conjac.solver import catalogue
new = [catalogue.Entry(family, "made_up", "made.up:MadeUp", "Made Up", "Stands first in its menu", number=99)
       for family in dict.fromkeys(entry.family for entry in catalogue.ENTRIES) if family != "map"]
catalogue.ENTRIES = (*new, *catalogue.ENTRIES)
import bpy
package.register()
bpy.ops.wm.open_mainfile(filepath=OLD)
settings, rig = bpy.data.objects["Cube"].conjac, bpy.data.objects["Rig"]
assert settings.bl_rna.properties["material"].enum_items[0].identifier == "made_up"
print("READ", {name: getattr(settings, name) for name in CUBE} == CUBE,
      {name: getattr(rig.pose.bones[0].conjac, name) for name in BONE} == BONE,
      rig.conjac.mechanism.joint_friction, bpy.data.objects["Plain"].conjac.material, flush=True)
"""


def test_entries_that_come_first_in_their_menus_change_no_saved_file():
    script = f"ROOT, OLD, CUBE, BONE = {str(ROOT)!r}, {str(OLD)!r}, {CUBE!r}, {BONE!r}\n{WITH_NEWER_ENTRIES}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert "READ True True staggered stable_neo_hookean" in done.stdout, done.stdout + done.stderr


# ---- versions


def test_an_old_file_is_brought_up_to_date(old_file):
    from conjac.conjac_addon.settings import VERSION, CONJAC_Solver

    objects = bpy.data.objects
    assert {obj.name: obj.conjac.kind for obj in objects} == {
        "Cube": "soft_body", "Off": "none", "Plain": "none", "Rig": "mechanism", "Links": "mechanism"}
    solver = objects["Cube"].conjac.solver
    assert (solver.integrator, solver.quasistatic_start, solver.keep_spin) == ("quasistatic", True, True)
    assert [solver.step, solver.beta, solver.tolerance, solver.accuracy, solver.largest_deformation] == pytest.approx(
        [0.02, 0.7, 1e-3, 1e-3, 0.25])
    for name in ("Cube", "Off", "Rig", "Links"):
        settings = objects[name].conjac
        assert settings.version == VERSION and not set(settings.keys()) & {"enabled", *CONJAC_Solver.NAMES}
    assert objects["Plain"].conjac.version == 0  # it has nothing that could be old


def test_it_stays_up_to_date_when_it_is_saved(old_file, tmp_path):
    bpy.data.objects["Cube"].conjac.solver.beta = 2.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    settings = bpy.data.objects["Cube"].conjac
    assert (settings.kind, settings.solver.beta, settings.solver.integrator) == ("soft_body", 2.0, "quasistatic")


def test_saving_stores_the_version_of_settings_made_since(soft_cube, tmp_path):
    from conjac.conjac_addon.settings import VERSION

    bpy.ops.object.empty_add()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    assert soft_cube.conjac.version == VERSION and bpy.data.objects["Empty"].conjac.version == 0


def linked_cube(link):
    with bpy.data.libraries.load(str(OLD), link=link) as (_, wanted):
        wanted.objects = ["Cube"]
    cube = bpy.data.objects["Cube"]
    bpy.context.collection.objects.link(cube)
    return cube


@pytest.mark.skipif(not hasattr(bpy.app.handlers, "blend_import_post"), reason="this Blender does not tell of it")
@pytest.mark.parametrize("link", [False, True], ids=["appended", "linked"])
def test_what_comes_from_an_old_file_is_brought_up_to_date(addon, link):
    cube = linked_cube(link)
    assert (cube.conjac.kind, cube.conjac.solver.integrator, cube.conjac.solver.beta) == (
        "soft_body", "quasistatic", pytest.approx(0.7))


def test_an_override_of_an_old_file_keeps_what_it_says(addon, tmp_path):
    local = linked_cube(True).override_create(remap_local_usages=True)
    local.conjac.solver.beta, local.conjac.youngs_modulus = 2.0, 5.0e4
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    settings = next(obj for obj in bpy.data.objects if obj.library is None).conjac
    assert (settings.kind, settings.solver.beta, settings.youngs_modulus, settings.solver.integrator) == (
        "soft_body", 2.0, 5.0e4, "quasistatic")
    assert settings.solver.step == pytest.approx(0.02)


# ---- from a newer ConJac


def sentences(obj):
    """Return the text of the main panel, and its buttons."""
    from drawn_panels import drawn

    log = drawn(obj)
    return " ".join(str(text) for kind, text in log if kind == "label"), {n for kind, n in log if kind == "operator"}


def newer_version(settings):
    settings.version = 57


def newer_choice(settings):
    settings["material"] = 57


def newer_kind(settings):
    settings["kind"] = 7


@pytest.mark.parametrize("newer, words", [(newer_version, "version 57"), (newer_choice, "Material is number 57"),
                                          (newer_kind, "Kind is number 7")])
def test_settings_of_a_newer_conjac_are_refused_with_a_sentence(soft_cube, newer, words, tmp_path, capfd):
    from conjac.conjac_addon.bake import cli

    soft_cube.conjac.mesher, soft_cube.conjac.cache_folder = "grid", str(tmp_path)
    newer(soft_cube.conjac)
    labels, buttons = sentences(soft_cube)
    assert words in labels and "Update ConJac" in labels and not buttons
    assert cli.run(["bake"]) == cli.run(["bake", "--object", "Cube"]) == 2
    output = capfd.readouterr().err
    assert output.count(words) == 2 and "Traceback" not in output and '"Cube": its' in output
    assert soft_cube.conjac.bake() == 2
    assert not list(tmp_path.rglob("scene.json"))


def test_choosing_another_mends_an_unknown_choice(soft_cube):
    newer_choice(soft_cube.conjac)
    soft_cube.conjac.material = "arap"
    labels, buttons = sentences(soft_cube)
    assert "57" not in labels and "conjac.bake" in buttons


def test_saving_leaves_the_version_of_a_newer_conjac(soft_cube, tmp_path):
    newer_version(soft_cube.conjac)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    assert bpy.data.objects["Cube"].conjac.version == 57


def test_handlers_are_there_once_and_go(addon):
    from conjac.conjac_addon.bake import handlers

    def counted():
        return [getattr(bpy.app.handlers, name).count(handlers._upgrade) for name in ("load_post", "save_pre")]

    handlers.register()
    assert counted() == [1, 1]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert counted() == [1, 1]
    addon.unregister()
    assert counted() == [0, 0]
    addon.register()


# ---- names that scripts know


def test_every_old_name_reads_and_writes_what_replaced_it(soft_cube):
    from conjac.conjac_addon.settings import CONJAC_Solver

    settings = soft_cube.conjac
    for name in CONJAC_Solver.NAMES:
        prop = settings.bl_rna.properties[name]
        assert prop.description.endswith(f"the old name of solver.{name}")
        if prop.type == "ENUM":
            for item in prop.enum_items:
                setattr(settings, name, item.identifier)
                assert getattr(settings, name) == getattr(settings.solver, name) == item.identifier
        else:
            settings.property_unset(name)
            assert not settings.is_property_set(name) and not settings.solver.is_property_set(name)
            setattr(settings, name, not prop.default if prop.type == "BOOLEAN" else prop.default + prop.soft_min)
            assert getattr(settings, name) == getattr(settings.solver, name) and settings.is_property_set(name)
        assert name not in settings.keys() and name in settings.solver.keys()


def test_enabled_is_a_kind(addon):
    bpy.ops.mesh.primitive_cube_add()
    settings = bpy.context.object.conjac
    settings.enabled = True
    assert settings.kind == "soft_body" and settings.enabled
    settings.enabled = False
    assert settings.kind == "none" and not settings.enabled
    bpy.ops.object.armature_add()
    bpy.context.object.conjac.enabled = True
    assert bpy.context.object.conjac.kind == "mechanism"


def test_kinds_have_frozen_numbers_those_among_them_that_are_to_come(soft_cube):
    from conjac.conjac_addon import kinds

    assert kinds.NUMBERS == {"none": 0, "soft_body": 1, "cloth": 2, "collider": 3, "mechanism": 4, "rope": 5}
    offered = {item.identifier: item.value for item in soft_cube.conjac.bl_rna.properties["kind"].enum_items}
    assert offered == kinds.NUMBERS
