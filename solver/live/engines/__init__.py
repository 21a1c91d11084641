"""What moves a live body: one file an engine, named in the catalogue's family `live_engine`."""
