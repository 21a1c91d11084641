"""Construction of a world from a job."""
