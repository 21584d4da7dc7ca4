"""A task kept in a folder of files: append-only logs, one writer thread, locks, and the monitor."""
