"""Directions on the last factor's stiffness of tets: fewer fronts are made, and steps end where they do without."""

import numpy as np
import pytest

from benchmarks.scenes import touching
from solver import threads
from solver.nonlinear import reused_blocks
from solver.nonlinear.stage_factors import StageFactors
from solver.simulate import advance

H = 1 / 96


def mat(folder, monkeypatch):
    """A small one, whose halves are about to hit each other, and its state."""
    monkeypatch.setattr(touching, "CELLS", (60, 20, 1))
    monkeypatch.setattr(touching, "SIZE", (0.6, 0.2, 0.01))
    part = touching.folded_mat(folder, H, True)
    state = part.initial_state()
    upper = part.coordinates.positions(state.q, 0.0)[part.coordinates.free, 2] > 0.0
    state.u.reshape(-1, 3)[upper, 2] -= 0.2
    return part, state


def hit(folder, monkeypatch, most):
    """Positions after steps in which the halves of a folded mat hit each other, the largest move of the last one, and
    how many factors were made in part, of how many."""
    monkeypatch.setattr(reused_blocks.ReusedBlocks, "most", most)
    part, state = mat(folder, monkeypatch)
    again, tried = 0, StageFactors._refactor_reusing

    def counted(self, problem, x, v, strained):
        nonlocal again
        done = tried(self, problem, x, v, strained)
        again += done
        return done

    monkeypatch.setattr(StageFactors, "_refactor_reusing", counted)
    for _ in range(3):
        before, state = state, advance(part, state, H, 1)
    monkeypatch.undo()
    return state.q, float(np.abs(state.q - before.q).max()), again, part.factored


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        return [hit(tmp_path_factory.mktemp("mat") / "m", patch, most)
                for most in (reused_blocks.ReusedBlocks.most, -1.0)]


def test_many_factors_are_made_in_part(ends):
    (_, _, again, factors), (_, _, never, without) = ends
    assert never == 0 and again >= 0.4 * factors
    assert factors <= 1.3 * without


def test_steps_end_where_they_do_without(ends):
    (fixed_at, _, _, _), (at, moved, _, _) = ends
    assert np.abs(fixed_at - at).max() <= 0.03 * moved


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


def test_what_strains_alone_is_taken_anew(tmp_path, monkeypatch):
    """A corner of the mat is pulled: K of its elements is that of where they are, of all others of where they were."""
    part, state = mat(tmp_path / "m", monkeypatch)
    x = part.coordinates.positions(state.q, 0.0)
    shapes = reused_blocks.ReferenceShapes.of(part.stage_method.system.pattern, part.rest)
    shapes.take(x, slice(None))
    assert not len(shapes.find_strained(x)) and not len(shapes.find_strained(x + [0.1, -3.0, 5.0]))
    pulled = x.copy()
    node = int(part.coordinates.free[7])
    edges = x[part.tets] - x[node]
    nearest = np.linalg.norm(edges[(part.tets == node).any(axis=1)], axis=2)
    pulled[node, 2] += 1.5 * reused_blocks.ReferenceShapes.largest_strain * nearest[nearest > 0.0].min()
    rows = shapes.find_strained(pulled)
    assert len(rows) and (part.tets[shapes.which[rows]] == node).any(axis=1).all()
    alone, whole = (part.linearise_at(at, None, 0.0).blocks[: len(part.tets)].copy() for at in (x, pulled))
    part.linearise_at(x, None, 0.0)
    mixed = part.linearise_reusing_at(pulled, np.zeros_like(x), 0.0, shapes.which[rows]).blocks[: len(part.tets)]
    taken = np.isin(np.arange(len(part.tets)), shapes.which[rows])
    size = np.abs(whole).max()
    assert np.array_equal(mixed[~taken], alone[~taken]) and mixed[taken] == pytest.approx(whole[taken], abs=1e-9 * size)
    assert np.abs(whole[taken] - alone[taken]).max() > 1e-3 * size
    shapes.take(pulled, rows)
    assert not len(shapes.find_strained(pulled))


@pytest.mark.long
def test_halves_of_a_mat_that_meet_slowly_take_few_factors(tmp_path):
    """Stiffness that is older leads less far: with a limit of three tenths of an edge these steps take 35 factors."""
    factors = 0.0
    for speed in (0.16, 0.18):
        part = touching.folded_mat(tmp_path / str(speed), H, True)
        state = part.initial_state()
        upper = part.coordinates.positions(state.q, 0.0)[part.coordinates.free, 2] > 0.0
        state.u.reshape(-1, 3)[upper, 2] -= speed
        for _ in range(3):
            state = advance(part, state, H, 1)
        factors += part.factored
    assert factors <= 31
