"""`make bench`: every figure of docs/performance.md, measured in one run.

`python -m benchmarks [--seconds N]`: seconds for each line, about (default 5).
"""

import argparse

from benchmarks import end_to_end, machine, playouts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each line, about")
    seconds = parser.parse_args().seconds
    print(machine.described(), end="\n\n")
    print("Random playouts, decisions per second of processor time")
    playouts.report(seconds)
    print()
    end_to_end.report(seconds)


if __name__ == "__main__":
    main()
