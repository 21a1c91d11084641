"""EOL cloth as a part of the world: a sheet, or several sheets in mutual contact, that slide over sharp features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..embedding.sheets import SheetRecord, ShownSheet
from ..errors import Diverged, StepFailed
from ..parts.eol.cloth import Cloth
from ..parts.eol.interface_inertia import InterfaceInertia
from ..parts.eol.sheet_offsets import SheetOffsets
from ..parts.eol.sliding_cloth import SlidingCloth
from ..sheet.sheet_mesh import SheetMesh
from ..state import State, Vec
from .bodies import BLOW_UP
from .interface import StepInputs, SteppedPart

#: fields of the mesh by their names in the memory of states, which older caches have, too
OF_MESH = {**{name: name for name in ("x", "material", "faces", "v", "slide", "on")}, "kept": "required"}
OF_CLOTH = ("pin", "flat", "free", "pressing")


@dataclass
class EolCloth(SteppedPart):
    """Part of the world with sheets of EOL cloth.

    As remeshing changes the number of vertices, its state has no coordinates and rates, and all values in its memory.
    """

    names: list[str]  #: names of the sheets
    steps: SlidingCloth
    start: Cloth
    shown: list[ShownSheet]  #: output of each sheet
    start_frame: int
    offsets: SheetOffsets  #: offset of each sheet in material space
    notes: list[str] = field(default_factory=list)
    #: effective inertia of interface points in a step; None: their motion is prescribed
    inertia: InterfaceInertia | None = None

    @property
    def unknowns(self) -> int:
        """Return 0: the state has no coordinates, as remeshing changes their number within a step."""
        return 0

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of the artist's vertices of each sheet."""
        ends = np.cumsum([0, *(len(shown.material) for shown in self.shown)]).tolist()
        return [(name, first, end - first) for name, first, end in zip(self.names, ends, ends[1:])]

    @property
    def name(self) -> str:
        """Return the names of all sheets, joined for messages."""
        return '" and "'.join(self.names)

    @property
    def summary(self) -> list[str]:
        """Return a sentence with the number of substeps and factorizations."""
        log = self.steps.step_log
        return [f'"{self.name}": {log.substeps} steps with {log.factored} factorizations'] if log.substeps else []

    @property
    def backend(self) -> str:
        """Return the name of the linear solver of the steps, for the log."""
        return self.steps.backend

    @property
    def sheet_names(self) -> list[str]:
        """Return the names of all sheets, whose topology changes between frames."""
        return self.names

    def owns(self, name: str) -> bool:
        """Return whether a sheet of this name belongs to the part."""
        return name in self.names

    def initial_state(self) -> State:
        """Return the state at the start frame, at rest."""
        return State(0.0, np.zeros(0), np.zeros(0), self._memory(self.start))

    @staticmethod
    def _memory(cloth: Cloth) -> dict[str, Vec]:
        return {**{name: getattr(cloth.mesh, field) for name, field in OF_MESH.items()},
                **{name: getattr(cloth, name) for name in OF_CLOTH}}

    @staticmethod
    def cloth(state: State) -> Cloth:
        """Return the cloth in the memory of a state. Raises KeyError where memory is missing."""
        memory: Mapping[str, Any] = state.memory
        mesh = SheetMesh(**{field: memory[name] for name, field in OF_MESH.items()})
        return Cloth(mesh, **{name: memory[name] for name in OF_CLOTH})

    def check(self, state: State) -> None:
        """Check the memory of a state. Raises ValueError, KeyError or BadMesh where it fits no valid mesh."""
        count = len(state.memory["x"])
        for name, like in self._memory(self.start).items():
            values = state.memory[name]
            rows = len(state.memory["faces"]) if name == "faces" else count
            if values.dtype != like.dtype or values.shape != (rows, *like.shape[1:]):
                raise ValueError(f'"{name}" of "{self.name}" is {values.dtype} of shape {values.shape}')
        cloth = self.cloth(state)
        features = self.steps.obstacles.at(state.time, 1.0).features
        feature_count = len(features.points) + len(features.edges)
        for name, numbers, end in (("on", cloth.mesh.on, feature_count),
                                   ("pin", cloth.pin, int(self.start.pin.max(initial=-1)) + 1)):
            if not ((numbers >= -1) & (numbers < end)).all():
                raise ValueError(f'"{name}" of "{self.name}" refers to something that does not exist')
        cloth.mesh.check()

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after substeps of h seconds in total, each on a new mesh (see `interface`).

        The state has the reaction on interface points where another part needs it. Raises StepFailed.
        """
        after, reaction = self.steps.step_with_reaction(self.cloth(state), state.time, h, self.inertia)
        self._refuse_blow_up(after.mesh)
        self.notes += [f'"{self.name}": {sentence}' for sentence in self.steps.step_log.sentences]
        self.steps.step_log.sentences.clear()
        return State(state.time + h, state.q, state.u, self._memory(after),
                     reaction=reaction if self.steps.needs_reactions else None)

    def with_interface(self, inertia: InterfaceInertia | None) -> EolCloth:
        """Return a copy whose interface points respond with an effective inertia; None: their motion is prescribed."""
        return replace(self, inertia=inertia)

    def may_finish(self, state: State) -> bool:
        """Return whether the interface points have admissible positions after the step that returned this state."""
        return self.steps.may_finish(self.cloth(state), state.time, state.reaction.off)

    def _refuse_blow_up(self, mesh: SheetMesh) -> None:
        extent, size = float(np.abs(mesh.x - mesh.x[0]).max()), float(np.ptp(mesh.material, axis=0).max())
        if not np.isfinite(extent):
            raise StepFailed("a vertex' position is not a number", self.name)
        if extent > BLOW_UP * size:
            raise StepFailed(f"it grew to {extent / size:.0f} times its size", self.name)

    def output(self, state: State, frame: int) -> Vec:
        """Return the artist's vertices in object space at a frame, (v, 3) [m]."""
        meshes = self.offsets.sheets(self.cloth(state).mesh)
        return np.concatenate([shown.vertices(mesh, frame - self.start_frame)
                               for shown, mesh in zip(self.shown, meshes)])

    def sheets(self, state: State, frame: int) -> dict[int, SheetRecord]:
        """Return the record of each sheet's mesh at a frame, by the index of the sheet."""
        cloth = self.cloth(state)
        # vertices that left a feature in the last step no longer slide
        mesh = replace(cloth.mesh, on=np.where(cloth.free, -1, cloth.mesh.on))
        return {k: shown.record(sheet, frame - self.start_frame)
                for k, (shown, sheet) in enumerate(zip(self.shown, self.offsets.sheets(mesh)))}

    def longest(self, state: State) -> Vec:
        """Return the largest length of an edge of each sheet, relative to rest, (s,)."""
        mesh = self.cloth(state).mesh
        ends = mesh.edges
        length, rest = (np.linalg.norm(positions[ends[:, 1]] - positions[ends[:, 0]], axis=1)
                        for positions in (mesh.x, mesh.material))
        longest = np.zeros(len(self.names))
        np.maximum.at(longest, self.offsets.sheet_of(mesh.material[ends[:, 0]]), length / rest)
        return longest

    def forget_past(self) -> None:
        """Discard caches of earlier steps that are not in the State."""
        self.steps.forget_past()

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist, with the name of the first sheet, the frame and a remedy."""
        remedy = failure.remedy or "Lower the step, or raise Finest Edges"
        return Diverged(f"the motion could not be solved: {failure}", f"{remedy}; earlier frames are kept",
                        self.names[0], frame)
