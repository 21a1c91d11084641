"""Accelerations of random trees against mujoco's, to 1e-10: an independent implementation of the same mechanics.

mujoco has hinges, sliders, balls and free bodies on the world; the other types are stacks of these in one body. Its
model has armature, damping, contacts and limits off, so that qacc does not depend on its integrator.
"""

import mujoco
import numpy as np
import pytest
from trees import acceleration, random_state, random_tree

GRAVITY = np.array([0.3, -0.7, -9.81])
#: each type as a stack of mujoco's: (type, axis) in the joint's moving frame, outermost first
STACKS = {
    "fixed": [],
    "revolute": [("hinge", (0, 0, 1))],
    "prismatic": [("slide", (0, 0, 1))],
    "universal": [("hinge", (1, 0, 0)), ("hinge", (0, 1, 0))],
    "cylindrical": [("slide", (0, 0, 1)), ("hinge", (0, 0, 1))],
    "planar": [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("hinge", (0, 0, 1))],
    "translational": [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("slide", (0, 0, 1))],
    "spherical": [("ball", (0, 0, 1))],
    "free_planar": [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("hinge", (0, 0, 1))],
    "free": [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("slide", (0, 0, 1)), ("ball", (0, 0, 1))],
}
PLACES = {"cylindrical": [1, 0], "planar": [1, 2, 0], "free_planar": [1, 2, 0], "free": [3, 4, 5, 0]}


def stack(tree, kinds, i):
    """Return the elements that mujoco needs above body i."""
    return [("free", None)] if kinds[i] == "free" and tree.parent[i] < 0 else STACKS[kinds[i]]


def quaternion(R):
    """Return the quaternion of a rotation matrix, by mujoco."""
    out = np.empty(4)
    mujoco.mju_mat2Quat(out, np.ascontiguousarray(R).ravel())
    return out


def model_of(tree, kinds):
    """mujoco's model: its body frames are the joints' moving frames, ours stand in them by their inertial frames."""
    spec = mujoco.MjSpec()
    spec.option.gravity = GRAVITY
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                                 | mujoco.mjtDisableBit.mjDSBL_DAMPER | mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    spec.compiler.autolimits = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.compiler.balanceinertia = False
    made = []
    for i, p in enumerate(tree.parent):
        above = spec.worldbody if p < 0 else made[p]
        place = tree.in_parent[i] if p < 0 else tree.from_child[p] @ tree.in_parent[i]
        body = above.add_body(name=f"body{i}", pos=place[:3, 3], quat=quaternion(place[:3, :3]))
        own = tree.from_child[i]
        values, axes = np.linalg.eigh(tree.inertia[i, :3, :3])
        axes *= np.sign(np.linalg.det(axes))
        body.explicitinertial = True
        body.mass, body.inertia = tree.inertia[i, 3, 3], values
        body.ipos, body.iquat = own[:3, 3], quaternion(own[:3, :3] @ axes)
        types = {"hinge": mujoco.mjtJoint.mjJNT_HINGE, "slide": mujoco.mjtJoint.mjJNT_SLIDE,
                 "ball": mujoco.mjtJoint.mjJNT_BALL}
        for kind, axis in stack(tree, kinds, i):
            if kind == "free":
                body.add_freejoint()
            else:
                body.add_joint(type=types[kind], axis=axis, pos=np.zeros(3), armature=0.0)
        made.append(body)
    model = spec.compile()
    assert not model.dof_armature.any() and not model.dof_damping.any()
    return model


def set_state(model, data, tree, kinds, q, u, centres):
    """Write our state into mujoco's. Returns the matrix B and b of: mujoco's velocities' rate = B u̇ + b."""
    at = tree.posture(q, u, centres)
    B, b = np.zeros((model.nv, tree.rates)), np.zeros(model.nv)
    joint = 0
    for i, kind in enumerate(kinds):
        first = int(tree.dof[i])
        for k, (name, _) in enumerate(stack(tree, kinds, i)):
            place = first + PLACES.get(kind, range(6))[k]
            to, rate = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            if name == "free":
                # its rates are the velocity in world axes and the angular velocity in the body's
                whole = tree.in_parent[i] @ at.joint_poses[i]
                data.qpos[to:to + 7] = [*whole[:3, 3], *quaternion(whole[:3, :3])]
                B[rate:rate + 3, first + 3:first + 6] = tree.in_parent[i, :3, :3]
                B[rate + 3:rate + 6, first:first + 3] = at.subspace[first:first + 3, :3].T
                b[rate + 3:rate + 6] = at.bend[i, :3]
            elif name == "ball":
                # mujoco's rates of a ball are its angular velocity in the moving frame
                rows = slice(rate, rate + 3)
                data.qpos[to:to + 4] = quaternion(at.joint_poses[i, :3, :3])
                B[rows, place:place + 3] = at.subspace[place:place + 3, :3].T
                b[rows] = at.bend[i, :3]
            else:
                data.qpos[to] = q[place]
                B[rate, place] = 1.0
            joint += 1
    data.qvel[:] = B @ u
    return B, b


@pytest.mark.parametrize("seed", range(20))
def test_accelerations_of_random_trees(seed):
    rng = np.random.default_rng(seed)
    kinds = ["revolute", *rng.choice(list(STACKS), rng.integers(0, 15))]
    tree = random_tree(rng, kinds, parents=[rng.integers(-1, k) for k in range(len(kinds))])
    kinds = [kinds[k] for k in tree.order]
    q, u, centres = random_state(rng, tree)
    model = model_of(tree, kinds)
    data = mujoco.MjData(model)
    B, b = set_state(model, data, tree, kinds, q, u, centres)
    data.qfrc_applied[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    at = tree.posture(q, u, centres)
    for i in range(tree.count):
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"body{i}")
        assert data.xipos[body] == pytest.approx(at.E[i, :3, 3], abs=1e-12)
    ours = B @ acceleration(tree, q, u, centres, GRAVITY, B.T @ data.qfrc_applied) + b
    assert np.abs(ours - data.qacc).max() <= 1e-10 * max(1.0, np.abs(data.qacc).max())


@pytest.mark.parametrize("kind", list(STACKS))
def test_accelerations_of_each_type(kind):
    """Three of a type, one on the world, with hinges between them."""
    rng = np.random.default_rng(7)
    kinds = [kind, "revolute", kind, "revolute", kind]
    tree = random_tree(rng, kinds, parents=[-1, 0, 1, 2, 1])
    kinds = [kinds[k] for k in tree.order]
    q, u, centres = random_state(rng, tree)
    model = model_of(tree, kinds)
    data = mujoco.MjData(model)
    B, b = set_state(model, data, tree, kinds, q, u, centres)
    mujoco.mj_forward(model, data)
    ours = B @ acceleration(tree, q, u, centres, GRAVITY) + b
    assert np.abs(data.qacc).max() > 1.0
    assert np.abs(ours - data.qacc).max() <= 1e-10 * np.abs(data.qacc).max()
