"""A bot that plays its lowest card after some thought, and so mostly has a decision open."""

import time

from knavery import Bot, serve

THOUGHT = 0.005
"""Seconds for each decision."""


class Pensive(Bot):
    def play(self, view):
        time.sleep(THOUGHT)
        return min(view.legal)


if __name__ == "__main__":
    serve(Pensive)
