"""A bake that takes what has not changed from an earlier one gives the bytes of a bake of all."""

import json
import shutil

import numpy as np
import pytest
from small_jobs import change
from touching import box, contact_job, hollow, obstacle, read, sheet, soft

from solver.errors import Stopped
from solver.frames.layout import GROUPED, file_of
from solver.frames.read import Cache
from solver.simulate import bake

FAR = 30.0  #: [m]
END = 10


def jelly(name, x, z=0.1, size=0.3, **more):
    """A soft cube of a cell above the ground, whose least corner is there."""
    return lambda arrays: soft(name, *box((1, 1, 1), (size,) * 3, (x, -0.12, z)), arrays, **{"modulus": 1e4, **more})


LEFT, MIDDLE, RIGHT = jelly("Left", -FAR), jelly("Middle", 0.0, z=0.05), jelly("Right", FAR, z=0.15)
#: falls 42 cm onto the one in the middle, from farther off than both are large
ABOVE = jelly("Above", 0.05, z=0.77, size=0.2)
BALL = {"name": "Ball", "position": [2.0 * FAR, 0.0, 0.6], "density": 1000.0,
        "shape": {"kind": "sphere", "params": {"radius": 0.1}}}


def job(folder, *bodies, floor=True, tables=(), **scene):
    """tables: functions that add an obstacle's arrays, of obstacles before the floor."""
    arrays = {}
    made = [body(arrays) for body in bodies]
    below = [table(arrays) for table in tables]
    below += [obstacle("Floor", *sheet(4.0 * FAR, 3), arrays)] if floor else []
    folder = contact_job(folder, made, below, arrays, end=END, **scene)
    change(folder, "time.snapshot_every", 4)
    return folder


class Log:
    """A reporter that keeps the sentences of the log and how often a frame was reported."""

    def __init__(self):
        self.lines, self.frames = [], []

    def log(self, text):
        self.lines.append(text)

    def stage(self, *_):
        pass

    def start(self, *_):
        pass

    def frame(self, frame, *_):
        self.frames.append(frame)

    def has(self, words):
        return any(words in line for line in self.lines)


def files(folder):
    """The bytes of every file of a cache that two equal bakes have alike, by its name."""
    cache = folder / "cache"
    return {path.relative_to(cache).as_posix(): path.read_bytes() for path in sorted(cache.rglob("*"))
            if path.is_file() and path.name not in ("manifest.json", "written.log")}


def alike(tmp_path, before, after):
    """The log of a bake beside an earlier one, which has the bytes of a bake of all. before, after: write the jobs."""
    old, whole, beside = before(tmp_path / "old"), after(tmp_path / "whole"), after(tmp_path / "beside")
    log = Log()
    bake(old, Log())
    bake(whole, Log())
    bake(beside, log, reuse=old)
    one, other = files(whole), files(beside)
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []
    assert Cache(whole / "cache").bodies() == Cache(beside / "cache").bodies()
    assert log.frames[-1] == END
    return log


def test_what_was_added_or_changed_far_away_is_solved_alone(tmp_path):
    """One is new, one is stiffer than it was and of other steps."""
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE),
                lambda folder: job(folder, jelly("Left", -FAR, modulus=3e4, step=1 / 72), RIGHT, MIDDLE))
    assert log.has("Kept 1 of 3 objects as they were baked: Middle")


def test_a_copy_is_solved_alone(tmp_path):
    """It has all settings of what it was copied from, and another identity and place."""
    def first(arrays):
        return MIDDLE(arrays) | {"uuid": "a"}

    def renamed(arrays):
        return jelly("Cube", 0.0, z=0.05)(arrays) | {"uuid": "a"}

    def copied(arrays):
        return jelly("Middle", FAR, z=0.05)(arrays) | {"uuid": "b"}

    log = alike(tmp_path, lambda folder: job(folder, first), lambda folder: job(folder, copied, renamed))
    assert log.has("Kept 1 of 2 objects as they were baked: Cube")


