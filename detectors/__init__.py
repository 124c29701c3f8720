"""Detectors: contracts of causal attention and of the pre-norm block, each measured as one failure signal.

`examine(subject, fixture)` gives the signals of any `Subject`; `diagnose` names the fault they look like.
"""
