"""Says hello to the referee, then to whoever reads the pipe named on its command line; waits."""

import os
import sys

from knavery.client import connect

with connect(os.environ["KNAVERY_ADDRESS"], os.environ["KNAVERY_TOKEN"]) as stream:
    envelopes = iter(stream)
    next(envelopes)
    with open(sys.argv[1], "w") as pipe:
        pipe.write("here\n")
    for _ in envelopes:
        pass