def test_what_falls_on_a_baked_one_is_solved_with_it(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE), lambda folder: job(folder, LEFT, MIDDLE, ABOVE))
    assert log.has("Kept 2 of 3")
    assert log.has("Middle is solved as well from the last snapshot on: ") and log.has("something comes near Middle")
    assert log.has("Kept 1 of 3 objects as they were baked: Left")
    assert len(log.frames) < 2 * END  # from a snapshot on, not from the start


@pytest.mark.long
def test_what_starts_near_a_baked_one_is_solved_with_it_and_others_are_not(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE),
                lambda folder: job(folder, LEFT, MIDDLE, jelly("Near", 0.45)))
    assert log.has("Kept 1 of 3 objects as they were baked: Left")
    assert log.frames == [*range(2, END + 1)]


@pytest.mark.long
def test_groups_that_met_are_taken_together(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, ABOVE),
                lambda folder: job(folder, jelly("Left", -FAR, modulus=2e4), MIDDLE, ABOVE))
    assert log.has("Kept 2 of 3 objects as they were baked: Middle, Above")
    assert log.frames == [*range(2, END + 1)]


@pytest.mark.long
def test_what_met_something_that_changed_is_solved_from_there(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, ABOVE),
                lambda folder: job(folder, LEFT, MIDDLE, jelly("Above", FAR, z=0.77, size=0.2)))
    assert log.has("Kept 2 of 3")
    assert log.has("came near what has changed") and log.has("Kept 1 of 3 objects as they were baked: Left")


def test_nothing_is_solved_where_a_body_was_removed(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, RIGHT), lambda folder: job(folder, LEFT, RIGHT))
    assert log.has("Nothing has to be solved")


def test_one_by_itself_stays_when_contact_comes_with_another(tmp_path):
    """There is no obstacle, so that the scene of one has no contact; that of two has, and says more of both."""
    def alone(folder):
        folder = job(folder, MIDDLE, floor=False, ground=ground)
        whole = read(folder)
        del whole["contact"], whole["obstacles"]
        (folder / "scene.json").write_text(json.dumps(whole))
        return folder

    def among(body, others):
        return lambda arrays: body(arrays) | {"touches": others, "friction": 0.5, "thickness": 0.0,
                                              "step": 1 / 96, "integrator": {"kind": "backward_euler"}}

    def two(folder):
        return job(folder, among(LEFT, ["Middle"]), among(MIDDLE, ["Left"]), floor=False, ground=ground)

    ground = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "stiffness": 1e4}
    log = alike(tmp_path, alone, two)
    assert log.has("Kept 1 of 2 objects as they were baked: Middle")


def test_one_that_touches_itself_once_there_is_contact_is_solved_again(tmp_path):
    """A body of a pipeline that names nothing that it touches touches nothing in a scene without contact, and
    everything, itself included, in one with contact."""
    def alone(folder):
        folder = job(folder, MIDDLE, floor=False, ground=ground)
        whole = read(folder)
        del whole["contact"], whole["obstacles"]
        (folder / "scene.json").write_text(json.dumps(whole))
        return folder

    ground = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "stiffness": 1e4}
    log = alike(tmp_path, alone, lambda folder: job(folder, LEFT, MIDDLE, floor=False, ground=ground))
    assert not log.has("Kept 1 of 2 objects")


@pytest.mark.parametrize("field, value", [("gravity", [0.0, 0.0, -5.0]), ("time.fps", 25), ("time.end", END - 1),
                                          ("time.start", 2), ("linear_solver", "superlu")])
def test_what_counts_for_all_leaves_nothing(tmp_path, field, value):
    old, new = job(tmp_path / "old", LEFT, MIDDLE), job(tmp_path / "new", LEFT, MIDDLE, RIGHT)
    bake(old, Log(), frames=(1, 2))
    change(new, field, value)
    log = Log()
    bake(new, log, frames=(2, 3), reuse=old)
    assert not log.has("Kept")
    assert log.frames[-1] == 3


def test_a_floor_that_moves_otherwise_leaves_nothing(tmp_path):
    old, new = job(tmp_path / "old", LEFT, MIDDLE), job(tmp_path / "new", LEFT, MIDDLE)
    bake(old, Log(), frames=(1, 2))
    vertices = np.load(new / "arrays/Floor_vertices.npy")
    np.save(new / "arrays/Floor_vertices.npy", vertices - [0.0, 0.0, 0.01])
    log = Log()
    bake(new, log, frames=(1, 2), reuse=old)
    assert not log.has("Kept")


