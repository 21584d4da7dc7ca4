"""Checkpoints of files."""
