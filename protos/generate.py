"""Makes the code of the protocol: `python protos/generate.py [FOLDER]`.

FOLDER (default: the checkout) gets `knavery/v1/*_pb2.py` and `.pyi`. Only messages: the stream
is served and dialled by `referee/streams.py` and `knavery/client.py` without generated stubs,
which would tie the package to one version of grpcio. Without FOLDER the templates of other
languages get their copies of the protocol too, and where there is a `go`, Go's code is made anew.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent / "sample_bots"
GO_TOOLS = (
    "google.golang.org/protobuf/cmd/protoc-gen-go@v1.33.0",
    "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.3.0",
)
"""As old as the versions in the template's go.mod, so that they build with an old Go."""
GO_MODULE = "knavery-bot"


def sources() -> list[str]:
    """The protocol's files, as protoc wants them named."""
    return sorted(str(path.relative_to(HERE)) for path in HERE.glob("knavery/v1/*.proto"))


def generate(folder: Path) -> None:
    """Writes Python's code below `folder`; RuntimeError if protoc refuses a file."""
    _protoc(f"--python_out={folder}", f"--pyi_out={folder}")


def copy_to_templates() -> None:
    """Gives each template, which is a folder with such a copy, the protocol as it is."""
    for copy in TEMPLATES.glob("*/protos"):
        for name in sources():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HERE / name, target)


def generate_go(folder: Path, tools: Path) -> None:
    """Writes Go's code into `folder`/knaverypb; its plugins are built into `tools`."""
    for tool in GO_TOOLS:
        environment = os.environ | {"GOBIN": str(tools)}
        subprocess.run(["go", "install", tool], env=environment, check=True)
    options = [f"module={GO_MODULE}", *(f"M{name}={GO_MODULE}/knaverypb" for name in sources())]
    for plugin in ("go", "go-grpc"):
        _protoc(
            f"--plugin={tools}/protoc-gen-{plugin}",
            f"--{plugin}_out={folder}",
            *(f"--{plugin}_opt={option}" for option in options),
        )


def _protoc(*options: str) -> None:
    if protoc.main(["protoc", f"-I{HERE}", *options, *sources()]) != 0:
        raise RuntimeError("protoc refused the files above")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        generate(Path(sys.argv[1]))
    else:
        generate(HERE.parent)
        copy_to_templates()
        if shutil.which("go"):
            generate_go(TEMPLATES / "go", HERE.parent / ".cache/go-tools")
