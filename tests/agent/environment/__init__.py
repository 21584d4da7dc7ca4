"""What a model is told of its environment."""
