"""Write docs/settings.md from solver/catalogue: `make manual`. Standard library only."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "settings.md"
sys.path.insert(0, str(ROOT))

from solver import catalogue  # noqa: E402

TITLES = {
    "method": ("Method", "How the motion is computed."),
    "integrator": ("Integrator", "How a step advances in time."),
    "stage_solver": ("Stage solver", "How an integrator that iterates finds its steps."),
    "material": ("Material", "How the body resists deformation."),
    "carry": ("Inside of Maps", "What maps of the material's numbers do below the surface."),
    "spot": ("Dynamic Spots", "How a painted spot, or the nodes around a handle, moves with inertia of its own if the "
                              "method is ConJac. If left out, each spot is a single node."),
    "damping": ("Damping", "What the material itself loses, whatever the step. Off if both settings are 0."),
    "friction": ("Friction", "What keeps the body from sliding on the ground. None if left out."),
    "contact": ("Contact", "What keeps the surfaces of soft bodies and obstacles apart. If left out, they do not "
                           "collide with each other."),
    "fiber_material": ("Fibers", "What fibers add to the material, along one direction in each element."),
    "fiber_field": ("Direction of the fibers", "Which way fibers run in the rest shape. They turn with the body."),
    "force": ("Forces between Bodies", "What acts between soft bodies besides contact."),
    "constraint": ("Constraints", "What keeps points of two objects together: `kind` of each of `constraints`."),
    "mesher": ("Mesher", "How the volume is filled with tetrahedra."),
    "map": ("Painted maps", "Vertex groups, or float attributes of the vertices, read at the ConJac modifier. Each "
                            "field has one: its number applies where the map is 0, its painted value where it is 1."),
    "cut": ("Cuts", "Where a body comes apart at a frame: between its tetrahedra, and through the whole mesh."),
    "linear_solver": ("Linear solver", "How the equations of each step are solved. *Automatic* takes the installed "
                                       "library that [was measured to be "
                                       "faster](linear_solvers.md#what-automatic-takes) for such a scene, or multigrid "
                                       "if a factor would not fit into memory or would take several times longer. The "
                                       "log gives the choice and the reason."),
    "membrane": ("Cloth", "How cloth resists stretch and shear in its plane."),
    "bending": ("Bending of Cloth", "How cloth resists bending."),
    "rope": ("Ropes", "How links of ropes keep their lengths: `length` of `rope`."),
    "joint": ("Joint", "How a rigid body moves relative to its parent."),
    "shape": ("Shape of a Rigid Body", "The shape gives the body its mass and inertia, and collides with others."),
    "loop": ("Loop", "What holds two rigid bodies together besides the tree of joints."),
    "motor": ("Motor", "What moves a joint over time."),
    "joint_friction": ("Friction inside Joints", "What slows bearings down under load."),
    "live_engine": ("Play Live", "What moves a body while it is played live."),
    "export": ("Export", "What a bake leaves behind for playback and rendering."),
}


def page() -> str:
    """Return the text of docs/settings.md."""
    families = list(dict.fromkeys(entry.family for entry in catalogue.ENTRIES))
    lines = ["# Settings", "",
             "Written by `make manual` from `solver/catalogue`, which Blender's panels read too. Numbers are in SI "
             "units; Blender shows lengths in the scene's units. The key is what `scene.json` and scripts use.", ""]
    for family in sorted(families, key=lambda name: list(TITLES).index(name) if name in TITLES else len(TITLES)):
        if family != "map" and not catalogue.menu(family):
            continue
        title, sentence = TITLES.get(family, (family.replace("_", " ").capitalize(), ""))
        lines += [f"## {title}", "", *([sentence, ""] if sentence else []), "| choice | key | what it does |",
                  "| --- | --- | --- |"]
        entries = (catalogue.maps() if family == "map" else catalogue.menu(family)).values()
        lines += [f"| {entry.label} | `{entry.key}` | {entry.sentence} |" for entry in entries]
        params = {param.key: param for entry in entries for param in entry.params if family != "map"}
        if params:
            lines += ["", "| setting | key | default | range | what it does |", "| --- | --- | --- | --- | --- |"]
            lines += [row(param) for param in params.values()]
        lines.append("")
    lines += ["## What goes with what", "", "Most choices can be combined. These cannot: such a job is "
              "refused, with the reason and what to choose instead.", "", "| choice | of | does not | because |",
              "| --- | --- | --- | --- |", *limits(), ""]
    lines += ["## Numbers of Cloth", "", "Fields of `cloth`. Those of the switch Sharp Edges are fields of "
              "`cloth.eulerian`, without `sharp_`.", "", "| setting | key | default | range | what it does |",
              "| --- | --- | --- | --- | --- |",
              *(row(entry) for entry in (*catalogue.CLOTH_NUMBERS, catalogue.SHARP, *catalogue.SHARP_NUMBERS,
                                         *catalogue.SHARP_OPTIONS)), ""]
    lines += ["## Numbers of Ropes", "", "Fields of `rope`, without `rope_`."
              "", "| setting | key | default | range | what it does |", "| --- | --- | --- | --- | --- |",
              *(row(entry) for entry in catalogue.ROPE_NUMBERS), ""]
    lines += ["## Body", "", "`pin_stiffness` is `stiffness` of its `pin`, if *Soft Pins* is on.", "",
              "| setting | key | default | range | what it does |", "| --- | --- | --- | --- | --- |",
              row(catalogue.DENSITY), row(catalogue.WOBBLE_HALF_LIFE), row(catalogue.PIN_STIFFNESS), ""]
    return "\n".join(lines)


def limits() -> list[str]:
    """Return lines of the table of capabilities that entries of the menus lack, with the reasons."""
    labels_by_limit: dict[tuple[str, str, str], list[str]] = {}
    for word, capability in catalogue.CAPABILITIES.items():
        # "moves jointed rigid bodies" of one that does not move them
        verb, _, rest = capability.sentence.partition(" ")
        verb = {"goes": "go"}.get(verb, verb.removesuffix("s"))
        for entry in catalogue.menu(capability.family).values():
            if why := entry.why_not(word):
                labels_by_limit.setdefault((TITLES[entry.family][0], f"{verb} {rest}", why), []).append(entry.label)
    return [f"| {', '.join(labels)} | {title} | {lacks} | {why} |"
            for (title, lacks, why), labels in labels_by_limit.items()]


def row(param: catalogue.Param) -> str:
    """Return a parameter as a row of a Markdown table."""
    if isinstance(param.default, bool):
        default, limits = "on" if param.default else "off", ""
    else:
        default = f"{param.default:.4g} {param.unit}".strip()
        low = "" if param.low is None else f"{param.low:.4g}"
        high = "" if param.high is None else f"{param.high:.4g}"
        limits = f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else ""
    painted = " (may be painted)" if param.field else ""
    return f"| {param.label} | `{param.key}` | {default} | {limits} | {param.sentence}{painted} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
