"""Nodes of a location: nearby ones, those of a vertex drawn there, or else those of the tetrahedron around it."""

import numpy as np

from solver.embedding.bind import bind
from solver.embedding.nodes_near import nodes_near
from solver.meshing.grid import box_tets

NODES, TETS = box_tets((4, 4, 4), (0.4, 0.4, 0.4))


def found(place, radius, vertices=((0.5, 0.5, 0.5),)):
    embedding = bind(NODES, TETS, np.array(vertices), np.zeros((0, 3), np.int32))
    return nodes_near(NODES, TETS, embedding, lambda points: np.linalg.norm(points - place, axis=1), radius,
                      np.array([place]))


def test_a_large_place_has_the_nodes_within_it_and_the_carriers_of_what_is_drawn_there():
    place, vertex = np.array([0.2, 0.2, 0.2]), np.array([0.23, 0.24, 0.26])
    within = np.flatnonzero(np.linalg.norm(NODES - place, axis=1) <= 0.11)
    assert found(place, 0.11).tolist() == within.tolist() and len(within) == 7
    carriers = bind(NODES, TETS, vertex[None], np.zeros((0, 3), np.int32)).corners[0]
    assert found(place, 0.11, [vertex]).tolist() == sorted({*within.tolist(), *carriers.tolist()})


def test_a_place_between_all_nodes_has_those_of_its_tetrahedron():
    place = np.array([0.13, 0.16, 0.18])
    nodes = found(place, 1e-3)
    assert len(nodes) == 4 and any({*nodes.tolist()} == {*tet.tolist()} for tet in TETS)
    assert (NODES[nodes].min(axis=0) <= place).all() and (place <= NODES[nodes].max(axis=0)).all()


def test_a_place_outside_has_none():
    assert not len(found(np.array([1.0, 0.0, 0.0]), 0.1))
