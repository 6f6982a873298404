"""Compresses the files of a wheel better, by zopfli: the same files, under the same names and hashes.

    python repack.py WHEEL
"""

import os
import sys
import zipfile

from zopfli import ZipFile

wheel = sys.argv[1]
smaller = f"{wheel}.smaller"
with zipfile.ZipFile(wheel) as before, ZipFile(smaller, "w", zipfile.ZIP_DEFLATED, iterations=1) as after:
    for info in before.infolist():
        after.writestr(info, before.read(info), zipfile.ZIP_DEFLATED)
os.replace(smaller, wheel)
