"""The operators' commands, a module each with `configure(parser)` and `run(args)`; they share `desk.py`."""
