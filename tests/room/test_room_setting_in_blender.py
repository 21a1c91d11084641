"""The room test of an artist's setting: one declaration of the add-on beside the field of the schema, and it is a
property, gathered in SI, drawn where it means something and named where it has changed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parents[2]

ADDED = """
import json, sys
from pathlib import Path
from typing import Annotated
sys.path[:0] = [sys.argv[1] + "/tests", sys.argv[1] + "/tests/addon", sys.argv[1]]
import conftest  # loads the root as the package `conjac`
import bpy
import conjac
from msgspec import field
from conjac.solver import threads
from conjac.solver.job import schema
from conjac.solver.job.schema_values import AMONG_BODIES, SEPARATE, SOLVE, Called
from conjac.conjac_addon import entry_properties, members


class Body(schema.Body):
    sparkle: Annotated[float | None, SOLVE, Called("sparkle"), AMONG_BODIES] = None


class Scene(schema.Scene):
    bodies: Annotated[list[Body], SEPARATE] = field(default_factory=list)


schema.Body, schema.Scene = Body, Scene
entry_properties.FIELDS.append(entry_properties.BodyField(
    "sparkle", bpy.props.FloatProperty(name="Sparkle Length", default=0.0, unit="LENGTH"), "surface", "contact",
    suits=members.is_volume))

conjac.register()
from conjac.conjac_addon.gather import job as gather, stale
from conjac.conjac_addon.ui import fields
from conjac.solver.job.load import load

bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
scene = bpy.context.scene
scene.frame_start, scene.frame_end, scene.unit_settings.scale_length = 1, 2, 0.5
for x in (0.0, 4.0):
    bpy.ops.mesh.primitive_cube_add(location=(x, 0.0, 0.0))
    cube = bpy.context.object
    cube.conjac.kind, cube.conjac.contact.collides_with = "soft_body", "all"
    cube.conjac.mesher, cube.conjac.edge_length = "grid", 1.0


class Layout:
    def __init__(self):
        self.drawn = []

    def prop(self, data, name, **_):
        self.drawn.append(name)

    def column(self, **_):
        return self


def shown(obj):
    layout = Layout()
    fields.draw(layout, obj, "surface")
    return layout.drawn


def wanted(folder):
    folder = Path(sys.argv[2]) / folder
    gather.write_job(cube, scene, folder)
    return [getattr(one, "sparkle", 0) for one in load(folder).scene.bodies]


plain = wanted("plain")
cube.conjac.contact.sparkle = 0.3
changed = stale.changed_settings(cube, scene, Path(sys.argv[2]) / "plain")
found = {"plain": plain, "set": wanted("set"), "changed": changed, "drawn": shown(cube)}
cube.conjac.kind = "cloth"
print(json.dumps(found | {"of cloth": shown(cube)}))
"""


def test_a_setting_of_an_artist_is_one_declaration(tmp_path):
    done = subprocess.run([sys.executable, "-c", ADDED, str(ROOT), str(tmp_path)], capture_output=True, text=True,
                          check=False, timeout=280)
    assert not done.returncode, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert found["plain"] == [None, None] and found["set"] == [None, pytest.approx(0.15)]
    assert found["changed"] == ["Sparkle Length"]
    assert found["drawn"][-1] == "sparkle" and "sparkle" not in found["of cloth"]
