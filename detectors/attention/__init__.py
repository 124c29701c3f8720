"""Contracts of attention by itself: query, key, value -> output. One file each."""
