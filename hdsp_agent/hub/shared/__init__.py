"""Conversations that people of a hub share as links to read."""
