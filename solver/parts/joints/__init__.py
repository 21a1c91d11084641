"""Rates of joints, seen through the tree."""
