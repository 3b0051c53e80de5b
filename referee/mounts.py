"""What of this machine a program in the sandbox is shown, always read-only, and nothing else."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import knavery

ROOT: Final = Path(knavery.__file__).resolve().parents[1]
"""The folder that holds the packages of the running Knavery."""
_SDK: Final = ("knavery", "referee", "sample_bots")
_NEEDS: Final = ("grpc", "google.protobuf", "typing_extensions")
_PREFIX_PARTS: Final = ("bin", "lib", "lib64", "libexec", "share", "include", "pyvenv.cfg")
"""What of a folder that a program was installed to is shown: such a folder may be a project's."""
_TOP: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_STORES: Final = (Path("/nix/store"), Path("/gnu/store"))
_ETC: Final = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf"),
    *("ssl/certs", "ssl/openssl.cnf", "pki", "ca-certificates", "mime.types", "terminfo", "perl"),
)
_ETC_OF_BUILDS: Final = (
    *("resolv.conf", "hosts", "host.conf", "gai.conf", "services", "protocols", "pip.conf"),
    *("npmrc", "maven", "debian_version", "os-release", "python3", "python3.11"),
)


def system() -> list[str]:
    """bwrap's arguments for the system's programs and libraries."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments


def etc(*, building: bool) -> Iterator[Path]:
    """Files of /etc that programs need to start, and to build where the network is there."""
    names = (*_ETC, *(_ETC_OF_BUILDS if building else ()))
    yield from (path for name in names if (path := Path("/etc", name)).exists())
    yield from Path("/etc").glob("java*")


@cache
def python() -> tuple[Path, ...]:
    """The Python that runs Knavery, with its packages and the running SDK."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    found = [part for prefix in prefixes for part in prefix_parts(Path(prefix))]
    found += [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    found += [ROOT / part for part in _SDK]
    found += packages()
    return tuple(path for path in found if path.exists())


def packages() -> list[Path]:
    """The folders that hold the packages which the SDK needs."""
    return [site for need in _NEEDS if (site := _home_of(need))]


def _home_of(module: str) -> Path | None:
    """The folder of packages that a module was installed to."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return None
    place = Path(spec.origin).resolve()
    return place.parents[module.count(".") + (place.name == "__init__.py")]


def prefix_parts(prefix: Path) -> list[Path]:
    """What of an installation's folder its programs need."""
    return [prefix / part for part in _PREFIX_PARTS]


def command(name: str) -> list[Path]:
    """Where a command is, with the installation that it belongs to, if the system's folders do
    not hold it: a JDK or a Node in somebody's home, for example."""
    place = shutil.which(name)
    if place is None:
        return []
    found = [Path(place), Path(place).resolve()]
    return [part for path in found for part in _installation(path)]


def installed(folder: str) -> list[Path]:
    """The installation that a folder of programs belongs to."""
    return _installation(Path(folder, "program"))


def _installation(path: Path) -> list[Path]:
    prefix = path.parent.parent
    home = Path.home()
    if path.parent.name != "bin" or prefix in (home, home / ".local", Path("/")):
        return [path if path.is_file() else path.parent]
    return [prefix / part for part in (*_PREFIX_PARTS, "conf", "jmods", "jre", "pkg", "src")]


def lean(paths: Iterable[Path], shown: Sequence[Path] = (Path("/usr"),)) -> list[Path]:
    """The paths that exist and lie in no other of them, nor in what is shown anyway."""
    found: list[Path] = []
    for path in sorted({Path(os.path.abspath(each)) for each in paths}):
        if path.exists() and not any(path.is_relative_to(each) for each in (*shown, *found)):
            found.append(path)
    return found + [store for store in _STORES if store.is_dir()]


def folders_above(paths: Iterable[Path]) -> list[Path]:
    """Every folder above these, the highest first: made by hand, for bwrap makes its own so that
    nobody but root may pass."""
    above = {each for path in paths for each in path.parents} - {Path("/")}
    return sorted(above, key=lambda path: (len(path.parts), path))
