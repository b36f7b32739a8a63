"""Judges a run of ops-pod-cleaner by what the API server itself wrote down, with rules of its own."""
