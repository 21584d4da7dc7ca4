"""What the agent and people do with a workspace's checkpoints: made on the way, compared, restored."""
