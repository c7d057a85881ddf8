"""The sandbox that runs chat templates: Jinja with limits, on traced values."""
