"""Contact pairs and joint rates beside flesh, followed through one step from file to file: how often one has to go back
to a file that the way came from."""

import pytest
from call_backs import call_backs
from tuned_scenes import SCENES
from worlds import world_of

from solver.job.load import load

#: scenes that are followed, and whether surfaces touch in the step
FOLLOWED = {
    "contact": True,  # blocks on each other and on a slab
    "cloth": True,  # on a box's edge
    "hung contact": True,  # flesh on driven bones, above a plate
    "hung": False,  # flesh on bones, in a step that is linearised
    "hung root": False,  # and in one whose stages are solved
}
#: every other scene of which a step can be followed; two end in a failure
OTHERS = [name for name in SCENES if name not in {*FOLLOWED, "thrown in contact", "singular loop"}]
#: files more than one function of which is called back, in these other scenes: (file, file that it has called)
MORE_THAN_ONCE = {
    # rows of friction in bearings, which a mechanism poses for whichever law solves them
    ("world/joints_with_friction.py", "bearings/bisp.py"), ("parts/joints/jointed.py", "world/joints_with_friction.py"),
    # cloth with Sharp Edges, whose coupling steps subsystems within a subsystem, and repeats that
    ("world/subsystems.py", "world/interface.py"), ("world/interface.py", "coupling/staggered.py"),
}


def followed(folder, scene):
    """Calls back in the second step of a scene, and the number of pairs of surfaces that touch after it."""
    world = world_of(load(SCENES[scene](folder)))
    ends = [world.step(world.initial_state(), 1 / 96)]
    found = call_backs(lambda: ends.append(world.step(ends[0], 1 / 96)))
    pairs = (part.contact_forces(state) for part, state in zip(world.parts, world.split_state(ends[1])))
    return found, sum(len(forces) for forces in pairs if forces is not None)


def more_than_once(found):
    return {pair: names for pair, names in found.items() if len(names) > 1}


@pytest.mark.parametrize("scene", FOLLOWED)
def test_a_value_is_followed_without_going_back(tmp_path, scene):
    found, pairs = followed(tmp_path / "job", scene)
    assert found and bool(pairs) == FOLLOWED[scene]
    assert not more_than_once(found)


@pytest.mark.long
def test_files_that_are_called_back_more_than_once_in_other_scenes_are_known(tmp_path):
    assert {pair for scene in OTHERS for pair in more_than_once(followed(tmp_path / scene, scene)[0])} <= MORE_THAN_ONCE


def test_a_call_back_is_found(tmp_path, monkeypatch):
    for name, text in (("one", "def start(other, third):\n    return other.ask(third, first, second)\n"
                               "def first():\n    return 1\ndef second():\n    return first() + 1\n"),
                       ("other", "def ask(third, first, second):\n    return inside(first) + third.ask(second)\n"
                                 "def inside(first):\n    return first()\n"),
                       ("third", "def ask(second):\n    return second()\n")):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("call_backs.SOLVER", tmp_path)
    import one
    import other
    import third
    assert call_backs(lambda: one.start(other, third)) == {("one.py", "other.py"): {"first", "second"}}
