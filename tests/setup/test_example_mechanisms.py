"""The examples with jointed bodies: the committed files are what build.py makes, and what their scenes are about."""

import pytest
from example_files import committed_and_built

EXAMPLES = ("ragdoll", "chain", "links", "muscle", "muscle2d", "klann")

FACTS = """
import json, sys
import bpy
from examples_blend import addon
extension = addon.load()
extension.register()
from conjac.conjac_addon import gather, members
from conjac.conjac_addon.gather.job import scene_settings

def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return round(value, 5) + 0.0 if isinstance(value, float) else value

def mesh(obj):
    names = [group.name for group in obj.vertex_groups]
    return dict(vertices=[list(v.co) for v in obj.data.vertices], faces=[list(p.vertices) for p in obj.data.polygons],
                weights=[[(names[g.group], g.weight) for g in v.groups] for v in obj.data.vertices],
                modifiers=[(m.type, m.object.name if m.type == "ARMATURE" else "") for m in obj.modifiers])

facts = {}
for path in sys.argv[1:]:
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    owners = [one for one in scene.objects if members.is_mechanism(one)]
    now = {one.name: gather.mechanism_now(one, scene) for one in owners}
    moved = []
    for frame in range(scene.frame_start, scene.frame_end + 1, 4):
        scene.frame_set(frame)
        for one in sorted(scene.objects, key=lambda each: each.name):
            moved.append([one.name, one.conjac_motor_target, *map(list, one.matrix_world)])
            moved += [[bone.name, bone.conjac_motor_target, *map(list, bone.matrix)]
                      for bone in (one.pose.bones if one.pose else ())]
    facts[path] = rounded(dict(
        settings={one.name: scene_settings(one, scene) for one in owners},
        now={name: document for name, (document, _) in now.items()},
        arrays={name: {key: array.tolist() for key, array in arrays.items()} for name, (_, arrays) in now.items()},
        meshes={one.name: mesh(one) for one in scene.objects if one.type == "MESH"},
        obstacles={one.name: sorted(each.name for each in one.conjac.mechanism.obstacles.objects)
                   for one in owners if one.conjac.mechanism.obstacles is not None},
        handles={one.name: [list(h.object.location) for h in one.conjac.handles] for one in scene.objects},
        frames=[scene.frame_start, scene.frame_end], moved=moved))
print("FACTS" + json.dumps(facts))
"""


@pytest.fixture(scope="module")
def facts(built_examples):
    """What stands in the committed files and in freshly built ones."""
    return committed_and_built(EXAMPLES, FACTS, built_examples)


@pytest.mark.parametrize("name", EXAMPLES)
def test_committed_file_is_what_the_script_builds(facts, name):
    committed, built = facts["committed", name], facts["built", name]
    for what in built:
        assert committed[what] == built[what], what
    assert committed.keys() == built.keys()


def test_every_fact_is_told(facts):
    """Nothing that is compared is empty in all of them."""
    for what in ("settings", "now", "meshes", "moved"):
        assert all(facts["built", name][what] for name in EXAMPLES), what
    assert facts["built", "klann"]["arrays"]["Mechanism"] and facts["built", "muscle"]["handles"]["Biceps"]
    assert len(facts["built", "ragdoll"]["obstacles"]["Mannequin"]) > 3


def test_pins_of_the_second_chain_are_twice_as_thick(facts):
    thin, thick = (facts["committed", "chain"]["now"][name]["joints"] for name in ("Chain R", "Chain 2R"))
    assert len(thin) == len(thick) == 10
    for one, other in zip(thin, thick):
        assert other["friction"]["radius"] == pytest.approx(2.0 * one["friction"]["radius"])
        assert {**other["friction"], "radius": 0} == {**one["friction"], "radius": 0}
