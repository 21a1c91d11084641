"""Coordinates: functions of q and of what is prescribed, never of stiffness."""
