"""A chain of rods with stiff damped springs between neighbours, as our mechanism and as MuJoCo's.

Rods of 0.1 m and 0.1 kg, joined end to end by hinges or balls, hang at 30° from gravity, the first from the world. A
spring of 1e4 N/m and 10 N s/m joins points a quarter of a rod above the middles of neighbours and is a hundredth too
long: with steps of 1/100 s explicit integration of it blows up. MuJoCo has one integrator for that, `discrete`, which
takes M + h D + h² K; its others blow up. From rest and while springs are pressed its step is the very one that ours is;
pulled springs' sideways stiffness it leaves out, and we take gyroscopic torques midway.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.coordinates.inertia import box
from solver.coordinates.tree_build import Body, Joint, build
from solver.forces.joint_forces import JointForces, no_law
from solver.forces.springs import Springs
from solver.integrators.semi_implicit import SemiImplicit
from solver.nonlinear.limits import StopRule
from solver.parts.joints.jointed import Jointed
from solver.parts.joints.on_rates import OnRates
from solver.state import Vec
from solver.world.joints import Joints
from solver.world.mechanisms import OwnFrames

LENGTH, WIDTH, HEIGHT, MASS, STIFFNESS, DAMPING, H = 0.1, 0.04, 0.02, 0.1, 1.0e4, 10.0, 1.0e-2
MOMENTS = MASS / 12.0 * np.array([WIDTH**2 + HEIGHT**2, LENGTH**2 + HEIGHT**2, LENGTH**2 + WIDTH**2])
AXIS = np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0)
GRAVITY = 9.81 * np.array([np.cos(np.pi / 6), 0.0, -np.sin(np.pi / 6)])
OURS = {"hinge": "revolute", "ball": "spherical"}
ABOVE = LENGTH / 4
REST = 1.01 * LENGTH


def _joint_frame(distance: float) -> Vec:
    """Z along the hinge's axis, at `distance` along the rod, (4, 4)."""
    x = np.array([1.0, 0.0, 0.0])
    out = np.eye(4)
    out[:3, :3] = np.array([x, np.cross(AXIS, x), AXIS]).T
    out[0, 3] = distance
    return out


def jointed(count: int, joint: str) -> Jointed:
    """`count` rods; joint: "hinge" or "ball"."""
    inertia = box(LENGTH, WIDTH, HEIGHT).weighing(MASS).spatial()
    bodies = [Body(f"rod {i}", inertia) for i in range(count)]
    joints = [Joint(f"joint {i}", OURS[joint], f"rod {i}", f"rod {i - 1}" if i else None,
                    _joint_frame(LENGTH / 2 if i else 0.0), _joint_frame(-LENGTH / 2)) for i in range(count)]
    tree = build(bodies, joints)
    points = np.zeros((count, 2, 3))
    points[:, :, 2] = ABOVE
    points[0, 0, 0] = -LENGTH / 2
    ends = np.stack([np.arange(-1, count - 1), np.arange(count)], axis=1)
    springs = Springs(ends, points, np.tile([STIFFNESS, DAMPING, REST], (count, 1)), tree.parent)
    return Jointed(tree, springs, OnRates(tree, JointForces(tree, no_law(tree.rates))), GRAVITY, 1.0)


class Ours:
    """Steps our chain, through the world of mechanisms."""

    def __init__(self, count: int, joint: str) -> None:
        self.mechanism = jointed(count, joint)
        self.tree = self.mechanism.tree
        rest = np.zeros(self.tree.rates)
        self.world = Joints([], OwnFrames(np.zeros(0, np.int32), np.zeros((0, 4, 4))), self.tree, self.mechanism,
                            StopRule(1.0e-6, 1, 0.0), rest, rest, 1, integrator=SemiImplicit({}))
        self.restart()

    def restart(self) -> None:
        self.state = self.world.initial_state()

    def step(self) -> None:
        self.state = self.world.step(self.state, H)

    def positions(self) -> Vec:
        """Centres of the rods [m], (n, 3)."""
        positions: Vec = self.tree.posture(self.state.q, self.state.u, self.state.memory).E[:, :3, 3].copy()
        return positions


class MuJoCo:
    """Steps MuJoCo's."""

    def __init__(self, count: int, joint: str, integrator: str = "DISCRETE") -> None:
        import mujoco

        spec = mujoco.MjSpec()
        spec.option.timestep, spec.option.gravity = H, GRAVITY
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        body = spec.worldbody
        body.add_site(name="site -1", pos=[-LENGTH / 2, 0.0, ABOVE])
        for i in range(count):
            body = body.add_body(pos=[LENGTH if i else 0.0, 0.0, 0.0])
            body.mass, body.ipos, body.inertia = MASS, [LENGTH / 2, 0.0, 0.0], MOMENTS
            body.explicitinertial = True
            body.add_joint(type=getattr(mujoco.mjtJoint, f"mjJNT_{joint.upper()}"), axis=AXIS)
            body.add_site(name=f"site {i}", pos=[LENGTH / 2, 0.0, ABOVE])
            tendon = spec.add_tendon()
            tendon.stiffness, tendon.damping = [STIFFNESS, 0.0, 0.0], [DAMPING, 0.0, 0.0]
            tendon.springlength = [REST, REST]
            tendon.wrap_site(f"site {i - 1}")
            tendon.wrap_site(f"site {i}")
        self._library: Any = mujoco
        self._model: Any = spec.compile()
        self._data: Any = mujoco.MjData(self._model)
        self._step = mujoco.mj_step

    def restart(self) -> None:
        self._library.mj_resetData(self._model, self._data)

    def step(self) -> None:
        self._step(self._model, self._data)

    def positions(self) -> Vec:
        """Centres of the rods [m], (n, 3)."""
        self._library.mj_kinematics(self._model, self._data)
        positions: Vec = self._data.xipos[1:].copy()
        return positions

    @property
    def has_blown_up(self) -> bool:
        """Whether it warned that the simulation is unstable, and began anew by itself."""
        return bool(np.any([np.any(warning.number) for warning in self._data.warning]))
