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

    found = list(every_dial(soft_cube))
    assert len(found) > 10
    for group, name, dial in found:
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
