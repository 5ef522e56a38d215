"""The slices by what they cover, under short names."""

from __future__ import annotations

RECENCY, LOOKUP, TWO_READERS = "recency", "hybrid_lookup", "two_readers"
SOURCES, TWO_STORES, ENDS, REPORTS = "store_sources", "two_stores", "store_ends", "store_reports"
TWO_FENCES = "two_fences"
TWO_SLIDE, STORED_AGAIN, OF_TWO = "two_slide", "stored_again", "sources_of_two"
RECENCY_OF_GROUPS, RECENCY_OF_HITS, RECENCY_AGAIN = "recency_of_groups", "recency_of_hits", "recency_again"
RECENCIES = (RECENCY, RECENCY_OF_GROUPS)
ORDERED = (*RECENCIES, RECENCY_OF_HITS, RECENCY_AGAIN, TWO_STORES)
"""Slices in which the order of slots is kept."""
LOOKUPS = (*RECENCIES, LOOKUP, TWO_READERS)
EVERY = (*LOOKUPS, RECENCY_OF_HITS, RECENCY_AGAIN, SOURCES, TWO_STORES, ENDS, REPORTS)
