"""`knavery doctor`: what this machine can do, and what to install for the rest."""

import argparse
import json

HELP = "say what this machine can do: which bots it can build and run, and what is missing"
EXAMPLE = "knavery doctor"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    from tournaments.doctor import CHECKS

    width = max(len(check.name) for check in CHECKS)
    rows = []
    for check in CHECKS:
        finding = check.find()
        rows.append(
            {
                "name": check.name,
                "needed": check.needed,
                "ok": finding.ok,
                "found": finding.found,
                "mend": "" if finding.ok else finding.mend,
            }
        )
        if not arguments.json:
            mark = "ok" if finding.ok else "NO" if check.needed else "no"
            mend = f"\n{'':{width + 6}}{rows[-1]['mend']}" if rows[-1]["mend"] else ""
            print(f"{mark}  {check.name:{width}}  {finding.found}{mend}", flush=True)
    well = all(row["ok"] for row in rows if row["needed"])
    if arguments.json:
        print(json.dumps({"format": "knavery.doctor/1", "ok": well, "checks": rows}, indent=2))
    else:
        print("Python bots can run here." if well else "Python bots cannot run here yet.")
    return 0 if well else 1
