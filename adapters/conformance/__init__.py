"""The conformance suite: plays traces that cover a slice on an implementation, and counts what it covered."""
