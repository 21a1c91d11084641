"""Directions on the last factor's stiffness of tets: fewer fronts are made, and steps end where they do without."""

import numpy as np
import pytest

from benchmarks.scenes import touching
from solver import threads
from solver.nonlinear import held
from solver.nonlinear.problem import StageProblem
from solver.simulate import advance

H = 1 / 96


def mat(folder, monkeypatch):
    """A small one, whose halves are about to hit each other, and its state."""
    monkeypatch.setattr(touching, "CELLS", (60, 20, 1))
    monkeypatch.setattr(touching, "SIZE", (0.6, 0.2, 0.01))
    part = touching.folded_mat(folder, H, True)
    state = part.initial_state()
    upper = part.coordinates.place(state.q, 0.0)[part.coordinates.free, 2] > 0.0
    state.u.reshape(-1, 3)[upper, 2] -= 0.2
    return part, state


def hit(folder, monkeypatch, strained):
    """Positions after steps in which the halves of a folded mat hit each other, the largest move of the last one, and
    how many factors were made in part, of how many."""
    monkeypatch.setattr(held, "STRAINED", strained)
    part, state = mat(folder, monkeypatch)
    again, tried = 0, StageProblem._factored_again

    def counted(self, x, v):
        nonlocal again
        done = tried(self, x, v)
        again += done
        return done

    monkeypatch.setattr(StageProblem, "_factored_again", counted)
    for _ in range(3):
        before, state = state, advance(part, state, H, 1)
    monkeypatch.undo()
    return state.q, float(np.abs(state.q - before.q).max()), again, part.factored


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        return [hit(tmp_path_factory.mktemp("mat") / "m", patch, strained) for strained in (held.STRAINED, -1.0)]


def test_many_factors_are_made_in_part(ends):
    (_, _, again, factors), (_, _, never, without) = ends
    assert never == 0 and again >= 0.4 * factors
    assert factors <= 1.3 * without


def test_steps_end_where_they_do_without(ends):
    (held_at, _, _, _), (at, moved, _, _) = ends
    assert np.abs(held_at - at).max() <= 0.03 * moved


def test_threads_and_what_was_before_change_no_byte(tmp_path, monkeypatch):
    ends = []
    for count in (1, 2):
        threads.configure(count)
        part, state = mat(tmp_path / str(count), monkeypatch)
        for _ in range(2):
            state = advance(part, state, H, 1)
        part.forget_past()
        middle = state
        state = advance(part, middle, H, 1)
        fresh, _ = mat(tmp_path / f"{count} again", monkeypatch)
        ends += [state.q.tobytes(), advance(fresh, middle, H, 1).q.tobytes()]
    threads.configure(None)
    assert len(set(ends)) == 1
