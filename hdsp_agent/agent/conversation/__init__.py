"""A task's conversation: messages, questions and answers, the queue, and changing what was said."""
