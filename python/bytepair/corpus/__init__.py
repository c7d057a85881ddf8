"""What texts come from, as a stage before counting: sources, their weights, their digest, and sizes of memory."""
