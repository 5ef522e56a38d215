"""What the modules of the specification have in common."""
