"""Factors of trees of joints."""
