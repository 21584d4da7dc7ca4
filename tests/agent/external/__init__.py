"""Tests of programs outside that work through the agent."""
