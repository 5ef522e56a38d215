"""Measurements: the engines on one toy model of KV transfers, in one run on one machine."""
