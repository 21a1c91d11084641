"""Engines that move live bodies: one file each, named in the catalogue's family `live_engine`."""
