"""Makes the Python code of the protocol: `python protos/generate.py [FOLDER]`.

FOLDER (default: the checkout) gets `knavery/v1/*_pb2.py` and `.pyi`. Only messages: the stream
is served and dialled by `referee/server.py` and `knavery/client.py` without generated stubs,
which would tie the package to one version of grpcio.
"""

import sys
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).resolve().parent


def generate(folder: Path) -> None:
    """Writes the code below `folder`; RuntimeError if protoc refuses a file."""
    sources = sorted(str(path.relative_to(HERE)) for path in HERE.glob("knavery/v1/*.proto"))
    outputs = [f"--python_out={folder}", f"--pyi_out={folder}"]
    if protoc.main(["protoc", f"-I{HERE}", *outputs, *sources]) != 0:
        raise RuntimeError("protoc refused the files above")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent)
