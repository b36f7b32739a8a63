"""The scenarios, one module a subject."""
