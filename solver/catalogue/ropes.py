"""Choices of ropes: how their links keep their lengths. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

AXIAL_STIFFNESS = Param("axial_stiffness", "Stretch Stiffness", "Tension that doubles its length, Young's modulus "
                        "times its cross section: rubber band 10, nylon cord 1e4, steel wire of 3 mm 1e6", 1.0e4, "N",
                        1.0e-3, 1.0e12, 1.0, 1.0e6)

MOST_STRETCH = Param("most_stretch", "Stretch Limit", "Share of its length by which a link can stretch at most, "
                     "under any load; 0 for no limit", 0.0, "", 0.0, 10.0, 0.0, 1.0)

#: what ropes have besides: fields of scene.json's rope by their keys
NUMBERS = (
    Param("linear_density", "Density per Meter", "Mass of a meter: string 0.002, rope of 1 cm 0.07, steel cable of 1 "
          "cm 0.4, chain 2", 0.1, "kg/m", 1.0e-9, 1.0e6, 1.0e-3, 10.0),
    Param("rope_bending_stiffness", "Bending Stiffness", "Moment that bends it to a radius of 1 m: string "
          "1e-6, rope 1e-3, steel wire of 3 mm 0.8", 1.0e-4, "N m²", 0.0, 1.0e9, 0.0, 10.0),
    Param("rope_keeps_shape", "Keeps Its Shape", "Rests in the shape it is drawn in, such as a coil, a hook or a "
          "telephone cord; if off, it tries to be straight", False),
    Param("rope_twisting_stiffness", "Twisting Stiffness", "Resistance to twist of strands that are pinned at both "
          "ends, or closed: two thirds of Bending Stiffness for a solid wire; 0 lets them turn freely", 0.0, "N m²",
          0.0, 1.0e9, 0.0, 10.0),
    Param("rope_twist", "Twist", "Angle by which one end of each strand is turned: it coils up where that is too "
          "much", 0.0,
          "rad", -1.0e4, 1.0e4, -100.0, 100.0),
    Param("rope_twist_time", "Twists In", "Time in which the ends are turned", 1.0, "s", 0.0, 1.0e3, 0.0, 5.0),
    Param("rope_thickness", "Rope Thickness", "Its diameter: other objects keep half of it from the middle of the rope",
          1.0e-2, "m", 1.0e-6, 1.0e3, 1.0e-3, 0.1),
)

ENTRIES: tuple[Entry, ...] = (
    Entry("rope", "inextensible", "forces.ropes.links:Inextensible", "Inextensible",
          "Keeps its length under any load: ropes, chains, strings", number=0),
    Entry("rope", "springy", "forces.ropes.links:Springy", "Springy",
          "Stretches by the tension over its stiffness: rubber bands, bungees, long cables",
          (AXIAL_STIFFNESS, MOST_STRETCH),
          number=1),
)
