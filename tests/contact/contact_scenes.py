"""Scenes in which much touches, as job folders: balls in a bowl, and a bar that is bent until it touches itself."""

import numpy as np
from touching import box, contact_job, obstacle, soft

from benchmarks.scenes.touching import ball, bowl


def balls_in_a_bowl(folder, count=6, cells=4, **scene):
    """Balls of jelly that fall into a bowl, one after the other."""
    arrays, bodies = {}, []
    for k in range(count):
        turn = 2.4 * k
        at = [0.17 * np.cos(turn), 0.17 * np.sin(turn), 0.1 + 0.13 * k]
        bodies.append(soft(f"Ball{k}", *ball(0.14, cells, at), arrays, modulus=1e4 * (1 + k % 3)))
    return contact_job(folder, bodies, [obstacle("Bowl", *bowl(0.55, rings=8, around=16), arrays)], arrays, **scene)


def bent_bar(folder, cells=(20, 2, 2), end=37, **scene):
    """A bar that is held at one end while the other is led around onto it, and farther than its halves give way."""
    nodes, tets = box(cells, (1.0, 0.1, 0.1), (0.0, -0.05, -0.05))
    arrays = {}
    pinned_nodes, carrier_motion = np.flatnonzero(nodes[:, 0] == 0.0), np.flatnonzero(nodes[:, 0] == 1.0)
    samples = (end - 1) * 2 + 1
    angle = np.pi * np.minimum(np.linspace(0.0, 1.25, samples), 1.0)
    way = np.empty((samples, len(pinned_nodes) + len(carrier_motion), 3))
    way[:, : len(pinned_nodes)] = nodes[pinned_nodes]
    for k, turn in enumerate(angle):
        # the led end turns as a whole and goes on half a circle about the middle, to above the held one
        c, s = np.cos(turn), np.sin(turn)
        local = nodes[carrier_motion] - [1.0, 0.0, 0.0]
        local = local @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]).T
        way[k, len(pinned_nodes) :] = local + [0.5 + 0.5 * c, 0.0, 0.5 * s + 0.125 * (1.0 - c) / 2.0]
    body = soft("Bar", nodes, tets, arrays, modulus=5e4, pinned=np.concatenate([pinned_nodes, carrier_motion]))
    arrays["way"] = way
    body["pin"]["node_motion"] = "arrays/way.npy"
    return contact_job(folder, [body], [], arrays, end=end, **scene)
