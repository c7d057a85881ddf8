"""Whether a tokenizer is sound: ``verify`` runs a checklist, ``lint`` looks for faults."""