@pytest.mark.long
@pytest.mark.parametrize("changed", ["body", "mechanism"])
def test_mechanisms_are_taken_or_solved_as_one(tmp_path, changed):
    ball = {**BALL, "density": 500.0} if changed == "mechanism" else BALL
    left = jelly("Left", -FAR, modulus=2e4) if changed == "body" else LEFT
    new = [left] if changed == "body" else [left, RIGHT]
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, mechanisms=[{"name": "M", "bodies": [BALL]}]),
                lambda folder: job(folder, *new, MIDDLE, mechanisms=[{"name": "M", "bodies": [ball]}]))
    assert log.has("Kept 2 of 3 objects as they were baked: Middle, the mechanisms" if changed == "body" else
                   "Kept 2 of 4 objects as they were baked: Left, Middle")


@pytest.mark.parametrize("is_beside", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_stopped_one_goes_on_with_the_same_bytes(tmp_path, is_beside):
    """Beside the earlier bake again, or with all that it has."""
    old, whole, beside = (job(tmp_path / name, LEFT, MIDDLE, *more) for name, more in (
        ("old", []), ("whole", [RIGHT]), ("beside", [RIGHT])))
    bake(old, Log())
    bake(whole, Log())
    log, after = Log(), Log()
    with pytest.raises(Stopped):
        bake(beside, log, reuse=old, stop=lambda: len(log.frames) > 6)
    bake(beside, after, resume=True, reuse=old if is_beside else None)
    assert after.has("Kept 2 of 3 objects as they were baked: Left, Middle") == is_beside
    assert after.frames == [*range(6, END + 1)]
    one, other = files(whole), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


def stopped_at(folder, frame):
    """Bake a job until a frame."""
    log = Log()
    with pytest.raises(Stopped):
        bake(folder, log, stop=lambda: log.frames[-1:] == [frame])


def test_frames_of_a_bake_that_was_stopped_are_taken_too(tmp_path):
    """One more body comes; once the stopped bake ends, all go on from the last snapshot."""
    old = job(tmp_path / "old", LEFT, MIDDLE)
    whole, beside = (job(tmp_path / name, LEFT, MIDDLE, RIGHT) for name in ("whole", "beside"))
    stopped_at(old, 7)
    bake(whole, Log())
    log = Log()
    bake(beside, log, reuse=old)
    assert log.has("Kept 2 of 3 objects as they were baked: Left, Middle")
    assert log.has("All objects are solved from the last snapshot on: it ends at frame 7")
    assert log.frames == [*range(2, 8), *range(6, END + 1)]
    one, other = files(whole), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


@pytest.mark.long
def test_what_met_before_a_stop_goes_on_together_beside_the_others(tmp_path):
    """One falls on a baked one; the bake is stopped after that and goes on, with what is far away still taken."""
    old = job(tmp_path / "old", LEFT, MIDDLE)
    whole, beside = (job(tmp_path / name, LEFT, MIDDLE, ABOVE) for name in ("whole", "beside"))
    bake(old, Log())
    bake(whole, Log())
    log, after = Log(), Log()
    with pytest.raises(Stopped):
        bake(beside, log, reuse=old, stop=lambda: log.frames[-1:] == [END - 1])
    bake(beside, after, resume=True, reuse=old)
    assert after.has("Kept 1 of 3 objects as they were baked: Left")
    one, other = files(whole), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


def table(at, **more):
    """A closed box as an obstacle, 20 cm high, whose least corner is `at` this place along the row of bodies."""
    return lambda arrays: obstacle("Table", *hollow(0.2, (at, -0.1, 0.01)), arrays, **more)


def swung(at, to, z=0.01):
    """A larger one that is carried to another place and back."""
    def made(arrays):
        vertices, triangles = hollow(0.8, (at, -0.4, z))
        share = np.sin(np.linspace(0.0, np.pi, 2 * END - 1))[:, None, None]
        motion = vertices + share * np.array([to - at, 0.0, 0.0])
        return obstacle("Table", vertices, triangles, arrays, motion=motion)

    return made


NEAR_RIGHT = FAR + 1.0
#: what becomes of the table, and whose frames stay
CHANGES = {"moves": ([table(2.0 * FAR)], [table(NEAR_RIGHT - 0.5)], "2 of 3 objects as they were baked: Left, Middle"),
           "moves away": ([table(NEAR_RIGHT - 0.5)], [table(1.5 * FAR)], "2 of 3"),
           "comes": ([], [table(1.5 * FAR)], "3 of 3"), "goes": ([table(1.5 * FAR)], [], "3 of 3"),
           "rubs": ([table(1.5 * FAR)], [table(1.5 * FAR, friction=0.9)], "3 of 3"),
           "swings by": ([table(1.5 * FAR)], [swung(FAR + 2.0, FAR - 0.5, z=0.5)], "2 of 3"),
           "swings near one": ([table(1.5 * FAR)], [swung(2.0, 0.5)], "2 of 3 objects as they were baked: Left, Right")}


@pytest.mark.parametrize("what", [pytest.param(what, marks=() if what == "comes" else pytest.mark.long)
                                  for what in CHANGES])
def test_an_obstacle_that_changes_counts_for_what_comes_near_it(tmp_path, what):
    """Bodies lie on the floor, rub on it and lose their wobble there: all of that is remembered at their nodes."""
    then, now, kept = CHANGES[what]
    bodies = [jelly(name, x, z=0.02, wobble_half_life=0.2, friction=0.4)
              for name, x in (("Left", -FAR), ("Middle", 0.0), ("Right", FAR))]
    log = alike(tmp_path, lambda folder: job(folder, *bodies, tables=then),
                lambda folder: job(folder, *bodies, tables=now))
    assert log.has(f"Kept {kept}") or kept == "3 of 3" and log.has("Nothing has to be solved")


@pytest.mark.long
def test_an_older_bake_that_does_not_say_where_its_obstacles_were_leaves_nothing(tmp_path):
    old, new = (job(tmp_path / name, LEFT, RIGHT, tables=[table(x * FAR)]) for name, x in (("old", 2.0), ("new", 1.5)))
    bake(old, Log(), frames=(1, 2))
    manifest = old / "cache" / "manifest.json"
    manifest.write_text(json.dumps({
        key: value for key, value in json.loads(manifest.read_text()).items() if key != "obstacles"}))
    log = Log()
    bake(new, log, frames=(1, 2), reuse=old)
    assert not log.has("Kept") and not log.has("Nothing")


@pytest.mark.parametrize("kind", [pytest.param("frame", marks=pytest.mark.long), "grouped",
                                  pytest.param("snapshot", marks=pytest.mark.long)])
def test_a_damaged_one_is_solved_again_from_there(tmp_path, kind):
    old = job(tmp_path / "old", LEFT, MIDDLE)
    whole, beside = (job(tmp_path / name, LEFT, MIDDLE, RIGHT) for name in ("whole", "beside"))
    bake(old, Log())
    file_of(old / "cache", kind, 9).write_bytes(b"nothing")
    bake(whole, Log())
    log = Log()
    bake(beside, log, reuse=old)
    assert log.has("Kept 2 of 3") and log.has("missing or damaged")
    one, other = files(whole), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


def test_an_older_bake_without_groups_leaves_nothing(tmp_path):
    old, new = job(tmp_path / "old", LEFT), job(tmp_path / "new", LEFT, RIGHT)
    bake(old, Log(), frames=(1, 2))
    shutil.rmtree(file_of(old / "cache", GROUPED, 1).parent)
    log = Log()
    bake(new, log, frames=(1, 2), reuse=old)
    assert not log.has("Kept")


def hung(name, x, until):
    """A soft cube that is held by its upper corners until a frame."""
    def made(arrays):
        body = jelly(name, x)(arrays)
        vertices, triangles = hollow(0.3, (x, -0.12, 0.1))
        top = vertices[:, 2] > 0.2
        said = {"vertices": vertices, "triangles": triangles, "weights": top.astype(float),
                "until": np.where(top, until, np.iinfo(np.int32).max).astype(np.int32)}
        arrays |= {f"{name}_{what}": values for what, values in said.items()}
        paths = {what: f"arrays/{name}_{what}.npy" for what in said}
        return body | {"surface": {what: paths[what] for what in ("vertices", "triangles")},
                       "pin": {what: paths[what] for what in ("weights", "until")}}

    return made


def nailed(x, **more):
    """A soft cube that a nail holds from frame 3 to frame 7."""
    nail = {"frame": 3, "head": [x + 0.15, -1.0, 0.2], "tip": [x + 0.15, 1.0, 0.2], "radius": 0.16, "until": 7, **more}
    return jelly("Nailed", x, nails=[nail])


def halved(x, name="Halved", frame=5):
    """A soft cube of eight cells that is cut through its middle, upright, once a frame has been reached."""
    cut = {"frame": frame, "kind": "plane", "point": [x + 0.15, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    return lambda arrays: soft(name, *box((2, 1, 1), (0.3,) * 3, (x, -0.12, 0.1)), arrays, modulus=1e4, cuts=[cut])


def test_cuts_nails_and_pins_that_let_go_stay_where_others_change(tmp_path):
    """One reused and one solved body are released at the same frame; one of each is cut."""
    log = alike(tmp_path, lambda folder: job(folder, hung("Hung", -FAR, 4), nailed(0.0), halved(1.5 * FAR)),
                lambda folder: job(folder, nailed(0.0), halved(-1.5 * FAR, "New", 4), hung("Other", FAR, 4),
                                   halved(1.5 * FAR), hung("Hung", -FAR, 4)))
    assert log.has("Kept 3 of 5 objects as they were baked: Nailed, Halved, Hung")
    cuts = {name for name in files(tmp_path / "beside") if name.startswith("cuts/")}
    assert {name[-8:-4] for name in cuts} == {"0003", "0004", "0005", "0007"}


@pytest.mark.long
@pytest.mark.parametrize("one, other", [(lambda: nailed(0.0), lambda: nailed(0.0, until=8)),
                                        (lambda: halved(0.0, "Nailed"), lambda: halved(0.0, "Nailed", 4))])
def test_a_nail_or_a_cut_that_changes_is_solved_again_alone_and_goes_on_after_a_stop(tmp_path, one, other):
    old = job(tmp_path / "old", hung("Hung", -FAR, 4), one(), hung("Other", FAR, 5), halved(1.5 * FAR))
    whole, beside = (job(tmp_path / name, hung("Hung", -FAR, 4), other(), hung("Other", FAR, 5), halved(1.5 * FAR))
                     for name in ("whole", "beside"))
    bake(old, Log())
    bake(whole, Log())
    log, after = Log(), Log()
    with pytest.raises(Stopped):
        bake(beside, log, reuse=old, stop=lambda: log.frames[-1:] == [7])
    bake(beside, after, resume=True, reuse=old)
    assert all(one.has("Kept 3 of 4 objects as they were baked: Hung, Other, Halved") for one in (log, after))
    one, other = files(whole), files(beside)
    assert one.keys() == other.keys() and [name for name in one if one[name] != other[name]] == []


@pytest.mark.long
@pytest.mark.parametrize("one", [lambda: nailed(0.0, until=5), lambda: nailed(0.0, until=9), lambda: halved(0.0),
                                 lambda: halved(0.0, frame=9)])
def test_what_falls_on_a_nailed_or_cut_one_is_solved_with_it(tmp_path, one):
    """They meet before or after it is changed; the bake is stopped and goes on with all."""
    log = alike(tmp_path, lambda folder: job(folder, LEFT, one()), lambda folder: job(folder, LEFT, one(), ABOVE))
    assert log.has("Kept 1 of 3 objects as they were baked: Left")
    stopped, resumed = job(tmp_path / "stopped", LEFT, one(), ABOVE), Log()
    stopped_at(stopped, 9)
    bake(stopped, resumed, resume=True)
    one, other = files(tmp_path / "whole"), files(stopped)
    assert [name for name in one if one[name] != other[name]] == []
