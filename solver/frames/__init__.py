"""The cache: frames, manifest, snapshots and lock. `read` needs only numpy and is what Blender loads."""
