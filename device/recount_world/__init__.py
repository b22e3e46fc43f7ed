"""The simulated paper path, board and camera: for training, tests and bug reports."""
