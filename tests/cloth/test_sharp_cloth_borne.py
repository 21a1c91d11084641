"""A body on cloth with Sharp Edges that a hard one bears rests there."""

import numpy as np
import pytest
from cloth_jobs import BOX, cloth_body, cloth_job
from sheets import grid
from test_sharp_cloth_among import jelly

from solver.build.world import build
from solver.job.load import load
from solver.simulate import advance

H, THICK, SIDE, RADIUS = 1 / 96, 1e-3, 0.08, 0.03
WIDE, NARROW = (1.0, 1.0), (0.25, 0.2)  #: half of a table: wider than the cloth, or so that it hangs over two edges


def soft_on(folder, what):
    """A cube of jelly, or a cloth that keeps its mesh, just above a cloth that hangs over a table's edges."""
    arrays = {}
    vertices, triangles = grid(10, 10, 0.4, 0.4)
    x = np.column_stack([vertices[:, :2] - 0.2, np.full(len(vertices), 1.5 * THICK)])
    bodies = [cloth_body("Cloth", x, triangles, arrays, area_density=0.15, thickness=THICK, eulerian={})]
    if what == "jelly":
        arrays["nodes"], arrays["tets"] = jelly()
        arrays["nodes"] = arrays["nodes"] + [0.0, 0.0, 0.055]
        bodies.append({"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
                       "method": {"kind": "vanilla"}, "density": 500.0, "material": {
                           "kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}}})
    else:
        vertices, triangles = grid(6, 6, 0.15, 0.15)
        bodies.append(cloth_body("Napkin", vertices + [-0.075, -0.075, 0.006], triangles, arrays, area_density=0.3))
    arrays["table"], arrays["of_table"] = BOX[0] * [0.15, 0.15, 0.2] + [0, 0, -0.2], BOX[1]
    table = {"name": "Table", "vertices": "arrays/table.npy", "triangles": "arrays/of_table.npy"}
    return build(load(cloth_job(folder, bodies, arrays, end=17, contact={}, obstacles=[table])), lambda *_: None)[0]


def set_on(folder, kind, mass, above, table, speed=0.0, cells=8, sharp=True):
    """A box or ball of a mass [kg] above a cloth that lies on a table."""
    arrays = {}
    vertices, triangles = grid(cells, cells, 0.6, 0.6)
    x = np.column_stack([vertices[:, :2] - 0.3, np.full(len(vertices), 1.5 * THICK)])
    cloth = cloth_body("Cloth", x, triangles, arrays, area_density=0.15, thickness=THICK,
                       **({"eulerian": {}} if sharp else {}))
    arrays["table"], arrays["of_table"] = BOX[0] * [*table, 0.2] + [0, 0, -0.2], BOX[1]
    low, volume, params = {"box": (SIDE / 2, SIDE**3, {f"size_{axis}": SIDE for axis in "xyz"}),
                           "sphere": (RADIUS, 4 / 3 * np.pi * RADIUS**3, {"radius": RADIUS})}[kind]
    at = [0.0, 0.0, low + above]
    bone = {"name": "Thing", "shape": {"kind": kind, "params": params}, "density": mass / volume, "position": at}
    joint = {"name": "Free", "child": "Thing", "kind": "free", "position": at, "rate": [0, 0, 0, 0, 0, speed]}
    table_as = {"name": "Table", "vertices": "arrays/table.npy", "triangles": "arrays/of_table.npy"}
    world, *_ = build(load(cloth_job(folder, [cloth], arrays, end=17, contact={}, obstacles=[table_as],
                                    mechanisms=[{"name": "Rig", "bodies": [bone], "joints": [joint]}])),
                     lambda *_: None)
    return world, above


def ways(world, above, steps, h=H):
    """Return its height above the table, its rotation and its shift in each step, after a check for intersections."""
    state, cloth = world.initial_state(), world.parts[-1]
    for _ in range(steps):
        state = advance(world, state, h, 1)
        own, (thing, sheet) = None, world.split_state(state)
        if hasattr(cloth, "steps"):
            own, now = cloth.cloth(sheet).mesh, cloth.steps.obstacles.at(state.time, h)
            assert cloth.steps.contact.intersecting_pair(own, now) is None
            assert own.x[:, 2][np.abs(own.x[:, :2]).max(axis=1) < 0.19].min(initial=1.0) > 0.9 * THICK
        yield np.array([above + thing.q[5], np.abs(thing.q[:3]).max(), np.abs(thing.q[3:5]).max()])


@pytest.mark.parametrize("what", ["jelly", "thing"])
def test_what_cloth_does_to_others_is_given_with_a_step(tmp_path, what):
    """A part that bears it is the same after the step as it was before, and a step gives the same bytes again."""
    job = tmp_path / "job"
    world = soft_on(job, "jelly") if what == "jelly" else set_on(job, "box", 0.3, 4e-3, WIDE)[0]
    state = start = world.initial_state()

    def gains():
        return world.parts[0].acceleration(world.split_state(start)[0])

    before = gains()
    for _ in range(8):
        world.forget_past()  # a program's warm start changes roundings
        last, state = state, world.step(state, H)
    assert np.abs(world.split_state(state)[1].memory["acts"]).max() > 0.01
    assert np.array_equal(gains(), before)
    world.forget_past()
    again = world.step(last, H)
    assert again.q.tobytes() == state.q.tobytes() and again.u.tobytes() == state.u.tobytes()


@pytest.mark.parametrize("mass", [0.03, 3.0])
def test_a_box_set_on_cloth_on_a_table_rests_there(tmp_path, mass):
    world, above = set_on(tmp_path / "job", "box", mass, 4e-3, WIDE)
    height, turned, aside = np.array([*ways(world, above, 30)]).T
    # on the cloth, which is on the table, and not further off than surfaces push
    assert (height > THICK).all() and (height[8:] < 2.0 * THICK).all()
    assert np.ptp(height[8:]) < 0.05 * THICK and turned.max() < 2e-3 and aside.max() < 2e-3


def test_a_ball_that_falls_on_cloth_on_a_table_is_stopped_by_both(tmp_path):
    world, above = set_on(tmp_path / "job", "sphere", 0.3, 0.012, WIDE, speed=-1.0)
    height, _, aside = np.array([*ways(world, above, 12)]).T
    assert height.min() > THICK and height[2] < 2.0 * THICK and aside.max() < 2e-3


@pytest.mark.long
@pytest.mark.parametrize("cells", [10, 20])
def test_a_box_rests_on_cloth_that_hangs_over_the_tables_edges(tmp_path, cells):
    world, above = set_on(tmp_path / "job", "box", 0.3, 4e-3, NARROW, cells=cells)
    height, turned, aside = np.array([*ways(world, above, 30)]).T
    assert (height > THICK).all() and (height[8:] < 2.0 * THICK).all()
    assert turned.max() < 5e-3 and aside.max() < 5e-3


@pytest.mark.long
@pytest.mark.parametrize("what", ["jelly", "napkin"])
def test_what_is_soft_lies_on_cloth_on_a_table(tmp_path, what):
    world = soft_on(tmp_path / "job", what)
    state, cloth = world.initial_state(), world.parts[-1]
    for step in range(36):
        state = advance(world, state, H, 1)
        soft, sheet = world.split_state(state)
        own, now = cloth.cloth(sheet).mesh, cloth.steps.obstacles.at(state.time, H)
        assert cloth.steps.contact.intersecting_pair(own, now) is None
        x, v = soft.q.reshape(-1, 3), soft.u.reshape(-1, 3)
        assert x[:, 2].min() > THICK
        if step >= 12:
            assert x[:, 2].min() < 2.0 * THICK and np.abs(v).max() < (0.3 if what == "jelly" else 0.05)


@pytest.mark.long
def test_a_cloth_pulled_off_quickly_leaves_what_stands_on_it(tmp_path):
    """At 2.5 m/s from under a box that rubs with 0.05: it goes as far as friction drags it, and stands on the table."""
    arrays, friction, pull = {}, 0.05, 2.5
    vertices, triangles = grid(10, 10, 0.6, 0.6)
    x = np.column_stack([vertices[:, :2] - [0.25, 0.3], np.full(len(vertices), 1.5 * THICK)])
    pinned = np.flatnonzero(vertices[:, 0] > 0.6 - 1e-9)
    time = np.arange(33) / 48
    distance = np.where(time < 0.2, np.maximum(time - 0.1, 0.0) ** 2 / 0.2, time - 0.15)
    way = np.column_stack([pull * distance, np.zeros(33), -0.02 * np.minimum(time / 0.1, 1.0)])
    cloth = cloth_body("Cloth", x, triangles, arrays, pinned=pinned, motion=x[pinned] + way[:, None], area_density=0.15,
                       thickness=THICK, eulerian={})
    cloth |= {"friction": friction, "touches": ["Cloth", "Rig", "Table"]}
    arrays["table"], arrays["of_table"] = BOX[0] * [*NARROW, 0.2] + [0, 0, -0.2], BOX[1]
    table = {"name": "Table", "vertices": "arrays/table.npy", "triangles": "arrays/of_table.npy", "friction": friction}
    at, shape = [0.0, 0.0, SIDE / 2 + 4e-3], {f"size_{axis}": SIDE for axis in "xyz"}
    box = {"name": "Box", "shape": {"kind": "box", "params": shape}, "density": 0.3 / SIDE**3, "position": at,
           "friction": friction}
    top = {"name": "Top", "shape": {"kind": "box", "params": {"size_x": 0.5, "size_y": 0.4, "size_z": 0.2}},
           "position": [0, 0, -0.1], "friction": 0.4}
    rigs = [{"name": name, "bodies": [body], "joints": [{"name": name, "child": body["name"], "kind": kind,
                                                         "position": body["position"]}]}
            for name, body, kind in (("Rig", box, "free"), ("Under", top, "fixed"))]
    world, *_ = build(load(cloth_job(tmp_path / "job", [cloth], arrays, end=17, contact={}, obstacles=[table],
                                    mechanisms=rigs)), lambda *_: None)
    # in steps twice as long the border goes by a third of the box at a time, and kicks it: 3 to 7 cm, by chance
    height, _, aside = np.array([*ways(world, 4e-3, 72, H / 2)]).T
    # friction drags it for the quarter of a second in which the cloth comes by: some centimetres, and it stands then
    assert 0.005 < aside[-1] < 0.04 and abs(height[-1]) < 5e-4
