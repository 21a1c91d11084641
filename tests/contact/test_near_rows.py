"""Rows that are near each other where most of them are of one group, as those of a fine collider are."""

import time

import numpy as np
import pytest

from solver.contact.find.near import find_near_rows


def strip(count, origin, step, height):
    """A strip of triangles along X: vertices (n, 3) and triangles (count, 3)."""
    k = np.arange(count + 2)
    vertices = np.stack([step * k, np.where(k % 2, height, 0.0), np.zeros(len(k))], axis=1) + origin
    return vertices, np.stack([k[:-2], k[1:-1], k[2:]], axis=1).astype(np.int32)


def scene(counts, groups, step=0.05):
    """Strips above each other, each of its own group: places, rows of points and triangles, how many are points."""
    vertices, triangles, group, start = [], [], [], 0
    for k, (count, own) in enumerate(zip(counts, groups)):
        at, faces = strip(count, np.array([0.013 * k, 0.02 * k, 0.03 * k]), step, 0.1)
        vertices.append(at)
        triangles.append(faces + start)
        group.append(np.full(len(at), own, dtype=np.int32))
        start += len(at)
    x = np.concatenate(vertices)
    points = np.repeat(np.arange(len(x), dtype=np.int32)[:, None], 3, axis=1)
    return x, np.concatenate([points, *triangles]), len(x), np.concatenate(group)


@pytest.mark.parametrize("of", ["points", "edges"])
def test_what_is_of_one_group_is_left_out_and_nothing_else(of, monkeypatch):
    """Against each row with each, with strips of three groups and of none among each other."""
    from solver.contact.find import near

    x, rows, points, group = scene((120, 90, 150, 60, 80), (0, -1, 1, 0, -1))
    x = x + 0.004 * np.random.default_rng(3).normal(size=x.shape)
    group[np.random.default_rng(4).random(len(group)) < 0.05] = 2  # rows of several groups
    if of == "edges":
        rows = np.unique(np.sort(rows[points:][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0).astype(np.int32)
        points = 0
    for moved in (None, np.random.default_rng(5).random(len(x)) < 0.1):
        found = []
        for brute in (10**9, 0):
            monkeypatch.setattr(near, "BRUTE", brute)
            pairs = find_near_rows(x, rows, points, group, 0.06, moved=moved)
            found.append(pairs if moved is None else pairs[moved[rows[pairs]].any(axis=(1, 2))])
        assert len(found[0]) > 500 and np.array_equal(*(np.unique(each, axis=0) for each in found))


def test_a_fine_collider_costs_nothing_by_its_own_rows():
    """Its rows do not touch each other: only rows near the few active ones are searched."""
    def seconds(own):
        x, rows, points, group = scene((6000, 30), (own, -1), step=2e-4)
        spent = []
        for _ in range(3):
            start = time.thread_time()
            found = find_near_rows(x, rows, points, group, 0.05)
            spent.append(time.thread_time() - start)
        return min(spent), len(found)

    grouped, fewer = seconds(0)
    alone, many = seconds(-1)
    assert many > 100 * fewer > 0
    assert grouped < 0.05 * alone
