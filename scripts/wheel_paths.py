"""Fails if a wheel contains paths of its build machine: `wheel_paths.py WHEEL FOLDER...`."""

import sys
import zipfile

wheel, *folders = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    contents = {name: archive.read(name) for name in archive.namelist()}
found = [
    f"{name} names {folder}" for name, content in contents.items() for folder in folders if folder.encode() in content
]
if found:
    sys.exit("\n".join(found))
