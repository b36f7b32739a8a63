"""A real node for the scenarios of tests/node: the room it lives in, its programs, its images, its registry."""
