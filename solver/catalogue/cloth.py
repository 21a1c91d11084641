"""Choices of cloth: how it resists stretch and shear in its plane, and bending. Standard library only."""

from __future__ import annotations

import math

from .entry import Entry, Param

STRETCH_WARP = Param("stretch_warp", "Warp Stiffness", "Tension of a meter's width that doubles the length "
                     "along the warp, U of the UV map: cotton 1000, rubber sheet 50", 1.0e3, "N/m", 1.0e-3, 1.0e9,
                     10.0, 2.0e4)
STRETCH_WEFT = Param("stretch_weft", "Weft Stiffness", "Tension of a meter's width that doubles the length "
                     "along the weft, V of the UV map", 1.0e3, "N/m", 1.0e-3, 1.0e9, 10.0, 2.0e4)
SHEAR = Param("shear", "Shear Stiffness", "Resistance to a change of the angle between warp and weft: woven cloth "
              "has little, paper much", 3.0e2, "N/m", 1.0e-3, 1.0e9, 1.0, 1.0e4)
CONTRACTION = Param("poisson_ratio", "Poisson Ratio", "How much narrower cloth becomes when it is stretched", 0.2, "",
                    0.0, 0.9, 0.0, 0.5)
STRETCH_LIMIT = Param("stretch_limit", "Stretch Limit", "Share of its length by which cloth stretches before it "
                      "becomes a hundred times stiffer, and twice that across its threads: heavy objects sink in no "
                      "deeper. 0 for no limit", 0.0, "", 0.0, 10.0, 0.0, 0.5)
BENDING = Param("bending_stiffness", "Bending Stiffness", "Moment of a meter's width that bends to a radius of 1 m: "
                "silk 1e-6, cotton 2e-5, leather 1e-3", 2.0e-5, "N m", 0.0, 1.0e6, 0.0, 1.0e-2)

#: what cloth has besides that slides over sharp edges: the switch, and fields of scene.json's cloth.eulerian by their
#: keys without "sharp_"
SHARP = Param("sharp_edges", "Sharp Edges", "Bend exactly at sharp edges and corners of colliders and slide over "
              "them; the cloth is remeshed as it folds, so each frame has its own faces", False)
SHARP_NUMBERS = (
    Param("sharp_angle", "Feature Angle", "Edges of colliders whose faces turn by more than this are sharp, and those "
          "that are marked sharp", math.radians(30.0), "rad", 0.0, math.pi),
    Param("sharp_finest", "Finest Edges", "Shortest edges of remeshed cloth, in folds; 0 for half of the edges of "
          "the mesh", 0.0, "m", 0.0, 1.0e3, 0.0, 0.1),
    Param("sharp_coarsest", "Coarsest Edges", "Longest edges of remeshed cloth, where it lies flat; 0 for the edges "
          "of the mesh", 0.0, "m", 0.0, 1.0e3, 0.0, 1.0),
)
#: likewise, in scene.json where they say something: friction where SHARP_OWN_FRICTION is on
SHARP_COARSER = Param("sharp_coarser", "Preview", "Factor by which edges may be longer than set: 1 for the final "
                      "bake, 3 for a preview of the motion in a fraction of the time", 1.0, "", 1.0, 16.0,
                      1.0, 4.0)
SHARP_OWN_FRICTION = Param("sharp_own_friction", "Own Edge Friction", "Set the friction on sharp edges and corners "
                           "here, instead of using that of each collider", False)
SHARP_FRICTION = Param("sharp_friction", "Edge Friction", "Coulomb friction coefficient where cloth slides over "
                       "sharp edges and corners, instead of the colliders'", 0.5, "", 0.0, 100.0, 0.0, 1.0,
                       needs="sharp_own_friction")
SHARP_CAPSTAN = Param("sharp_capstan", "Rope Friction", "Folds over edges grip like a rope around a bollard, more "
                      "firmly than a single sharp edge", False)
SHARP_OPTIONS = (SHARP_COARSER, SHARP_OWN_FRICTION, SHARP_FRICTION, SHARP_CAPSTAN)

#: what cloth has besides: fields of scene.json's cloth by their keys
NUMBERS = (
    Param("area_density", "Area Density", "Mass of a square meter: silk 0.05, cotton 0.2, denim 0.4, leather 1", 0.2,
          "kg/m²", 1.0e-6, 1.0e6, 0.01, 10.0),
    Param("thickness", "Thickness", "Distance that cloth keeps from itself and other objects", 1.0e-3, "m", 1.0e-6,
          1.0e3, 1.0e-4, 1.0e-2),
    Param("drag", "Air Drag", "Force of air that blows onto its faces: a board 1.2, gauze 0.3, 0 nothing", 1.2,
          "", 0.0, 100.0, 0.0, 3.0),
    Param("air_friction", "Air Friction", "Force of air that blows along its faces", 0.05, "", 0.0, 100.0,
          0.0, 1.0),
    Param("pressure", "Pressure", "Difference between the air inside and outside of closed cloth: a soft cushion "
          "100, a balloon 2000, an air mattress 5000", 0.0, "Pa", -1.0e6, 1.0e6, 0.0, 5.0e3),
    Param("length_limit", "Length Limit", "Share of its length by which an edge of the mesh can stretch at most, "
          "under any load; 0 for no limit", 0.0, "", 0.0, 10.0, 0.0, 0.5),
    Param("area_limit", "Area Limit", "Share of its area by which a face can grow or shrink at most, under any load; "
          "0 for no limit", 0.0, "", 0.0, 0.9, 0.0, 0.5),
    Param("seam_stiffness", "Seam Stiffness", "Force of each seam for each meter between its ends", 500.0, "N/m",
          1.0e-6, 1.0e9, 10.0, 5000.0),
    Param("seam_time", "Seams Close In", "Time in which the seams pull the cloth together", 1.0, "s", 0.0, 1.0e3, 0.0,
          5.0),
)

ENTRIES: tuple[Entry, ...] = (
    Entry("membrane", "corotated_membrane", "forces.cloth.corotated_membrane:CorotatedMembrane", "Woven",
          "Linear in stretch and shear, stiffer along its threads than across them",
          (STRETCH_WARP, STRETCH_WEFT, SHEAR, CONTRACTION, STRETCH_LIMIT), number=0),
    Entry("bending", "quadratic_bending", "forces.cloth.quadratic_bending:QuadraticBending", "Flat Cloth",
          "Tries to be flat: the fastest, and smooth in every fold", (BENDING,), number=0),
    Entry("bending", "hinge_bending", "forces.cloth.hinge_bending:HingeBending", "Keeps Folds",
          "Remembers the angles between faces that the mesh has at rest: garments, creases", (BENDING,),
          lacks=(("remeshing", "it remembers the angles of edges that come and go"),), number=1),
)
