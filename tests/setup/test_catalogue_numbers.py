"""Saved files have the numbers of catalogue entries, so none may ever change, and the table below may only be extended.
A name or a number in it that changed would turn saved .blend files into something else: correct the catalogue, not the
table."""

import pytest

from solver import catalogue

FROZEN = {
    "method": {"conjac": 0, "vanilla": 1, "subspace": 2, "projective": 3, "xpbd": 4, "live": 5},
    "integrator": {
        "semi_implicit": 0, "sbdf2": 1, "str_bdf2": 2, "ssdirk2": 3, "backward_euler": 4, "bdf2": 5, "tr_bdf2": 6,
        "sdirk": 7, "sdirk2": 8, "generalized_alpha": 9, "midpoint": 10, "trapezoidal": 11, "siere": 12,
        "sbdf2ere": 13, "str_sbdf2ere": 14, "beere": 15, "bdf2ere": 16, "tr_bdf2ere": 17, "ere": 18,
        "quasistatic": 19, "bdf2ere_printed": 20, "sbdf2ere_printed": 21, "str_sbdf2ere_printed": 22,
        "leapfrog": 23, "semi_implicit_printed": 24, "swinging": 25, "sdirk23": 26},
    "stage_solver": {"newton_d": 0, "qlb": 1, "newton_l0": 2, "hybrid_l0": 3, "newton_l1": 4, "hybrid_l1": 5,
                     "newton_i": 6, "quick": 7, "newton_visible": 8, "mixed": 9},
    "material": {"stable_neo_hookean": 0, "neo_hookean_plain": 1, "mooney_rivlin": 2, "fixed_corotated": 3,
                 "corotational": 4, "arap": 5, "stvk": 6, "linear": 7},
    "fiber_material": {"astvk": 1, "afung": 2},
    "fiber_field": {"gradient": 0, "straight": 1, "helix": 2, "attribute": 3, "combed": 4},
    "carry": {"smooth": 0, "straight": 1},
    "spot": {"mean": 1, "turn": 2, "affine": 3},
    "damping": {"rayleigh": 0, "green": 1},
    "contact": {"barrier": 0, "gap": 1, "gap_velocity": 2},
    "membrane": {"corotated_membrane": 0},
    "bending": {"quadratic_bending": 0, "hinge_bending": 1},
    "rope": {"inextensible": 0, "springy": 1},
    "friction": {"coulomb": 1, "filter": 2},
    "mesher": {"tetwild": 0, "tetgen": 1, "grid": 2, "cells": 3, "tetwild_quick": 4},
    "force": {"weld": 0, "sliding_weld": 1},
    "constraint": {"distance": 0, "ball": 1, "hinge": 2, "on_curve": 3, "on_surface": 4},
    "enforcement": {"penalty": 0, "mass_modification": 1, "hard": 2, "compliant": 3},
    "reference": {"symplectic": 0, "acceleration": 1},
    "cut": {"plane": 0, "sheet": 1, "faces": 2},
    "linear_solver": {"cholmod": 1, "cvxopt": 2, "mixed": 3, "superlu": 4, "multigrid": 5},
    "export": {"pc2": 0, "abc": 1, "shapekeys": 2},
    "map": {"dynamic": 0, "pin": 1, "stiffness": 2, "fibers": 3, "friction": 4},
    "joint": {"fixed": 1, "revolute": 2, "prismatic": 3, "universal": 4, "cylindrical": 5, "planar": 6,
              "spherical": 7, "translational": 8, "free": 9, "free_planar": 10},
    "shape": {"capsule": 0, "box": 1, "sphere": 2, "hull": 3, "mesh": 4},
    "loop": {"ball": 0, "hinge": 1, "point_on_line": 2},
    "motor": {"servo": 1, "speed": 2, "drive": 3},
    "live_engine": {"world": 0, "modes": 1, "projective": 2},
    "joint_friction": {"none": 0, "bisp": 1, "staggered": 2},
}

#: families where menus offer something else at number 0, such as "none"
ZERO_IS_TAKEN = ("fiber_material", "spot", "friction", "linear_solver", "joint", "motor")


@pytest.mark.parametrize("family", FROZEN)
def test_every_entry_keeps_its_name_and_number(family):
    now = {key: entry.number for key, entry in catalogue.family(family).items()}
    changed = {key: now.get(key) for key, number in FROZEN[family].items() if now.get(key) != number}
    assert not changed, f"saved files would change their meaning: {changed}"
    assert now == FROZEN[family], "add the new entries to the table above"


def test_every_family_is_frozen():
    assert {entry.family for entry in catalogue.ENTRIES} == FROZEN.keys()


@pytest.mark.parametrize("family", FROZEN)
def test_no_two_entries_share_a_number(family):
    numbers = [entry.number for entry in catalogue.family(family).values()]
    assert len(set(numbers)) == len(numbers) and min(numbers) >= (1 if family in ZERO_IS_TAKEN else 0)
