"""A bake beside an earlier one whose bodies are cut, nailed or let go."""

import numpy as np
import pytest
from reused import ABOVE, FAR, LEFT, Log, alike, files, jelly, job, stopped_at
from touching import box, hollow, soft

from solver.errors import Stopped
from solver.simulate import bake


def hung(name, x, until):
    """A soft cube that is held by its upper corners until a frame."""
    def made(arrays):
        body = jelly(name, x)(arrays)
        vertices, triangles = hollow(0.3, (x, -0.12, 0.1))
        top = vertices[:, 2] > 0.2
        settings = {"vertices": vertices, "triangles": triangles, "weights": top.astype(float),
                    "until": np.where(top, until, np.iinfo(np.int32).max).astype(np.int32)}
        arrays |= {f"{name}_{what}": values for what, values in settings.items()}
        paths = {what: f"arrays/{name}_{what}.npy" for what in settings}
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
    assert all(lines.has("Kept 3 of 4 objects as they were baked: Hung, Other, Halved") for lines in (log, after))
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
