"""Experiments that take long; `experiment.py` beside this folder is their command.

An experiment is a module with two functions. ``units(quick)`` gives pieces of
work by their names: functions of a `Store`, which they ask for cells. Two processes do
them, so units share no cell that takes long. ``report(store, folder, quick)`` writes
tables and figures when all cells are there.
"""
