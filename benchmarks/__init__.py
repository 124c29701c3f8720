"""Measurements anyone can run; each compares two things side by side in one run and prints their ratio."""
