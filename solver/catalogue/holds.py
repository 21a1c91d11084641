"""What holds soft bodies: strengths of pins, and forces that hold bodies together. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

#: weights of soft pins from here on hold hard: a brush that smooths leaves a little below 1
HARD = 0.999

PIN_STIFFNESS = Param("pin_stiffness", "Pin Stiffness",
                      "How firmly Soft Pins hold each kg where Pin is painted 0.5; at 0.9 nine times so, at 0.1 a "
                      "ninth. What is painted 0.5 all over hangs down by 1 cm at 1000, by 10 cm at 100",
                      1.0e3, "1/s²", 1.0e-6, 1.0e12, 1.0, 1.0e5)

WELD_DISTANCE = Param("distance", "Distance",
                      "How near the skin of one body is to that of the other, at the start, where they stick together",
                      0.01, "m", 1.0e-9, None, 0.0, 0.1)
WELD_STIFFNESS = Param("stiffness", "Stiffness",
                       "How firmly a square metre of skin sticks, by how far it is drawn off", 1.0e7, "N/m³", 1.0e-6,
                       None, 1.0e4, 1.0e9)
WELD_LASTS = Param("lasts", "Lasts", "For how long it sticks, 0 for ever", 0.0, "s", 0.0, None, 0.0, 10.0)

WELD = (WELD_DISTANCE, WELD_STIFFNESS, WELD_LASTS)

ENTRIES: tuple[Entry, ...] = (
    Entry("force", "weld", "forces.weld:Weld", "Weld",
          "Two bodies stick together where they are near each other at the start, and move as one", WELD, number=0),
)
