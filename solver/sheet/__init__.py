"""Cloth that is remeshed as it moves: mesh, operations that split and collapse edges, and the sizing field."""
