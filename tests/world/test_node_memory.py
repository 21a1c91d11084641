"""Entries of memory that belong to nodes, where bodies come together in one part or obstacles change."""

import numpy as np

from solver.contact.laws.static_friction import ANCHORS, STUCK_NODES
from solver.node_records import BodyMemory, RowPerNode
from solver.reuse.obstacle_rows import ObstacleRows
from solver.state import State
from solver.world import node_memory
from solver.world.ground_friction import FORCE
from solver.world.half_life_damping import CONTACT_TIME
from solver.world.sliding_damping import PAST

#: two bodies of a part with three and two nodes; only the first one has stuck and slid
FIRST = {FORCE: np.arange(15.0).reshape(5, 3), STUCK_NODES: np.array([2.0, 4.0]), ANCHORS: np.arange(6.0),
         PAST: np.ones((5, 12)), "bdf2.q": np.ones(9)}
SECOND = {CONTACT_TIME: np.array([0.1, 0.2])}


def test_bodies_of_two_parts_keep_what_their_nodes_have_in_one():
    bodies = [BodyMemory(FIRST, slice(2, 5), slice(0, 3)),
              BodyMemory(SECOND, slice(0, 2), slice(3, 5))]
    memory = node_memory.merge_memories(bodies, 6)
    assert [*memory] == [FORCE, PAST, CONTACT_TIME, STUCK_NODES, ANCHORS]
    assert memory[FORCE][:, 0].tolist() == [6, 9, 12, 0, 0, 0]
    assert memory[PAST].any(axis=1).tolist() == [True, True, True, False, False, False]
    assert memory[CONTACT_TIME].tolist() == [0, 0, 0, 0.1, 0.2, 0]
    assert memory[STUCK_NODES].tolist() == [0, 2] and memory[ANCHORS].tolist() == [0, 1, 2, 3, 4, 5]
    assert node_memory.merge_memories([BodyMemory({}, slice(0, 3), slice(0, 3))], 3) == {}


def test_a_body_takes_only_its_own_anchors_along():
    body = BodyMemory(FIRST, slice(3, 5), slice(1, 3))
    memory = node_memory.merge_memories([body], 3)
    assert memory[STUCK_NODES].tolist() == [2] and memory[ANCHORS].tolist() == [3, 4, 5]


def test_rows_of_obstacles_follow_the_obstacles_and_anchors_stay():
    rows = ObstacleRows({"Gone": 1, "Table": 2}, {"Table": 2, "New": 1}, frozenset({"Gone", "New"}))
    state = State(0.0, np.zeros(0), np.zeros(0), {
        f"0/{CONTACT_TIME}": np.array([1.0, 2.0, 3.0, 4.0]), f"0/{STUCK_NODES}": np.array([0.0]),
        f"0/{ANCHORS}": np.ones(3), f"1/{CONTACT_TIME}": np.array([1.0, 2.0, 3.0, 4.0])})
    after = rows.now(state, [0]).memory
    assert after[f"0/{CONTACT_TIME}"].tolist() == [1, 3, 4, 0]
    assert after[f"1/{CONTACT_TIME}"].tolist() == [1, 2, 3, 4]
    assert after[f"0/{STUCK_NODES}"].tolist() == [0] and [*after] == [*state.memory]


def test_a_law_from_outside_has_its_entry_in_one_list(monkeypatch):
    body = BodyMemory({"rust.depth": np.array([0.5, 0.7])}, slice(1, 2), slice(0, 1))
    assert node_memory.merge_memories([body], 2) == {}
    monkeypatch.setattr(node_memory, "NODE_RECORDS", (*node_memory.NODE_RECORDS, RowPerNode("rust.depth")))
    assert node_memory.merge_memories([body], 2)["rust.depth"].tolist() == [0.7, 0]
