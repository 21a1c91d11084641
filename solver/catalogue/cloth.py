"""What cloth chooses from: how it resists stretch and shear in its plane, and bending. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

STRETCH_WARP = Param("stretch_warp", "Stretch Stiffness U", "Tension of a metre's width that doubles the length "
                     "along the warp, U of the UV map: cotton 1000, rubber sheet 50", 1.0e3, "N/m", 1.0e-3, 1.0e9,
                     10.0, 1.0e4)
STRETCH_WEFT = Param("stretch_weft", "Stretch Stiffness V", "The same along the weft, V of the UV map", 1.0e3, "N/m",
                     1.0e-3, 1.0e9, 10.0, 1.0e4)
SHEAR = Param("shear", "Shear Stiffness", "What resists a change of the angle between warp and weft: woven cloth has "
              "little, paper much", 3.0e2, "N/m", 1.0e-3, 1.0e9, 1.0, 1.0e4)
CONTRACTION = Param("poisson_ratio", "Poisson Ratio", "How much narrower cloth gets where it is pulled", 0.2, "",
                    0.0, 0.9, 0.0, 0.5)
BENDING = Param("bending", "Bending Stiffness", "Moment of a metre's width that bends to a radius of a metre: silk "
                "1e-6, cotton 2e-5, leather 1e-3", 2.0e-5, "N m", 0.0, 1.0e6, 0.0, 1.0e-2)

ENTRIES: tuple[Entry, ...] = (
    Entry("membrane", "corotated_membrane", "forces.cloth.corotated_membrane:CorotatedMembrane", "Woven",
          "Linear in stretch and shear, stiffer along its threads than across them",
          (STRETCH_WARP, STRETCH_WEFT, SHEAR, CONTRACTION), number=0),
    Entry("bending", "quadratic_bending", "forces.cloth.quadratic_bending:QuadraticBending", "Flat Cloth",
          "Wants to be flat: the quickest, and smooth however it folds", (BENDING,), number=0),
    Entry("bending", "hinge_bending", "forces.cloth.hinge_bending:HingeBending", "Keeps Folds",
          "Remembers the angles between faces that the mesh has at rest: garments, creases", (BENDING,), number=1),
)
