"""A .blend keeps the meaning of its settings whatever the catalogue learns afterwards.

tests/data/settings_before_versions.blend was saved by the ConJac of commit ad61bff, which numbered menus by position.
"""

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
