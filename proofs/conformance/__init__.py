"""Conformance: what an observer can tell of a slice as a graph, traces that cover it, and walks along it."""
