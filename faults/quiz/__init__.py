"""The self-test: questions in our own words, every figure of an answer computed when it is asked."""
