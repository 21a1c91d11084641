"""A sparse system under rows that have to hold or may only be exceeded."""
