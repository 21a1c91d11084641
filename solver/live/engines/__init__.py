"""Engines that simulate live bodies: one file each, listed in the catalogue's family `live_engine`."""
