"""Kernels of single pairs answer what the same lines of numpy do, on any number of threads."""

import numpy as np
import pytest

from solver import threads
from solver.contact.find.taking_kernels import mark_reduced, reach_of_pairs, reduce_fractions, take_pairs

NODES, PAIRS, BODIES = 40, 700, 5


@pytest.fixture(params=[1, 3])
def rng(request, monkeypatch):
    monkeypatch.setenv("PYTHON_CPU_COUNT", "4")
    threads.configure(request.param)
    yield np.random.default_rng(request.param)
    monkeypatch.undo()
    threads.configure(None)


def some_pairs(rng):
    return np.array([rng.choice(NODES, 4, replace=False) for _ in range(PAIRS)], dtype=np.int32)


def test_pairs_are_taken_with_their_nodes_and_bodies(rng):
    listed, squares = some_pairs(rng), rng.random(PAIRS)
    within, nodes = np.flatnonzero(rng.random(PAIRS) < 0.4), rng.permutation(900)[:NODES].astype(np.int32)
    owner = rng.integers(0, BODIES, NODES).astype(np.int32)
    out = np.empty((len(within), 4), np.int32), np.empty((len(within), 2), np.int32), np.empty(len(within))
    threads.parallel_for(take_pairs, len(within), within, listed, squares, nodes, owner, *out)
    pairs = listed[within]
    assert (out[0] == nodes[pairs]).all() and (out[1] == owner[pairs[:, [0, 3]]]).all()
    assert (out[2] == squares[within]).all()


@pytest.mark.parametrize("bodies, times", [(BODIES, 1.0), (BODIES, 2.0), (1, 1.0)])
def test_pairs_reach_as_far_as_their_bodies_and_thicknesses_say(rng, bodies, times):
    nodes, squares = some_pairs(rng), rng.random(PAIRS)
    of, thickness = rng.integers(0, BODIES, (PAIRS, 2)).astype(np.int32), 0.2 * rng.random(NODES)
    table = rng.random((bodies, bodies))
    activation, thick, near = np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS, dtype=bool)
    threads.parallel_for(reach_of_pairs, PAIRS, nodes, of, squares, table, thickness, times, activation, thick, near)
    wanted = np.where(of[:, 0] == of[:, 1], 0.0, thickness[nodes[:, 0]] + thickness[nodes[:, 3]])
    reach = table[tuple(of.T)] if bodies > 1 else np.full(PAIRS, table[0, 0])
    assert (thick == wanted).all() and (activation == reach).all()
    assert (near == (squares < (times * reach + wanted) ** 2)).all() and near.any() and not near.all()


@pytest.mark.parametrize("goes_on", [True, False])
def test_ways_are_cut_where_pairs_meet(rng, goes_on):
    pairs, number = some_pairs(rng), rng.integers(0, 12, NODES)
    steps = rng.choice([0.25, 0.5, 1.0], 12)
    when = np.where(rng.random(PAIRS) < 0.01, rng.random(PAIRS), np.inf)
    cut = np.empty(12)
    assert reduce_fractions(when, pairs, number, steps, goes_on, cut)
    wanted = steps.copy()
    for k in np.flatnonzero(when <= 1.0):
        own = steps[number[pairs[k]]]
        to = own * when[k]
        if len({*own}) > 1:
            to = np.maximum(to, own.min()) if goes_on else np.full(4, own.min())
        np.minimum.at(wanted, number[pairs[k]], to)
    assert (cut == wanted).all() and (cut < steps).any()
    less = np.empty(PAIRS, dtype=bool)
    threads.parallel_for(mark_reduced, PAIRS, pairs, number, steps, cut, less)
    assert (less == (cut < steps)[number][pairs].any(axis=1)).all()
    assert not reduce_fractions(np.full(PAIRS, np.inf), pairs, number, steps, goes_on, cut) and (cut == steps).all()
