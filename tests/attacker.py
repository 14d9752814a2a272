"""Somebody who swaps entries of a file system for others, again and again, while a test goes on: `Attacker()`."""

import ctypes
import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
_AT_FDCWD, _EXCHANGE = -100, 2


class Attacker:
    """A process that swaps the two paths it was given last, and tells how often it did when it is given others."""

    def __init__(self):
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.attacker"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._child.stdout.readline()

    def swap(self, one, two):
        """From now on swap these; answers once it began."""
        self._tell([os.fspath(one), os.fspath(two)])
        self._child.stdout.readline()

    def rest(self):
        """Stop, and answer how many swaps there were since the last time."""
        self._tell(None)
        return int(self._child.stdout.readline())

    def close(self):
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait(30)

    def _tell(self, what):
        self._child.stdin.write(json.dumps(what) + "\n")
        self._child.stdin.flush()


def exchange(libc, one, two):
    """Swap two entries in one step, or in three where the system cannot."""
    swap = getattr(libc, "renameat2", None)
    if swap is not None and swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), _EXCHANGE) == 0:
        return
    spare = one + ".spare"
    os.rename(one, spare)
    try:
        os.rename(two, one)
    finally:
        os.rename(spare, two)


def main():
    libc, pair, swaps = ctypes.CDLL(None), None, 0
    print("ready", flush=True)
    while True:
        os.set_blocking(0, pair is None)
        line = sys.stdin.readline()
        if line:
            pair, told = json.loads(line), "swapping" if pair is None else swaps
            print(told, flush=True)
            swaps = 0
        elif pair is None:
            return
        else:
            with suppress(OSError):
                exchange(libc, *pair)
                swaps += 1
            if random.random() < 0.1:  # at times either stays a while
                time.sleep(random.random() * 0.002)


if __name__ == "__main__":
    main()
