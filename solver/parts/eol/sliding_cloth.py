"""Cloth that slides over what is sharp: one step of it. [Thesis Alg. 2.1]"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import StepFailed
from ...linear.constrained.program import SparseProgram
from ...linear.constrained.rows import MOST, Infeasible, Minimum, Singular, WarmStart
from ...sheet.limits import RemeshLimits
from ...sheet.mending import THINNEST
from ...sheet.sheet_mesh import SheetMesh
from ...sheet.sizing import Sizing
from ...sheet.tracking import material_reach
from ...state import Vec
from .cloth import Cloth
from .cone import cone
from .fabric import Assembled, Assembler, Breeze, Fabric
from .giving import Gives
from .gone_through import WITHIN, gone_through
from .lifting_off import stays_within, ways_off
from .lost import Lost
from .pushing import Pushes, Pushing, Way
from .remeshing import Remeshing
from .rows import StepRows, pinned_rows, widened
from .rubbing import Rubbed, along_surface, over_features
from .sheet_offsets import SheetOffsets
from .solved import Felt, Left, Solved
from .things import Things, ThingsInStep, of_sheets
from .told import Told, place_of
from .touching import Look, renumbered

NOWHERE = 1.0e-9  #: [m]: what is nearer to its feature is on it
SHORTER = 0.5  #: of a step that cannot be solved
NEARLY, MOST_LEFT = 0.9, 0.75  #: of the part of a step in which no face would be pulled through an edge; at most
SHORTEST = 1.0 / 64.0  #: of a step that is tried
THINS = 8.0  #: of the shortest: to keep triangles from getting thinner than remeshing leaves them no step gets shorter
FIRMEST = 1.0e7  #: of a vertex' own diagonal: what is stiffer beside it leaves too few digits of all else
ROUNDS = 16  #: of what pushes, before the step is tried shorter
ENOUGH = 6  #: after which a move is taken that meets nothing
SETTLED = 0.1  #: of the distance at which surfaces push: where the next round moves less it is the last
RENEWALS = 4  #: of friction
MAY_BE_OFF = 0.1  #: of the distance at which surfaces push: so far it does not matter where what pushes ended a step
RENEWED = 0.02  #: of all friction: how wrong it may be
ALIKE = 2.0  #: drags that differ by less share a factor

#: where pinned vertices are, (p, 3) [m], at a time [s]
Pins = Callable[[float], Vec]
#: a step's answer, where that ends, how long it is [s], and things and what pushes in it
Taken = tuple[Solved, SheetMesh, float, ThingsInStep, Pushes | None]


@dataclass
class SlidingCloth:
    """Steps of one cloth among things. Steps are pure; what is kept saves time alone."""

    fabrics: Sequence[Fabric]  #: of each of its sheets
    gravity: Vec  #: [m/s²], (3,)
    things: Things
    limits: RemeshLimits
    sizing: Sizing | None  #: None: triangles change only where something is sharp
    pins: Pins
    sharp: bool = True  #: False: Lagrangian, nothing is conformed to
    pushing: Pushing | None = None  #: what keeps it out of itself and of what is round; None: nothing does
    air: Breeze | None = None
    apart: SheetOffsets = field(default_factory=SheetOffsets.alone)  #: where each sheet is in the material
    told: Told = field(default_factory=Told)
    is_felt: bool = False  #: whether what it touches or hangs on is another part's, which wants to know
    gives: Gives | None = None  #: how what is round gives way in the next step; None: it goes as it is told

    def __post_init__(self) -> None:
        self._assembler = Assembler(self.fabrics, self.gravity, self.air, self.apart)
        self._program = SparseProgram()
        self._warm: WarmStart | None = None
        self._looked: Look | None = None
        self._remeshing = Remeshing(self.gravity, self.limits, self.sizing, self.pushing, self.told, self._look)

    @property
    def backend(self) -> str:
        """What factors its matrices."""
        return self._program.backend

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the state."""
        self.__post_init__()
        if self.pushing is not None:
            self.pushing.forget_past()

    def step(self, cloth: Cloth, time: float, h: float) -> Cloth:
        """h seconds on. Raises StepFailed."""
        return self.felt_step(cloth, time, h)[0]

    def felt_step(self, cloth: Cloth, time: float, h: float) -> tuple[Cloth, Felt]:
        """The same, and what it did to others."""
        done, left = 0.0, Left.nobody() if self.gives is None else Left(np.zeros_like(self.gives.arms),
                                                                        self.gives.still)
        impulses = np.zeros((0, 3))
        while done < h * (1.0 - 1e-9):
            cloth, taken, did, left = self._substep(cloth, time + done, h - done, h * SHORTEST, left)
            done, impulses = done + taken, did + impulses if len(impulses) else did
            self.told.substeps += 1
        return cloth, Felt(impulses, left.off)

    def may_end(self, cloth: Cloth, time: float, off: Vec) -> bool:
        """Whether what is round may stand where it was thought to end a step at `time`, where that step ended with it
        (o, 3) [m] off that: nothing is in between, and it is no other push."""
        if self.pushing is None or not off.any():
            return True
        now = self.things.at(time, 1.0)
        pushes = self.pushing.of(cloth.mesh, now)
        end = Way(cloth.mesh.x, now.round_x + off)
        if pushes is None:
            return True
        farthest = float(np.linalg.norm(off, axis=1)[pushes.near(end)].max(initial=0.0))
        return farthest <= MAY_BE_OFF * pushes.reach and pushes.largest(end, pushes.start) == 1.0

    def _substep(self, cloth: Cloth, time: float, h: float, shortest: float, left: Left
                 ) -> tuple[Cloth, float, Vec, Left]:
        def at(seconds: float) -> ThingsInStep:
            now = self.things.at(time, seconds)
            return replace(now, round_x=now.round_x + left.off) if left.off.any() else now

        now = at(h)
        cloth = self._remeshed(cloth, now, h)
        solved, moved, h, now, pushes = self._taken(cloth, self._pushes(cloth.mesh, now, left), time, h, shortest, now,
                                                    at)
        mesh, on_features = solved.mesh, solved.on_features
        self._warm = solved.answer.warm
        way = ways_off(on_features, moved, h)
        off = np.linalg.norm(way, axis=1) > stays_within(on_features, moved, h, self.limits, self.gravity)
        # what all but stays there stays there
        back = moved.x.copy()
        back[on_features.vertices[~off]] -= way[~off]
        ended = now.round_x if pushes is None else pushes.ended(solved.gave, h)
        if pushes is None or pushes.largest(Way(moved.x, ended), Way(back, ended)) == 1.0:
            moved.x[:] = back
        else:
            off[:] = np.linalg.norm(way, axis=1) > NOWHERE
        free = np.zeros(len(mesh.x), dtype=bool)
        free[on_features.vertices] = off
        flat = np.ones(len(mesh.x), dtype=bool)
        flat[on_features.vertices] = on_features.flat
        if self.gives is not None:
            left = Left(left.off + h * self.gives.velocities(solved.gave),
                        (left.done * left.rates + h * solved.gave) / (left.done + h), left.done + h)
        return Cloth(moved, cloth.pin, flat, free, solved.pressing), h, self._felt(cloth, solved), left

    def _taken(self, cloth: Cloth, pushes: Pushes | None, time: float, h: float, shortest: float, now: ThingsInStep,
               at: Callable[[float], ThingsInStep]) -> Taken:
        """A step of h [s] at most from this mesh that can be solved and in which triangles keep their area, and their
        angles too where that takes no step that is much shorter."""
        why, thins = "", None  # the shortest in which one gets thinner
        while True:
            solved, shorter = self._solved(cloth, now, pushes, time, h), SHORTER
            if solved is None:
                why = self._pressed(pushes)
            elif not solved.deepest or h * SHORTER < shortest:  # in the shortest it comes out as far as it can
                moved = self._advanced(solved.mesh, solved.answer, h)
                taken, slides = (solved, moved, h, now, pushes), solved.mesh.replaced(slide=moved.slide)
                reach = material_reach(slides, h)
                if reach == 1.0:
                    thins, reach = taken, material_reach(slides, h, THINNEST)
                    if reach == 1.0 or h <= THINS * shortest:
                        return taken
                why, shorter = "cloth slides through an edge faster than its triangles can follow", min(
                    NEARLY * reach, MOST_LEFT)
            if thins is not None and h <= THINS * shortest:  # what was solved before was at least that
                return thins
            h *= max(shorter, SHORTER**3)
            if thins is not None:
                h = max(h, THINS * shortest)
            elif h < shortest:
                raise StepFailed(why)
            now = at(h)
            pushes = None if pushes is None else replace(pushes, now=now)

    def _pressed(self, pushes: Pushes | None) -> str:
        """Why a step could not be solved."""
        assert self.pushing is not None
        near = "" if pushes is None else pushes.whom(pushes.start, self.pushing.owner, self.pushing.names)
        return f"cloth cannot be kept out of itself, or of {near or 'what is round'}"

    def _felt(self, cloth: Cloth, solved: Solved) -> Vec:
        """What a step did to others, (o + p, 3) [N s]; (0, 3) where nobody asks."""
        if not self.is_felt:
            return np.zeros((0, 3))
        pulled = np.zeros((len(self.pins(0.0)), 3))
        pulled[cloth.pin[cloth.pin >= 0]] = solved.pulled
        return np.concatenate([solved.pushed, pulled])

    def _remeshed(self, cloth: Cloth, now: ThingsInStep, h: float) -> Cloth:
        """On triangles for this step; rows of the last one are found by their new names."""
        if not self.sharp:
            return cloth
        made, was = self._remeshing.remeshed(cloth, now, h)
        if self._warm is not None:
            self._warm = WarmStart(renumbered(self._warm.keys, was, len(cloth.mesh.x)))
        return made

    @property
    def _tolerance(self) -> float:
        """How deep cloth may be in a thing [m]."""
        return WITHIN * self.limits.thickness

    def _look(self, mesh: SheetMesh, now: ThingsInStep, h: float) -> Look:
        """What is near in a step from there on; looked for once."""
        last = self._looked
        if last is None or last.h != h or last.now is not now or any(
                getattr(last.mesh, name) is not getattr(mesh, name) for name in ("x", "v", "on", "faces")):
            last = self._looked = Look.around(mesh, self.things, now, self.gravity, h)
        return last

    def _pushes(self, mesh: SheetMesh, now: ThingsInStep, left: Left) -> Pushes | None:
        """What pushes in a step from there on, and gives way; where something is crossed already nothing does, and it
        is said."""
        if self.pushing is None:
            return None
        pushes = self._pushes_there(mesh, now)
        return pushes if pushes is None or self.gives is None else replace(
            pushes, gives=self.gives, begun=left.rates, done=left.done)

    def _pushes_there(self, mesh: SheetMesh, now: ThingsInStep) -> Pushes | None:
        assert self.pushing is not None
        crossing = self.pushing.crossing(mesh, now)
        if crossing is None:
            return self.pushing.of(mesh, now)
        one, other, place = crossing
        what = "itself" if one == other else f'"{other if one == self.pushing.names[0] else one}"'
        self.told.once("crossing", f"it was pushed through {what} near {place_of(place)}: until it is out again "
                       "nothing keeps it apart there")
        return self.pushing.of(mesh, now, self.pushing.lost(mesh, now))

    def _solved(self, cloth: Cloth, now: ThingsInStep, pushes: Pushes | None, time: float, h: float) -> Solved | None:
        """Rates at the end of a step that begins on this mesh; None where what pushes does not settle in time.
        [Thesis 2.12]"""
        mesh = cloth.mesh
        posed = self._assembler.assemble(mesh, h, time)
        look = self._look(mesh, now, h)
        rows = StepRows(mesh.x, cone(mesh, now.features, cloth.flat, h), look.rows(posed.unknowns),
                        pinned_rows(cloth, self.pins(time + h), h), h * cloth.pressing,
                        np.concatenate([mesh.v, mesh.slide], axis=1))

        def answer_of(one: Assembled, warm: WarmStart | None, renewals: int = RENEWALS) -> tuple[Minimum, bool]:
            """Also whether friction is what the pressing gives."""
            rubbed = self._rubbed(mesh, rows, now)
            return (self._ask(one, rows, warm), True) if rubbed is None else self._rub(one, rows, rubbed, warm,
                                                                                      renewals)

        def asked_more(answer: Minimum) -> bool:
            """Whether the answer takes cloth through something that it shall be kept out of now."""
            more, rows.deepest = gone_through(look, posed.unknowns, posed.unknowns.parted(answer.u)[0],
                                               self._tolerance)
            if not rows.deepest:
                return False
            rows.touched = rows.touched.with_more(more)
            return True

        pushed = np.zeros((len(now.round_x) if self.is_felt else 0, 3))
        gave = np.zeros((0, 3)) if self.gives is None else self.gives.still
        try:
            answer, pushed, gave = (None, pushed, gave) if pushes is None else self._kept_apart(
                posed, pushes, answer_of, asked_more, h)
        except Singular as failure:
            assert self.pushing is not None and pushes is not None
            # layers so near that beside their barrier no digit is left of all else; no shorter step helps
            softer = replace(pushes, firmest=FIRMEST * float(np.median(posed.blocks[posed.unknowns.diagonal, 0, 0]))
                             / h**2)
            if softer.firmest < pushes.firmest:
                solved = self._solved(cloth, now, softer, time, h)
                if solved is not None:
                    return solved
            if self.is_felt:  # another part would be crossed, which that part does not know
                return None
            lost = Lost.at(mesh, np.unique(failure.vertices))
            lost = lost if pushes.lost is None else lost.and_more(pushes.lost)
            self.told.once("pressed", "its layers were pressed together more than can be computed near "
                           f"{place_of(mesh.x[failure.vertices[0]])}: for a moment nothing kept them apart there")
            known = pushes.lost is not None and bool(pushes.lost.of(mesh)[failure.vertices].all())
            return self._solved(cloth, now, None if known else self.pushing.of(mesh, now, lost), time, h)
        if pushes is None:
            answer, _ = answer_of(posed, self._warm)
            for _ in range(ROUNDS):
                if not asked_more(answer):
                    break
                answer, _ = answer_of(posed, answer.warm)
        if answer is None:
            return None
        # what pins did to it, turned round: theirs are the last of its rows
        pulled = -answer.on_vertex[len(answer.on_vertex) - len(rows.held.vertex):].reshape(-1, 3)
        return Solved(mesh, rows.on_features, answer, rows.deepest, pushed, gave, pulled,
                      rows.pressing[:len(mesh.x)] / h)

    def _kept_apart(self, posed: Assembled, pushes: Pushes,
                    answer_of: Callable[[Assembled, WarmStart | None, int], tuple[Minimum, bool]],
                    asked_more: Callable[[Minimum], bool], h: float) -> tuple[Minimum | None, Vec, Vec]:
        """Where what pushes is at rest with all else: Newton's rounds, none of which goes through anything. And what it
        did to what is round, (o, 3) [N s]; (0, 3) where nobody asks; and how that gave way, δ (c, 3)."""
        at, warm, near, last = pushes.start, self._warm, pushes.is_near(pushes.start), None
        pushed, gave, own = np.zeros((len(at.things) if self.is_felt else 0, 3)), pushes.begun, posed.unknowns.count
        for k in range(ROUNDS):
            self.told.rounds += 1
            # where rounds go on friction is renewed with them: by itself it would be so at places that are not the last
            renewals = RENEWALS if not near else 0 if k else 1
            with_pushes, used = pushes.added(posed, at, h)
            answer, rubs = answer_of(with_pushes, warm, renewals)
            gave, answer = pushes.rates(answer.u[own:], used), replace(answer, u=answer.u[:own])
            warm = answer.warm
            end = Way(pushes.mesh.x + h * posed.unknowns.parted(answer.u)[0], pushes.ended(gave, h))
            moved = max(float(np.abs(one - other).max(initial=0.0)) for one, other in (
                (end.x, at.x), (end.things, at.things)))
            was_near, was_at = near, at
            at, share = pushes.go(at, end)
            near = pushes.is_near(at)
            last = None
            settled = k >= ENOUGH or not (near or was_near) or (rubs and moved <= SETTLED * pushes.reach)
            if share == 1.0 and settled:
                last = answer
                if self.is_felt:
                    pushed = pushes.felt(was_at, end, h)
                if not asked_more(answer):
                    break
        return last, pushed, gave

    def _ask(self, posed: Assembled, rows: StepRows, warm: WarmStart | None) -> Minimum:
        try:
            answer = self._program.solve(posed.matrix, posed.right, posed.unknowns.table, rows.on_vertices,
                                         widened(rows.touched.spread, posed.unknowns.count), warm)
        except Infeasible as failure:
            raise rows.contradiction(failure.keys, posed.unknowns) from failure
        return self._counted(answer)

    def _counted(self, answer: Minimum) -> Minimum:
        self.told.factored += answer.factored
        self.told.one_by_one += answer.one_by_one
        return answer

    def _advanced(self, mesh: SheetMesh, answer: Minimum, h: float) -> SheetMesh:
        """q + h u."""
        v, slide = self._assembler.unknowns.parted(answer.u)
        return mesh.replaced(x=mesh.x + h * v, material=mesh.material + h * slide, v=v, slide=slide)

    def _rubbed(self, mesh: SheetMesh, rows: StepRows, now: ThingsInStep) -> Rubbed | None:
        """What touches with friction; None for nothing. A vertex that touches several rubs on the first."""
        on_features, touched = rows.on_features, rows.touched
        sheet = self.apart.sheet_of(mesh.material[on_features.vertices])
        coefficient = of_sheets(self.things.friction_on(now.features, mesh.on[on_features.vertices]), sheet)
        for k, one in enumerate(self.fabrics):
            if one.friction is not None:
                own = sheet == k
                coefficient[own] = one.friction(coefficient[own], on_features.fold[own])
        still = np.zeros((len(coefficient), MOST))
        still[:, :3] = on_features.velocity
        vertex, first = np.unique(touched.rows.vertex, return_index=True)
        mu = np.concatenate([coefficient, of_sheets(touched.friction[first], self.apart.sheet_of(
            mesh.material[vertex]))])
        if not mu.any():
            return None
        other = np.zeros((len(first), MOST))
        other[:, :3] = touched.velocity[first]
        return Rubbed(np.concatenate([on_features.vertices, vertex]).astype(np.int32),
                      np.concatenate([over_features(on_features.along), along_surface(touched.normal[first])]),
                      np.concatenate([still, other]), mu)

    def _rub(self, posed: Assembled, asked: StepRows, rubbed: Rubbed, warm: WarmStart | None, renewals: int
             ) -> tuple[Minimum, bool]:
        """With friction, whose resistance begins with that of the last answer, or step, and is renewed so often at
        most; and whether that was enough."""
        contact, rows = len(asked.on_features.rows) + len(asked.touched.rows), asked.on_vertices
        pushes = (rows.factor[:, 3:] == 0.0).all(axis=1) & (np.arange(len(rows)) < contact)
        vertices, dragged, given = rubbed.vertices, None, np.zeros_like(rubbed.still)
        place = np.full(len(posed.impulse), -1)
        place[vertices] = np.arange(len(vertices))
        along = rubbed.along(asked.rates[vertices])
        resistance = held = rubbed.resistance(asked.pressing[vertices], along)
        for _ in range(renewals + 1):
            if dragged is None:
                held, given = resistance, np.zeros_like(along)
                dragged = posed.with_resistance(vertices, held[:, None, None] * rubbed.ways, rubbed.still)
                answer = self._ask(dragged, asked, warm)
            else:  # by the factor that there is: what its drag does wrong are impulses
                given = (held - resistance)[:, None] * along
                answer = self._counted(self._program.again(dragged.with_impulse(vertices, given).right, warm))
            warm, pressing = answer.warm, np.zeros((len(vertices), 3))
            np.add.at(pressing, place[rows.vertex[pushes]], (answer.on_vertex[:, None] * rows.factor[:, :3])[pushes])
            asked.pressing = np.zeros(len(posed.impulse))
            asked.pressing[vertices] = np.linalg.norm(pressing, axis=1)
            asked.rates = np.concatenate(posed.unknowns.parted(answer.u), axis=1)
            along = rubbed.along(asked.rates[vertices])
            resistance = rubbed.resistance(asked.pressing[vertices], along)
            wrong = np.linalg.norm((held - resistance)[:, None] * along - given, axis=1)
            most = float(rubbed.coefficient @ asked.pressing[vertices])
            enough = bool(wrong.sum() <= RENEWED * most)
            if enough:
                break
            if wrong[np.maximum(held, resistance) > ALIKE * np.minimum(held, resistance)].sum() > RENEWED * most:
                dragged = None
        return answer, enough
