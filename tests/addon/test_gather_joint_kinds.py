"""Every kind of joint is read off the poses of objects by its entry in the catalogue alone, a new one too."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import scene  # noqa: E402, F401

from conjac.conjac_addon.gather import articulation, bones  # noqa: E402
from conjac.solver import catalogue as addon_catalogue  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402
from solver import catalogue  # noqa: E402


def pose_of(kind, q):
    """Return the pose of the child (4, 4) that the solver's own joint has at these coordinates."""
    joint = catalogue.find("joint", kind).load()()
    pose, d = np.eye(4)[None].copy(), len(q)
    joint.fill(np.zeros(1, np.int32), np.array([0, d], np.int32), q, np.zeros(d), np.zeros(2, np.int32),
               np.array(joint.centre, dtype=float), pose, np.zeros((max(d, 1), 6)), np.zeros((1, 6)))
    return pose[0]


@pytest.mark.parametrize("kind", catalogue.family("joint"))
def test_poses_of_the_solver_read_as_their_coordinates(kind):
    motions = catalogue.find("joint", kind).motions
    assert len(motions) == len(catalogue.find("joint", kind).rates)
    for q in np.random.default_rng(7).uniform(-1.2, 1.2, (20, len(motions))):
        pose = pose_of(kind, q)
        assert articulation.coordinates(kind, pose[:3, :3], pose[:3, 3]) == pytest.approx(q, abs=1e-12)
        assert articulation.turned(kind, q) == pytest.approx(pose[:3, :3], abs=1e-12)


@pytest.fixture
def made_up(monkeypatch):
    """Give the catalogue a joint that it does not have."""
    def add(rates, motions):
        entry = addon_catalogue.Entry("joint", "made_up", "nowhere:Nothing", "Made Up", "Made up", rates=rates,
                                      motions=motions)
        monkeypatch.setattr(addon_catalogue, "ENTRIES", (*addon_catalogue.ENTRIES, entry))
    return add


@pytest.mark.parametrize("motions", [("turn_y", "slide_x"), ("turn_z", "turn_x", "slide_y"), ("turn_y", "turn_x"),
                                     ("slide_y", "spin_x", "spin_y", "spin_z"), ()])
def test_a_new_kind_is_read_and_turned_by_its_entry(made_up, motions):
    made_up(tuple("length" if motion.startswith("slide") else "angle" for motion in motions), motions)
    for q in np.random.default_rng(3).uniform(-1.2, 1.2, (20, len(motions))):
        shift = np.zeros(3)
        for axis_motion, value in zip(motions, q):
            if axis_motion.startswith("slide"):
                shift["xyz".index(axis_motion[-1])] = value
        turn = articulation.turned("made_up", q)
        assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-12)
        assert articulation.coordinates("made_up", turn, shift) == pytest.approx(q, abs=1e-12)
    # whole turns are counted and no jumps are left
    wound = np.zeros((9, len(motions)))
    for k, motion in enumerate(motions):
        if motion.startswith("turn"):
            wound[:, k] = 1.5 * np.arange(9)
    read = np.array([articulation.coordinates("made_up", articulation.turned("made_up", q), np.zeros(3)) for q in wound]
                    ).reshape(wound.shape)
    if motions and not any(motion.startswith("turn_x") for motion in motions[1:]):
        # the second of two turns ends at 90°
        rates = tuple("length" if motion.startswith("slide") else "angle" for motion in motions)
        assert articulation.smooth("made_up", rates, read) == pytest.approx(wound, abs=1e-9)


@pytest.mark.parametrize("rates, motions", [(("angle",), ()), (("length",), ("along",)),
                                            (("angle",) * 3, ("turn_x", "turn_y", "turn_z")),
                                            (("angle",), ("spin_x",))])
def test_a_kind_that_cannot_be_read_is_refused_in_a_sentence(made_up, rates, motions):
    made_up(rates, motions)
    for call in (lambda: articulation.coordinates("made_up", np.eye(3), np.zeros(3)),
                 lambda: articulation.turned("made_up", np.ones(len(rates)))):
        with pytest.raises(BadInput, match='"Made Up" cannot be recognized from the positions of objects'):
            call()


def test_a_bone_may_have_a_new_kind_of_joint(made_up, scene):  # noqa: F811
    """Its axis is the bone's axis that the artist chose, like a hinge's."""
    made_up(("angle", "length"), ("turn_z", "slide_x"))
    assert bones._axes("made_up", 1) == bones._axes("revolute", 1) == (1,)
    assert bones._axes("spherical", 1) == (0, 1, 2) and bones._axes("universal", 2) == (2, 0)
