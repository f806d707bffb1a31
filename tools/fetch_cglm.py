# SPDX-License-Identifier: MIT
"""Put the headers of cglm into a folder, for builds on systems without a package of cglm: fetch_cglm.py FOLDER."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path
from urllib.request import urlopen

VERSION = "0.9.6"
URL = f"https://github.com/recp/cglm/archive/refs/tags/v{VERSION}.tar.gz"
# The same as in the build recipes of Homebrew, Meson's WrapDB and xmake.
SHA256 = "be5e7d384561eb0fca59724a92b7fb44bf03e588a7eae5123a7d796002928184"


def fetch(folder: Path, url: str = URL, sha256: str = SHA256) -> None:
    """Download the archive, check it against its SHA-256 and unpack its headers into `folder`/include."""
    with urlopen(url) as answer:
        data = answer.read()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        sys.exit(f"{url}: expected SHA-256 {sha256}, got {found}")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            _, _, name = member.name.partition("/")
            if member.isfile() and name.startswith("include/"):
                # The first folder of the archive is named after the version.
                member.name = name
                archive.extract(member, folder, filter="data")


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
