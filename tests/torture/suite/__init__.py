"""What tests/torture/run consists of."""
