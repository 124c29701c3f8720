"""The page: one HTML file, made of the files beside this one, in which every fault can be seen."""
