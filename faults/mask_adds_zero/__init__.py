"""Fault `mask_adds_zero`: the mask adds 0, or too little, where it should add minus infinity."""
