"""The whole recipe: packages -> texts -> the teacher's vectors -> rows -> words.bin. `python make.py DIR`; see README.md."""

import os
import sys

import numpy as np
import torch
from fetch import fetch
from gather import gather
from pack import packed, quantised
from sources import SOURCES
from teacher import own_words, teach
from train import Data, Recipe, Trainer

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "src"))
from commonplace.recall.semantic import TABLE, _readings, words  # noqa: E402 - found by the line above

NAME = "words-1"  # count up when the rows change: vectors kept under the old name are made again
NOTICE = """# What the table of words was made from

`words.bin` holds a row of numbers for each of its English words. The rows were trained so that the sum over a text points
where all-MiniLM-L6-v2 (Apache-2.0) puts the text. It was asked about sentences in the packages below, about words in the
lists below, and about sentences made from patterns written for this project. No text of theirs is in the table. The recipe
is in `tools/words` of the source repository.

WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. SCOWL is copyright 2000-2018 by Kevin Atkinson.
"""
SHIPPED = 36_000  # with 128 columns: 4.9 MB


def main(folder: str) -> None:
    torch.set_num_threads(int(os.environ.get("THREADS", "1")))
    os.makedirs(folder, exist_ok=True)
    fetch(folder)
    if not os.path.exists(os.path.join(folder, "gathered.json")):
        gather(folder, own_words(), words, _readings)
    teach(folder)
    data = Data(folder, words)
    rows = Trainer(data, Recipe()).run()
    np.save(os.path.join(folder, "rows.npy"), rows)
    write(data.words, rows, TABLE)
    notice(TABLE.removesuffix(".bin") + ".NOTICE.md")


def write(vocabulary: list[str], rows: np.ndarray, where: str) -> None:
    kept = quantised(rows[:SHIPPED])
    table = packed(NAME, {word: bytes(row) for word, row in zip(vocabulary, kept, strict=False)}, rows.shape[1])
    with open(where, "wb") as file:
        file.write(table)
    print(f"{where}: {len(table)} bytes")


def notice(where: str) -> None:
    """Every text that was read, with its licence, beside the table."""
    lines = [NOTICE, "| package | version | registry | licence | copyright |", "|---|---|---|---|---|"]
    lines += [f"| {s.package} | {s.version} | {s.registry} | {s.licence} | {s.copyright} |" for s in SOURCES]
    with open(where, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
