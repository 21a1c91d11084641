"""Write the presets of materials and fabrics, and docs/presets.md with the source of each: `make manual`.

Materials that ring and materials that stop at once differ in their loss factor η: a wobble of frequency f halves its
amplitude in ln 2 / (π f η). *Wobble Half-Life* is that time at 4 Hz. Standard library only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "conjac_addon" / "presets" / "conjac"
PAGE = ROOT / "docs" / "presets.md"
HERTZ = 4.0  #: of the wobble whose half-life is given


@dataclass(frozen=True)
class Body:
    """A material: Young's modulus [Pa], Poisson's ratio, density [kg/m³], loss factor and their source."""

    name: str
    young: float
    poisson: float
    density: float
    loss: float
    source: str

    @property
    def settings(self) -> dict[str, object]:
        """Values of the settings of a soft body, by name."""
        half_life = math.log(2.0) / (math.pi * HERTZ * self.loss)
        return {"material": "stable_neo_hookean", "youngs_modulus": self.young, "poisson_ratio": self.poisson,
                "density": self.density, "wobble_half_life": float(f"{half_life:.2g}")}


@dataclass(frozen=True)
class Fabric:
    """A fabric: mass per area [kg/m²], stiffness of stretch, shear [N/m] and bending [N m], stretch limit, source."""

    name: str
    area_density: float
    warp: float
    weft: float
    shear: float
    bending: float
    limit: float
    source: str

    @property
    def settings(self) -> dict[str, object]:
        """Values of the settings of cloth, by name."""
        return {"area_density": self.area_density, "stretch_warp": self.warp, "stretch_weft": self.weft,
                "shear": self.shear, "bending_stiffness": self.bending, "stretch_limit": self.limit}


@dataclass(frozen=True)
class Line:
    """A rope, cable or cord: diameter [m], mass per length [kg/m], bending [N m²] and axial stiffness [N], and source.

    The axial stiffness is the tension that would double the length; 0 means inextensible.
    """

    name: str
    diameter: float
    linear_density: float
    bending: float
    axial: float
    source: str

    @property
    def settings(self) -> dict[str, object]:
        """Values of the settings of a rope, by name."""
        stretch = {"rope": "springy", "axial_stiffness": self.axial} if self.axial else {"rope": "inextensible"}
        return stretch | {"linear_density": self.linear_density, "rope_bending_stiffness": self.bending,
                          "rope_thickness": self.diameter}


TISSUE = "Wells and Liang, *Medical ultrasound: imaging of soft tissue strain and elasticity*, 2011"
RUBBER = "Gent, *Engineering with Rubber*, 2012"
CELLULAR = "Gibson and Ashby, *Cellular Solids*, 1997"
HAND = "Kawabata, *The Standardization and Analysis of Hand Evaluation*, 1980: bending and shear of its class"

BODIES = (
    Body("Rubber", 1.5e6, 0.48, 930.0, 0.08, f"{RUBBER}: natural rubber of hardness 40 IRHD"),
    Body("Silicone", 6.9e4, 0.48, 1070.0, 0.1, "Smooth-On, data sheet of Ecoflex 00-30: 100 % modulus 69 kPa"),
    Body("Latex", 1.2e6, 0.48, 940.0, 0.08, f"{RUBBER}: unfilled vulcanized latex"),
    Body("Gelatin", 8.0e3, 0.47, 1010.0, 0.05, "Hall et al., *Phantom materials for elastography*, 1997: some 5 % "
         "of gelatin in water"),
    Body("Fat", 2.0e4, 0.48, 920.0, 0.4, f"{TISSUE}: adipose tissue, 18 to 24 kPa"),
    Body("Muscle, Relaxed", 1.5e4, 0.48, 1060.0, 0.3, f"{TISSUE}: 6 to 50 kPa, along and across"),
    Body("Skin", 4.2e5, 0.48, 1100.0, 0.3, "Agache et al., *Mechanical properties and Young's modulus of human skin in "
         "vivo*, 1980: .42 MPa below the age of 30"),
    Body("Foam", 8.0e4, 0.3, 40.0, 0.2, f"{CELLULAR}: open-cell polyurethane"),
    Body("Cork", 1.8e7, 0.1, 180.0, 0.1, "Gibson, Easterling and Ashby, *The structure and mechanics of cork*, 1981"),
    Body("Dough", 2.0e4, 0.45, 1150.0, 0.5, "Dobraszczyk and Morgenstern, *Rheology and the breadmaking process*, "
         "2003: three times G′ of some 7 kPa"),
)

FABRICS = (
    Fabric("Cotton", 0.13, 1500.0, 1000.0, 60.0, 8.0e-6, 0.06, f"{HAND}; shirting of 130 g/m²"),
    Fabric("Silk", 0.08, 1000.0, 800.0, 20.0, 3.0e-6, 0.06, f"{HAND}; charmeuse of 19 momme, 4.34 g/m² each"),
    Fabric("Denim", 0.47, 6000.0, 4000.0, 300.0, 6.0e-5, 0.04, f"{HAND}; 14 oz per square yard, 33.9 g/m² each"),
    Fabric("Wool", 0.28, 1000.0, 800.0, 60.0, 1.5e-5, 0.1, f"{HAND}; suiting of 280 g/m²"),
    Fabric("Leather", 1.0, 12000.0, 12000.0, 4000.0, 1.0e-3, 0.1, "1.2 mm at 860 kg/m³; E t³ / 12 (1 − ν²) of 6 MPa in "
           "bending"),
    Fabric("Felt", 0.4, 1500.0, 1500.0, 600.0, 3.0e-4, 0.1, "2 mm at 200 kg/m³; E t³ / 12 (1 − ν²) of .4 MPa in "
           "bending"),
    Fabric("Elastic", 0.25, 150.0, 150.0, 40.0, 8.0e-6, 0.0, f"{HAND}; knit with elastane, 250 g/m²"),
)

LINES = (
    Line("Rope", 0.01, 0.062, 1.0e-3, 0.0, "ISO 1140: laid polyamide of 10 mm, 62 ktex; bending of "
         "loose fibers, by hand"),
    Line("Steel Cable", 0.006, 0.125, 0.023, 0.0, "EN 12385-4: 6×19 with a fiber core, .346 d² kg per 100 m; bending "
         "of 114 wires of .375 mm each for itself, E π d⁴ / 64 of 206 GPa"),
    Line("Elastic", 0.008, 0.047, 3.0e-4, 75.0, f"{RUBBER}: a round cord of natural rubber, E of 1.5 MPa, 930 kg/m³"),
)

#: folder of presets, as Blender's operators and menus know it → what lies there
KINDS: dict[str, tuple[Body, ...] | tuple[Fabric, ...] | tuple[Line, ...]] = {
    "soft_body": BODIES, "cloth": FABRICS, "rope": LINES}


def file_name(name: str) -> str:
    """Return the file name of a preset, as Blender derives it from the name that it shows."""
    return f"{name.replace(',', '').replace(' ', '_')}.py"


def preset(values: dict[str, object]) -> str:
    """Return the script that Blender runs when an artist chooses a preset. values: settings by name."""
    lines = [f"settings.{name} = {value!r}" for name, value in values.items()]
    return "\n".join(["import bpy", "", "settings = bpy.context.object.conjac", *lines, ""])


def files() -> dict[Path, str]:
    """Return the content of each preset file by its path."""
    return {FOLDER / kind / file_name(chosen.name): preset(chosen.settings) for kind, all_ in KINDS.items()
            for chosen in all_}


def page() -> str:
    """Return the text of docs/presets.md."""
    lines = [
        "# Presets", "",
        "Written by `make manual` from `scripts/presets.py`. The menu at the top of *Look*, *Cloth* or *Rope* sets "
        "these numbers; + beside it saves your own preset, as everywhere in Blender. The numbers are those of real "
        "materials at real size: a rubber monkey head of two meters hardly moves, as in life. *Set Jiggle* makes any "
        "material wobble as slowly as you like at any size.", "",
        "## Soft Bodies", "",
        "Half-life: the time in which a wobble of 4 Hz falls to half its height, ln 2 / (π f η), from the loss factor "
        "η.",
        "", "| preset | Young's modulus | Poisson's ratio | density | η | half-life | source |",
        "| --- | --- | --- | --- | --- | --- | --- |"]
    for body in BODIES:
        half_life = body.settings["wobble_half_life"]
        lines.append(f"| {body.name} | {body.young / 1e3:g} kPa | {body.poisson:g} | {body.density:g} kg/m³ "
                     f"| {body.loss:g} | {half_life:g} s | {body.source} |")
    lines += ["", "## Cloth", "",
              "A mesh cannot fold finer than its faces: a fabric that is too limp for them folds into saw teeth. *Add "
              "Cloth* chooses a stiffness that fits the faces. After choosing a preset, raise *Bending Stiffness* or "
              "subdivide the mesh.", "",
              "| preset | weight | warp, weft | shear | bending | stretches by | source |",
              "| --- | --- | --- | --- | --- | --- | --- |"]
    for cloth in FABRICS:
        limit = f"{100 * cloth.limit:g} %" if cloth.limit else "no limit"
        lines.append(f"| {cloth.name} | {1e3 * cloth.area_density:g} g/m² | {cloth.warp:g}, {cloth.weft:g} N/m "
                     f"| {cloth.shear:g} N/m | {1e6 * cloth.bending:g} µN·m | {limit} | {cloth.source} |")
    lines += ["", "## Ropes", "", "| preset | diameter | weight | bending | doubled by | source |",
              "| --- | --- | --- | --- | --- | --- |"]
    for rope in LINES:
        doubled = f"{rope.axial:g} N" if rope.axial else "keeps its length"
        lines.append(f"| {rope.name} | {1e3 * rope.diameter:g} mm | {1e3 * rope.linear_density:g} g/m "
                     f"| {rope.bending:g} N·m² | {doubled} | {rope.source} |")
    return "\n".join([*lines, ""])


def main() -> None:
    for path in FOLDER.glob("*/*.py"):
        path.unlink()
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)} and {len(files())} presets")


if __name__ == "__main__":
    main()
