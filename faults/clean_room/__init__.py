"""The clean room: a learner writes the block from its interface alone, and a child process checks it.

The learner's code is never imported here. Its file is read as text, and runs in a process of its own.
"""
