"""The job folder: scene.json (typed, validated, versioned) and arrays/*.npy."""
