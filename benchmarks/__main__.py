"""`make bench`: every figure of docs/performance.md, measured in one run.

`python -m benchmarks [--seconds N] [--rounds N]`: seconds for each line, about (default 5), and
rounds of the tournament whose starts are weighed (default 6, some ten minutes).
"""

import argparse

from benchmarks import audits, checks, end_to_end, machine, pages, playouts, starts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each line, about")
    parser.add_argument("--rounds", type=int, default=6, help="of the tournament of twelve bots")
    arguments = parser.parse_args()
    seconds = arguments.seconds
    print(machine.described(), end="\n\n")
    print("Random playouts, decisions per second of processor time")
    playouts.report(seconds)
    print()
    end_to_end.report(seconds)
    print()
    checks.report()
    print()
    pages.report()
    print()
    audits.report()
    print()
    starts.report(arguments.rounds)


if __name__ == "__main__":
    main()
