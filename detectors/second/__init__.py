"""Contracts of a second kind of call: with a padding mask, or one that continues another. One file each."""
