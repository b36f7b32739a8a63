"""What the end-to-end scenarios stand on. Python standard library only."""
