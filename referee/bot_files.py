"""What a bot consists of: its files, their hash, and copies of them (design section 8)."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from referee.process import printable

MAX_BYTES: Final = 200_000_000
"""The most that a bot's files may hold together."""
MAX_FILES: Final = 20_000
"""The most files that a bot may have."""
LEFT_OUT: Final = (".git", ".venv", "__pycache__", "node_modules", "target")
"""Names that are never part of a bot."""
REQUIREMENTS: Final = "requirements.txt"
"""The one file that belongs to a single Python file beside it."""


OPEN: Final = 0o755
"""The permissions of a folder that everybody may pass."""


class BotError(Exception):
    """A bot that cannot be used: what is wrong, where, and the mend, for its author to read."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


@dataclass(frozen=True, slots=True)
class BotFile:
    """A file, or a link within the bot's folder; `name` is its path there, with slashes."""

    name: str
    path: Path
    size: int = 0
    executable: bool = False
    link: str | None = None


def cache_root() -> Path:
    """Where bots are kept: KNAVERY_CACHE, or knavery in XDG_CACHE_HOME, or in ~/.cache."""
    if place := os.environ.get("KNAVERY_CACHE"):
        return Path(place).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "knavery"


def bot_files(source: Path, exclude: Sequence[str] = ()) -> tuple[BotFile, ...]:
    """All files of a bot in the order of their names, without those that match `exclude`.

    A pattern, as of a shell, fits a name at any depth or a whole path. Raises BotError for files
    that cannot be copied or hashed, or are too many or too large; OSError.
    """
    if source.is_dir():
        found = _below(source, source.resolve(), "", (*LEFT_OUT, *exclude))
    else:
        beside = source.with_name(REQUIREMENTS)
        found = (_file(path, path.name) for path in (source, beside) if path.is_file())
    return _bounded(found, source)


def _below(folder: Path, root: Path, prefix: str, left_out: Sequence[str]) -> Iterator[BotFile]:
    for path in folder.iterdir():
        name = prefix + path.name
        if any(fnmatchcase(path.name, out) or fnmatchcase(name, out) for out in left_out):
            continue
        if path.is_symlink():
            yield BotFile(name, path, link=_link_within(root, path))
        elif path.is_dir():
            yield from _below(path, root, name + "/", left_out)
        elif path.is_file():
            yield _file(path, name)
        else:
            raise BotError(f"{path}: is neither a file nor a folder: remove it, or exclude it")


def _file(path: Path, name: str) -> BotFile:
    status = path.stat()
    return BotFile(name, path, status.st_size, executable=bool(status.st_mode & 0o100))


def _link_within(root: Path, path: Path) -> str:
    """The target of a link, if it is a path from the link to a place in the bot's folder."""
    target = os.readlink(path)
    try:
        inside = (path.parent / target).resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a circle of links
        inside = False
    if os.path.isabs(target) or not inside:
        raise BotError(
            f"{path}: links to {target}; a link must be relative and stay in the folder:"
            " copy what it means, or exclude it"
        )
    return target


def _bounded(found: Iterable[BotFile], source: Path) -> tuple[BotFile, ...]:
    files: list[BotFile] = []
    size = 0
    for file in found:
        files.append(file)
        size += file.size
        if len(files) > MAX_FILES or size > MAX_BYTES:
            raise BotError(
                f"{source}: holds more than {MAX_FILES:,} files or {MAX_BYTES // 1_000_000} MB:"
                " exclude in bot.toml what the bot does not need"
            )
    return tuple(sorted(files, key=lambda file: os.fsencode(file.name)))


def version(files: Iterable[BotFile]) -> str:
    """The hash of a bot: SHA-256 over each file's name, kind and contents, in hexadecimal."""
    whole = hashlib.sha256()
    for file in files:
        name = os.fsencode(file.name)
        whole.update(b"%d:%s%s" % (len(name), name, _kind(file)))
        whole.update(_contents_hash(file))
    return whole.hexdigest()


def _kind(file: BotFile) -> bytes:
    if file.link is not None:
        return b"l"
    return b"x" if file.executable else b"-"


def _contents_hash(file: BotFile) -> bytes:
    if file.link is not None:
        return hashlib.sha256(os.fsencode(file.link)).digest()
    with file.path.open("rb") as contents:
        return hashlib.file_digest(contents, "sha256").digest()


def copy(files: Iterable[BotFile], folder: Path) -> None:
    """Copy a bot's files into a new folder."""
    folder.mkdir()
    for file in files:
        target = folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.link is not None:
            target.symlink_to(file.link)
        else:
            shutil.copyfile(file.path, target)
            target.chmod(0o755 if file.executable else 0o644)


def seal(folder: Path) -> None:
    """Let nobody write to anything in a folder, nor to the folder, and everybody read it."""
    _allow(folder, 0o555)


def show(folder: Path) -> None:
    """Let everybody read all that is in a folder, whatever the umask: bots may have users of their
    own. Who may come as far as the folder is for those above it to say."""
    _allow(folder, 0o777)


def _allow(folder: Path, most: int) -> None:
    for place, _, names in os.walk(folder, topdown=False):
        for path in (*(Path(place, name) for name in names), Path(place)):
            if not path.is_symlink():
                mode = path.stat().st_mode
                path.chmod((mode | (0o555 if mode & 0o100 else 0o444)) & most)


def remove(folder: Path) -> None:
    """Remove a folder, sealed or not, if it is there."""
    for place, names, _ in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in names)):
            if not path.is_symlink():
                path.chmod(0o755)
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, made if it is missing, that no other process and no other thread holds."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
