"""Follows the scalar gain through a jaxpr."""
