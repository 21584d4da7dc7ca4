"""What ``generate.py`` writes: one module a file."""
