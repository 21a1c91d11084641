"""A contact pair and a joint rate beside flesh, followed through one step from file to file: how often one has to go
back to a file that the way came from."""

import pytest
from call_backs import call_backs
from tuned_scenes import SCENES
from worlds import world_of

from solver.job.load import load

#: files whose functions are called back more than once, and by which file that they called: (file, called)
MORE_THAN_ONCE = {
    # the contact queries of a monolithic stage: positions, and normal forces of friction
    ("coupling/flesh_on_bones.py", "nonlinear/bounded.py"),
    # a stage's equations, which its search and its factors have as their problem
    ("nonlinear/problem.py", "nonlinear/bounded_search.py"), ("nonlinear/problem.py", "nonlinear/stage_factors.py"),
    # directions, which the loop asks for one, and then for what follows it
    ("nonlinear/newton.py", "nonlinear/descent.py"),
}


@pytest.mark.parametrize("scene", ["hung contact", "contact"])
def test_a_value_is_followed_without_going_back(tmp_path, scene):
    """The flesh hangs on driven bones and touches a plate; blocks touch each other."""
    world = world_of(load(SCENES[scene](tmp_path / "job")))
    state = world.step(world.initial_state(), 1 / 96)
    found = call_backs(lambda: world.step(state, 1 / 96))
    assert found
    assert {pair for pair, names in found.items() if len(names) > 1} <= MORE_THAN_ONCE


def test_a_call_back_is_found(tmp_path, monkeypatch):
    for name, text in (("one", "def start(other):\n    return other.ask(first, second)\n"
                               "def first():\n    return 1\ndef second():\n    return first() + 1\n"),
                       ("other", "def ask(first, second):\n    return inside(first) + second()\n"
                                 "def inside(first):\n    return first()\n")):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("call_backs.SOLVER", tmp_path)
    import one
    import other
    assert call_backs(lambda: one.start(other)) == {("one.py", "other.py"): {"first", "second"}}
