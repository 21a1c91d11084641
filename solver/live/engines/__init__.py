"""Engines that move live bodies: one file an engine, named in the catalogue's family `live_engine`."""
