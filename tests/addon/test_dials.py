"""Numbers can be dragged: a pixel of the mouse changes them by about a hundredth, in a unit that the field shows."""

import pytest

#: what an artist sets again and again, with what a new body or cloth has
BODY = {"youngs_modulus": 327_000.0, "density": 1000.0, "fiber_modulus": 3.0e5, "youngs_modulus_high": 3.27e6}
CLOTH = {"stretch_warp": 1000.0, "shear": 300.0, "bending_stiffness": 2.0e-3, "area_density": 0.2}
SOLVER = {"strain_left": 0.03, "edge_left": 0.003}

#: pixels of a short drag, and what one of them does to a field: a hundredth of its step, as measured in the window
DRAG, PIXEL = 40, 0.01


def every_dial(obj):
    """(group, name of the setting, name of its dial)."""
    for group in (obj.conjac, obj.conjac.solver):
        for name in group.bl_rna.properties.keys():
            if name.startswith("dial_"):
                yield group, name.removeprefix("dial_"), name


def test_a_dial_reads_and_writes_its_setting_and_is_none_of_its_own(soft_cube):
    from conjac.conjac_addon import dials

    every = list(every_dial(soft_cube))
    assert len(every) > 10
    for group, name, dial in every:
        assert not group.is_property_set(name)
        shown = getattr(group, dial)
        setattr(group, dial, 1.25 * shown or 1.0)
        assert group.is_property_set(name) and dial not in group.keys()
        assert getattr(group, dial) == pytest.approx(1.25 * shown or 1.0, rel=1e-6)
        assert dials.name_in(group, name) == dial
    soft_cube.conjac.dial_youngs_modulus = 327.0
    assert soft_cube.conjac.youngs_modulus == 327_000.0


@pytest.mark.parametrize("name", [*BODY, *CLOTH, *SOLVER])
def test_a_short_drag_changes_a_number_by_some_percent_and_a_click_does_not_zero_it(soft_cube, name):
    group = soft_cube.conjac.solver if name in SOLVER else soft_cube.conjac
    value = (BODY | CLOTH | SOLVER)[name]
    setattr(group, name, value)
    prop, shown = group.bl_rna.properties[f"dial_{name}"], getattr(group, f"dial_{name}")
    assert 0.0 < PIXEL * prop.step < shown, "one click to the left"
    setattr(group, f"dial_{name}", shown + DRAG * PIXEL * prop.step)
    assert 1.01 <= getattr(group, name) / value <= 3.5
    assert "(" in prop.name and prop.name.endswith(")"), "its unit stands in the field"


def test_limits_of_a_dial_are_those_of_its_setting(soft_cube):
    for group, name, dial in every_dial(soft_cube):
        own, shown = group.bl_rna.properties[name], group.bl_rna.properties[dial]
        setattr(group, dial, shown.hard_max)
        assert getattr(group, name) <= own.hard_max + 1e-6 * abs(own.hard_max)
        setattr(group, dial, shown.hard_min)
        assert getattr(group, name) >= own.hard_min - 1e-6 * abs(own.hard_min)


def groups_of_numbers():
    """Return every class of settings that panels show."""
    from conjac.conjac_addon import settings

    return [group for group in settings.classes if group.__name__ != "CONJAC_Cache"]


def plain_numbers():
    """Return (class, property) of each number in the unit of its setting, for which Blender has no unit of its own."""
    for group in groups_of_numbers():
        for prop in group.bl_rna.properties:
            if (prop.type == "FLOAT" and prop.unit == "NONE" and prop.subtype not in ("FACTOR", "PERCENTAGE")
                    and f"dial_{prop.identifier}" not in group.bl_rna.properties
                    and "old name" not in prop.description):
                yield group.__name__, prop


def test_no_number_is_stuck_for_the_mouse_and_none_jumps(addon):
    """The steps of ground, pulls, welds and springs were a three hundredth of a newton, whatever they had."""
    numbers = list(plain_numbers())
    assert len(numbers) > 60
    for group, prop in numbers:
        if prop.identifier.startswith("dial_"):
            continue  # of values that are set: the next ones
        drag = DRAG * PIXEL * prop.step
        if prop.default:
            assert drag >= 0.01 * abs(prop.default), (group, prop.identifier)
        else:
            assert drag >= 1.0e-3 * min(prop.soft_max, 1.0e4), (group, prop.identifier)
        if prop.default >= 0.05:
            assert PIXEL * prop.step < prop.default, (group, prop.identifier)


@pytest.mark.parametrize("group,name,value", [
    ("welds", "stiffness", 3.3e7), ("welds", "breaks", 2.0e4), ("pulls", "stiffness", 5.0e5),
    ("pulls", "stiffness", 1.0e3),
    ("", "ground_stiffness_per_area", 3.27e7), ("", "rope_bending_stiffness", 1.0e-3), ("", "linear_density", 0.062)])
def test_what_buttons_set_can_be_dragged(soft_cube, group, name, value):
    holder = getattr(soft_cube.conjac, group).add() if group else soft_cube.conjac
    setattr(holder, name, value)
    prop, shown = holder.bl_rna.properties[f"dial_{name}"], getattr(holder, f"dial_{name}")
    assert 0.0 < PIXEL * prop.step < shown
    setattr(holder, f"dial_{name}", shown + DRAG * PIXEL * prop.step)
    assert 1.01 <= getattr(holder, name) / value <= 9.1


@pytest.mark.parametrize("kind", ["soft_body", "cloth", "rope"])
def test_sliders_reach_every_preset(soft_cube, kind):
    from conjac.conjac_addon import dials, menus

    soft_cube.conjac.kind = kind
    for path in sorted((menus.PRESETS / kind).glob("*.py")):
        exec(compile(path.read_text(), str(path), "exec"), {"bpy": __import__("bpy")})
        for name in ("youngs_modulus", "poisson_ratio", "density", "wobble_half_life") if kind == "soft_body" else (
                ("area_density", "stretch_warp", "stretch_weft", "shear", "bending_stiffness") if kind == "cloth" else
                ("rope_bending_stiffness", "linear_density", "rope_thickness")):
            shown = dials.name_in(soft_cube.conjac, name)
            prop, value = soft_cube.conjac.bl_rna.properties[shown], getattr(soft_cube.conjac, shown)
            assert prop.soft_min <= value <= prop.soft_max * (1.0 + 1.0e-6), (path.stem, name, value, prop.soft_max)
