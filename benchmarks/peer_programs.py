"""Steps ducks in a crate with Newton's VBD, MuJoCo's flexes or Rapier's soft bodies: `peers.py` runs it with the
Python that has these.

    PYTHON peer_programs.py newton|mujoco|rapier IN.npz OUT.npz ITERATIONS

Needs numpy and the program alone. IN: rest (b, n, 3), x and v the same [m, m/s], tets (e, 4), mass (n,) [kg], and
numbers: half (of the crate), young, poisson, friction, distance, stiffness, h, steps. OUT: x after each step, processor
and wall milliseconds of each, and what the program says of itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Scene = dict[str, Any]
Stepper = tuple[Callable[[], None], Callable[[], np.ndarray], Callable[[], dict[str, Any]]]


def newton(scene: Scene, iterations: int) -> Stepper:
    """Vertex block descent on the processor: step, places, and what it says."""
    import newton as program
    import warp

    warp.config.quiet = True
    warp.set_device("cpu")
    young, poisson, near = scene["young"], scene["poisson"], scene["distance"]
    built = program.ModelBuilder()
    for positions in scene["rest"]:
        built.add_soft_mesh(pos=warp.vec3(0.0, 0.0, 0.0), rot=warp.quat_identity(), scale=1.0,
                            vel=warp.vec3(0.0, 0.0, 0.0),
                            vertices=[warp.vec3(*position) for position in positions.tolist()],
                            indices=scene["tets"].ravel().tolist(), density=1000.0, k_mu=0.5 * young / (1.0 + poisson),
                            k_lambda=young * poisson / (1.0 + poisson) / (1.0 - 2.0 * poisson), k_damp=0.0,
                            particle_radius=near)
    half = scene["half"]
    for plane in ((0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, half), (-1.0, 0.0, 0.0, half), (0.0, 1.0, 0.0, half),
                  (0.0, -1.0, 0.0, half)):
        built.add_shape_plane(plane=plane, width=0.0, length=0.0)
    built.color()
    model = built.finalize()
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = scene["stiffness"], 0.0, scene["friction"]
    model.shape_material_ke.fill_(scene["stiffness"])
    model.shape_material_kd.fill_(0.0)
    model.shape_material_mu.fill_(scene["friction"])
    solver = program.solvers.SolverVBD(model=model, iterations=iterations, particle_enable_self_contact=True,
                                       particle_self_contact_margin=near, particle_self_contact_gap=near)
    states, control, pipeline = [model.state(), model.state()], model.control(), program.CollisionPipeline(model)
    contacts = pipeline.contacts()

    def start() -> None:
        states[0].particle_q.assign(scene["x"].reshape(-1, 3).astype(np.float32))
        states[0].particle_qd.assign(scene["v"].reshape(-1, 3).astype(np.float32))

    def step() -> None:
        states[0].clear_forces()
        pipeline.collide(states[0], contacts)
        solver.step(states[0], states[1], control, contacts, scene["h"])
        states.reverse()

    start()
    solver.iterations = 1
    step()  # what it compiles is no part of a step
    solver.iterations = iterations
    start()
    return step, lambda: states[0].particle_q.numpy().astype(float), lambda: {"version": program.__version__}


def mujoco(scene: Scene, iterations: int) -> Stepper:
    """Flexes of tetrahedra with the integrator that takes M + h D + h² K, the only one that bears these steps."""
    import mujoco as program

    half = scene["half"]
    walls = (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)), ((-half, 0.0, 0.0), (1.0, 0.0, 1.0, 0.0)),
             ((half, 0.0, 0.0), (1.0, 0.0, -1.0, 0.0)), ((0.0, -half, 0.0), (1.0, -1.0, 0.0, 0.0)),
             ((0.0, half, 0.0), (1.0, 1.0, 0.0, 0.0)))

    def text(numbers: Any) -> str:
        return " ".join(f"{one:.9g}" for one in np.ravel(numbers))

    lines = [f'<mujoco><option timestep="{scene["h"]}" integrator="discrete" solver="CG" iterations="{iterations}" '
             'tolerance="1e-6"/><size memory="2G"/><worldbody>']
    lines += [f'<geom type="plane" size="2 2 .1" pos="{text(position)}" quat="{text(turn)}" '
              f'friction="{scene["friction"]}"/>' for position, turn in walls]
    elements = " ".join(map(str, scene["tets"].ravel()))
    lines += [f'<flexcomp name="duck{k}" type="direct" dim="3" radius="{0.5 * scene["distance"]}" mass="1" '
              f'point="{text(positions)}" element="{elements}"><elasticity young="{scene["young"]}" '
              f'poisson="{scene["poisson"]}"/><contact selfcollide="none" friction="{scene["friction"]}"/></flexcomp>'
              for k, positions in enumerate(scene["rest"])]
    model = program.MjModel.from_xml_string("".join([*lines, "</worldbody></mujoco>"]))
    model.body_mass[1:] = np.tile(scene["mass"], len(scene["rest"]))
    data = program.MjData(model)
    program.mj_setConst(model, data)
    program.mj_resetData(model, data)
    rest, most = scene["rest"].ravel(), [0, 0]
    data.qpos[:] = scene["x"].ravel() - rest
    data.qvel[:] = scene["v"].ravel()

    def step() -> None:
        program.mj_step(model, data)
        most[:] = max(most[0], data.ncon), max(most[1], int(data.solver_niter.max()))

    def numbers_used() -> dict[str, Any]:
        return {"version": program.__version__, "contacts": most[0], "iterations_used": most[1],
                "warnings": int(sum(one.number for one in data.warning))}

    return step, lambda: (data.qpos + rest).reshape(-1, 3).copy(), numbers_used


def rapier(scene: Scene, iterations: int) -> Stepper:
    """Step Neo-Hookean tetrahedra by the implicit solver that it has for them; iterations are its substeps."""
    import rapier3d as program

    world, half = program.PhysicsWorld(gravity=(0.0, 0.0, -9.81)), scene["half"]
    world.set_num_threads(1)
    parameters = world.integration_parameters
    parameters.dt, parameters.num_solver_iterations = scene["h"], iterations
    implicit = parameters.soft_bodies.fem
    implicit.max_linear_iterations = max(implicit.max_linear_iterations, iterations)
    for position, normal in (((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), ((-half, 0.0, 0.0), (1.0, 0.0, 0.0)),
                          ((half, 0.0, 0.0), (-1.0, 0.0, 0.0)), ((0.0, -half, 0.0), (0.0, 1.0, 0.0)),
                          ((0.0, half, 0.0), (0.0, -1.0, 0.0))):
        world.add_collider(program.Collider.halfspace(normal).translation(position).friction(scene["friction"]))
    material = program.SoftBodyMaterial(young_modulus=scene["young"], poisson_ratio=scene["poisson"])
    bodies = []
    for positions in scene["rest"]:
        built = program.SoftBodyBuilder(positions.astype(np.float32)).cells(scene["tets"])
        built = built.cell_model(program.SoftBodyCellModel.NEO_HOOKEAN).solver(program.SoftBodySolver.FEM)
        built = built.material(material).masses(scene["mass"]).can_sleep(False)
        built = built.surface_collider(program.Collider.ball(0.1).friction(scene["friction"]))
        bodies.append(world.soft_bodies.get(world.add_soft_body(built)))
    for body, positions, velocities in zip(bodies, scene["x"].tolist(), scene["v"].tolist()):
        for k, (position, velocity) in enumerate(zip(positions, velocities)):
            body.set_particle_position(k, position)
            body.set_particle_velocity(k, velocity)
    world.detect_collisions()
    return (world.step, lambda: np.concatenate([body.particle_positions for body in bodies]).astype(float),
            lambda: {"version": program.__version__})


def main() -> None:
    name, given, answer, iterations = sys.argv[1:]
    with np.load(given) as file:
        scene = {key: file[key] if file[key].ndim else file[key].item() for key in file.files}
    step, positions, details = {"newton": newton, "mujoco": mujoco, "rapier": rapier}[name](scene, int(iterations))
    x, spent, walls = [], [], []
    for _ in range(scene["steps"]):
        began, wall = time.process_time(), time.perf_counter()  # one of them steps on a thread of its own
        step()
        spent.append(1e3 * (time.process_time() - began))
        walls.append(1e3 * (time.perf_counter() - wall))
        x.append(positions())
    np.savez(answer, x=np.array(x), ms=spent, wall_ms=walls, **details())


if __name__ == "__main__":
    main()
