"""Scenes in which much touches, as job folders: balls in a bowl, and a bar that is bent until it touches itself."""

import numpy as np
from touching import box, contact_job, obstacle, soft


def ball(radius, cells=4, at=(0.0, 0.0, 0.0)):
    """Nodes and tets of a ball: a cube whose shells are drawn onto spheres."""
    nodes, tets = box((cells, cells, cells), (2.0, 2.0, 2.0), (-1.0, -1.0, -1.0))
    length = np.linalg.norm(nodes, axis=1)
    round_ = nodes * (np.abs(nodes).max(axis=1) / np.maximum(length, 1e-9))[:, None]
    return radius * round_ + np.asarray(at), tets


def bowl_mesh(radius, rings=8, around=16):
    """Vertices and triangles of the lower half of a sphere about the origin, a sheet whose inner side is its front."""
    tilt = np.linspace(0.0, 0.5 * np.pi, rings + 1)[1:]
    turn = np.arange(around) * 2 * np.pi / around
    circles = np.stack([np.outer(np.sin(tilt), np.cos(turn)), np.outer(np.sin(tilt), np.sin(turn)),
                        -np.outer(np.cos(tilt), np.ones(around))], axis=-1).reshape(-1, 3)
    vertices = radius * np.concatenate([[[0.0, 0.0, -1.0]], circles])
    triangles = []
    for i in range(around):
        j = (i + 1) % around
        triangles.append([0, 1 + i, 1 + j])
        for ring in range(rings - 1):
            a, b = 1 + ring * around + i, 1 + ring * around + j
            triangles += [[a, a + around, b], [b, a + around, b + around]]
    return vertices, np.array(triangles, np.int32)


def balls_in_a_bowl(folder, count=6, cells=4, **scene):
    """Balls of jelly that fall into a bowl, one after the other."""
    arrays, bodies = {}, []
    for k in range(count):
        turn = 2.4 * k
        at = [0.17 * np.cos(turn), 0.17 * np.sin(turn), 0.1 + 0.13 * k]
        bodies.append(soft(f"Ball{k}", *ball(0.14, cells, at), arrays, modulus=1e4 * (1 + k % 3)))
    return contact_job(folder, bodies, [obstacle("Bowl", *bowl_mesh(0.55), arrays)], arrays, **scene)


def bent_bar(folder, cells=(20, 2, 2), end=37, **scene):
    """A bar that is held at one end while the other is led around onto it, and farther than its halves give way."""
    nodes, tets = box(cells, (1.0, 0.1, 0.1), (0.0, -0.05, -0.05))
    arrays = {}
    held, led = np.flatnonzero(nodes[:, 0] == 0.0), np.flatnonzero(nodes[:, 0] == 1.0)
    samples = (end - 1) * 2 + 1
    angle = np.pi * np.minimum(np.linspace(0.0, 1.25, samples), 1.0)
    way = np.empty((samples, len(held) + len(led), 3))
    way[:, : len(held)] = nodes[held]
    for k, turn in enumerate(angle):
        # the led end turns as a whole and goes on half a circle about the middle, to above the held one
        c, s = np.cos(turn), np.sin(turn)
        local = nodes[led] - [1.0, 0.0, 0.0]
        local = local @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]).T
        way[k, len(held) :] = local + [0.5 + 0.5 * c, 0.0, 0.5 * s + 0.125 * (1.0 - c) / 2.0]
    body = soft("Bar", nodes, tets, arrays, modulus=5e4, pinned=np.concatenate([held, led]))
    arrays["way"] = way
    body["pin"]["node_motion"] = "arrays/way.npy"
    return contact_job(folder, [body], [], arrays, end=end, **scene)
