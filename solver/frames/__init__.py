"""The cache of a bake: frames, manifest, snapshots and lock. `read` needs only numpy, and Blender loads it alone."""
