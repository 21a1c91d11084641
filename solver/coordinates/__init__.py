"""Generalised coordinates: functions of q and of prescribed motion, independent of stiffness."""
