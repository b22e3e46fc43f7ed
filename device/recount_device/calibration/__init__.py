"""Setting up a device's camera and proving it: the walk of steps, the lens chart, the marks' margins."""
