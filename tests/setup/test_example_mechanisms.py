"""The examples with jointed bodies: committed files are those that build.py makes, and the scenes behave as
documented."""

import pytest
from example_files import committed_and_built
from matrix import some

EXAMPLES = ("ragdoll", "chain", "links", "muscle", "muscle2d", "klann")
MANY = ("links", "muscle2d")  #: whose bodies or skin take longer to make and read than all others together

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
    for frame in range(scene.frame_start, scene.frame_end + 1, 12):
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
    """Return a function that gives the contents of a named example, committed and freshly built."""
    known = {}

    def of(name):
        if name not in known:
            names = MANY if name in MANY else [example for example in EXAMPLES if example not in MANY]
            loaded = committed_and_built(names, FACTS, built_examples)
            known.update({example: (loaded["committed", example], loaded["built", example]) for example in names})
        return known[name]

    return of


@pytest.mark.parametrize("name", some(EXAMPLES, *(name for name in EXAMPLES if name not in MANY)))
def test_committed_file_is_what_the_script_builds(facts, name):
    committed, built = facts(name)
    for what in built:
        assert committed[what] == built[what], what
    assert committed.keys() == built.keys()


def test_no_fact_is_empty_in_all_examples(facts):
    """A comparison of facts that are empty everywhere would prove nothing."""
    for what in ("settings", "now", "meshes", "moved"):
        assert all(facts(name)[1][what] for name in EXAMPLES if name not in MANY), what
    assert facts("klann")[1]["arrays"]["Mechanism"] and facts("muscle")[1]["handles"]["Biceps"]
    assert len(facts("ragdoll")[1]["obstacles"]["Mannequin"]) > 3


def test_pins_of_the_second_chain_are_twice_as_thick(facts):
    thin, thick = (facts("chain")[0]["now"][name]["joints"] for name in ("Chain R", "Chain 2R"))
    assert len(thin) == len(thick) == 10
    for joint, other in zip(thin, thick):
        assert other["friction"]["radius"] == pytest.approx(2.0 * joint["friction"]["radius"])
        assert {**other["friction"], "radius": 0} == {**joint["friction"], "radius": 0}
