"""Python packages made on the spot, so that pip is tested without a network."""

import zipfile
from pathlib import Path


def wheel(folder: Path, name: str, needs: str = "") -> None:
    """The smallest wheel there is."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as made:
        made.writestr(f"{name}.py", "")
        requires = f"Requires-Dist: {needs}\n" if needs else ""
        made.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}"
        )
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        made.writestr(f"{info}/WHEEL", tags)
        made.writestr(f"{info}/RECORD", "")
