"""The sandbox that chat templates run in: Jinja, bounded and traced."""
