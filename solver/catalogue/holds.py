"""Pins, constraints and welds of soft bodies: strengths of pins, and forces that join bodies. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

#: weights of soft pins from here on hold hard: a brush that smooths leaves a little below 1
HARD = 0.999

PIN_STIFFNESS = Param("pin_stiffness", "Pin Stiffness",
                      "Stiffness of Soft Pins for each kilogram where Pin is painted 0.5; nine times that at 0.9, a "
                      "ninth at 0.1. A body painted 0.5 all over hangs down by 1 cm at 1000, by 10 cm at 100",
                      1.0e3, "1/s²", 1.0e-6, 1.0e12, 1.0, 1.0e5)

WELD_DISTANCE = Param("distance", "Distance",
                      "Largest distance between the surfaces, at the start, at which they stick together",
                      0.01, "m", 1.0e-9, None, 0.0, 0.1)
WELD_STIFFNESS = Param("stiffness", "Stiffness",
                       "Stiffness of the weld for each square meter of surface", 1.0e7, "N/m³", 1.0e-6,
                       None, 1.0e4, 1.0e9)
WELD_LASTS = Param("lasts", "Lasts", "How long it sticks; 0 means forever", 0.0, "s", 0.0, None, 0.0, 10.0)

#: a force with it remembers from step to step what has come off
BREAKS = Param("breaks", "Breaks At", "Pull on a square meter at which the weld breaks, point by point: a sticky "
               "note 500, tape 1e4, glue 1e6; 0 for never", 0.0, "Pa", 0.0, None, 0.0, 1.0e6)

#: a force with it remembers what it found then
BEGINS = Param("begins", "Begins", "Time at which surfaces within Distance begin to "
                                   "stick", 0.0, "s", 0.0, None, 0.0, 10.0)

WELD = (WELD_DISTANCE, WELD_STIFFNESS, WELD_LASTS, BREAKS, BEGINS)

AT_MOST = Param("at_most", "At Most", "Only keeps them from getting farther apart, as a string does", False)
CLOSES = Param("closes", "Closes In", "Time in which points that are apart at the start come together", 0.5, "s", 0.0,
               None, 0.0, 5.0)

ENTRIES: tuple[Entry, ...] = (
    Entry("constraint", "distance", "constraints.points.distance:Distance", "Distance",
          "Two points keep their distance, as on a rod, or at most so as on a string", (AT_MOST,), number=0,
          reads=("point", "length")),
    Entry("constraint", "ball", "constraints.points.ball:BallConstraint", "Ball",
          "Two points stay together, and both bodies may turn about them", (CLOSES,),
          can=("whole displacement",), number=1, reads=("point",)),
    Entry("constraint", "hinge", "constraints.points.hinge:HingeConstraint", "Hinge",
          "Both bodies turn about an axis, as a door does", (CLOSES,),
          can=("whole displacement",), number=2, reads=("point", "axis")),
    Entry("constraint", "on_curve", "constraints.points.on_curve:OnCurve", "On Curve",
          "A point slides along a rope, a curve or edges, as a bead does on its string", (CLOSES,), number=3),
    Entry("constraint", "on_surface", "constraints.points.on_surface:OnSurface", "On Surface",
          "A point slides on the surface of another object", (CLOSES,), number=4),
    Entry("enforcement", "penalty", "constraints.enforcement.penalty:Penalty", "Penalty",
          "A stiff potential in the stage's own matrix", hidden=True, number=0),
    Entry("enforcement", "mass_modification", "constraints.enforcement.mass_modification:MassModification",
          "Mass Modification", "Constrained directions of single nodes are no unknowns", hidden=True, number=1),
    Entry("enforcement", "hard", "constraints.enforcement.hard:Hard", "Hard",
          "Rows that hold exactly, by the response of the stage", hidden=True, number=2),
    Entry("enforcement", "compliant", "constraints.enforcement.compliant:Compliant", "Compliant",
          "Rows that give way by their force times a compliance", hidden=True, number=3),
    Entry("reference", "symplectic", "constraints.enforcement.symplectic:Symplectic", "Symplectic",
          "Compliant rows in a symplectic step, a reference for tests", hidden=True, number=0),
    Entry("reference", "acceleration", "constraints.enforcement.acceleration:Acceleration", "Acceleration",
          "Rows of accelerations, a reference for tests", hidden=True, number=1),
    Entry("force", "weld", "forces.weld:Weld", "Weld",
          "Two bodies stick together where they are close to each other at the start, or later, and move as one", WELD,
          number=0),
    Entry("force", "sliding_weld", "constraints.points.sliding_weld:SlidingWeld", "Sliding Weld",
          "Two bodies keep their distance where they are close to each other at the start, and slide along each "
          "other", (WELD_DISTANCE, WELD_STIFFNESS, WELD_LASTS), can=("hard rows",), number=1),
)
