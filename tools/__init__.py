"""What `make` uses and no wheel carries."""
