"""How often recall finds what answers: R@k, nDCG@10 and MRR on public sets, for us and for what else could be used.

    python bench/quality.py DIRECTORY [--rest] [--with minilm]

The directory holds the sets as they can be had: LoCoMo (github.com/snap-research/locomo, CC BY-NC 4.0) as
`locomo*.json` or `.json.xz`, XQuAD (github.com/google-deepmind/xquad, CC BY-SA 4.0) as `xquad-LANGUAGE*.json[.xz]`.
Nothing of them is copied. Settings were chosen on the first three conversations; `--rest` measures the others alone.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from commonplace.index.sidecar import Sidecar
from commonplace.note.note import Note
from commonplace.note.prose import derived_description
from commonplace.note.slug import slugify
from commonplace.recall.finder import Changes, Finder
from commonplace.recall.lexical import Text
from commonplace.recall.notes import text_of
from commonplace.recall.semantic import StaticWords

CHOSEN_ON = 3
DEPTH = 10


class Question(NamedTuple):
    text: str
    answers: frozenset[str]
    today: date


class Task(NamedTuple):
    """Texts to search, and questions with the keys of what answers them."""

    texts: list[Text]
    questions: list[Question]


Ranker = Callable[[Task], Callable[[Question], Sequence[str]]]


# --- the sets ----------------------------------------------------------------------------------------------------


def loaded(path: Path) -> object:
    raw = path.read_bytes()
    return json.loads(lzma.decompress(raw) if path.suffix == ".xz" else raw)


def text(key: str, said: str, session: str = "", day: str = "") -> Text:
    """As a note that was saved without a description: its first sentence stands above it."""
    about = derived_description(said)
    born = date.fromisoformat(day) if day else None
    return text_of(Note(name=slugify(about), description=about, body=said, session=session, created=born))._replace(
        key=key
    )


def locomo(path: Path, view: str, part: slice) -> Iterator[Task]:
    for talk in loaded(path)[part]:
        turns, days = {}, {}
        for name, said in talk["conversation"].items():
            if found := re.fullmatch(r"session_(\d+)", name):
                turns[found[1]] = said
                at = talk["conversation"][f"{name}_date_time"]
                days[found[1]] = datetime.strptime(at, "%I:%M %p on %d %B, %Y").date()
        texts, evidence = list(texts_of(talk, view, turns, days)), {}
        for key, _, source in texts:
            for dialogue in source:
                evidence.setdefault(dialogue, set()).add(key)
        questions = []
        for asked in talk["qa"]:
            named = {part for said in asked.get("evidence", []) for part in re.findall(r"D\d+:\d+", str(said))}
            answers = frozenset(key for dialogue in named for key in evidence.get(dialogue, ()))
            if asked["category"] != 5 and answers:
                questions.append(Question(asked["question"], answers, max(days.values())))
        yield Task([made for _, made, _ in texts], questions)


def texts_of(talk: dict, view: str, turns: dict, days: dict) -> Iterator[tuple[str, Text, list[str]]]:
    """Key, text, and the dialogue turns it stands for."""
    for number, said in turns.items():
        session, day = f"D{number}", days[number].isoformat()
        all_turns = [turn["dia_id"] for turn in said]
        if view == "turns":
            for turn in said:
                yield turn["dia_id"], text(turn["dia_id"], line(turn), session, day), [turn["dia_id"]]
        elif view == "observations":
            observed = talk["observation"].get(f"session_{number}_observation", {})
            people = observed.items() if isinstance(observed, dict) else observed
            for at, (fact, source) in enumerate(pair for _, facts in people for pair in facts):
                key = f"{session}/{at}"
                yield key, text(key, fact, session, day), re.findall(r"D\d+:\d+", str(source))
        elif view == "summaries":
            if summary := talk["session_summary"].get(f"session_{number}_summary"):
                yield session, text(session, summary, "", day), all_turns
        else:
            whole = "\n".join(map(line, said))
            yield session, text(session, whole, "", day), all_turns


def line(turn: dict) -> str:
    """A turn as its reader saw it: who says what, and what the picture shows."""
    shown = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{shown}"


def xquad(path: Path) -> Iterator[Task]:
    texts, questions = [], []
    for article in loaded(path)["data"]:
        for paragraph in article["paragraphs"]:
            key = f"P{len(texts)}"
            texts.append(text(key, paragraph["context"]))
            questions += [Question(qa["question"], frozenset((key,)), date(2026, 1, 1)) for qa in paragraph["qas"]]
    yield Task(texts, questions)


# --- what ranks --------------------------------------------------------------------------------------------------


class Once:
    """A corpus handed over once."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.waiting = list(texts)
        self.by_key = {each.key: each for each in texts}

    def waits(self, db: sqlite3.Connection) -> bool:
        return bool(self.waiting)

    def changes(self, db: sqlite3.Connection, most: int) -> Changes:
        some, self.waiting = self.waiting[:most], self.waiting[most:]
        return Changes(tuple(some), ())

    def texts(self, db: sqlite3.Connection, keys: Sequence[str]) -> list[Text]:
        return [self.by_key[key] for key in keys]

    def begin_again(self, db: sqlite3.Connection) -> None: ...


def ours(encoder: object) -> Ranker:
    def ranker(task: Task) -> Callable[[Question], Sequence[str]]:
        finder = Finder(
            Sidecar(None), Once(task.texts), encoder=lambda: encoder, quick=isinstance(encoder, StaticWords)
        )
        return lambda asked: [placed.found.key for placed in finder.find(asked.text, asked.today).placed]

    return ranker


def grep(task: Task) -> Callable[[Question], Sequence[str]]:
    """As an agent greps: texts by how many of the question's words they hold, letter for letter."""
    low = [(each.key, each.body.lower()) for each in task.texts]

    def rank(asked: Question) -> list[str]:
        words = [word for word in re.findall(r"\w+", asked.text.lower()) if len(word) > 2]
        counts = [(-sum(word in said for word in words), key) for key, said in low]
        return [key for count, key in sorted(counts) if count]

    return rank


def plain_bm25(task: Task) -> Callable[[Question], Sequence[str]]:
    held = [Counter(re.findall(r"\w+", each.body.lower())) for each in task.texts]
    mean = sum(map(Counter.total, held)) / max(len(held), 1)
    within = Counter(word for words in held for word in words)

    def score(words: Counter[str], asked: Sequence[str]) -> float:
        base = 1.2 * (0.25 + 0.75 * words.total() / mean)
        idf = {word: math.log(1 + (len(held) - within[word] + 0.5) / (within[word] + 0.5)) for word in asked}
        return sum(idf[word] * words[word] * 2.2 / (words[word] + base) for word in asked if word in words)

    def rank(asked: Question) -> list[str]:
        words = list(dict.fromkeys(re.findall(r"\w+", asked.text.lower())))
        scores = [(-score(words_of, words), each.key) for each, words_of in zip(task.texts, held, strict=True)]
        return [key for value, key in sorted(scores) if value]

    return rank


def fts5_porter(task: Task) -> Callable[[Question], Sequence[str]]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(key UNINDEXED, body, tokenize = 'porter unicode61')")
    db.executemany("INSERT INTO t VALUES (?, ?)", [(each.key, each.body) for each in task.texts])

    def rank(asked: Question) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", asked.text)))
        return [key for (key,) in db.execute("SELECT key FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 50", (match,))]

    return rank


# --- the figures -------------------------------------------------------------------------------------------------


def figures(tasks: Sequence[Task], ranker: Ranker) -> dict[str, float]:
    sums, count = Counter[str](), 0
    for task in tasks:
        rank = ranker(task)
        for asked in task.questions:
            found = [key in asked.answers for key in list(rank(asked))[:DEPTH]]
            count += 1
            for depth in (1, 5, 10):
                sums[f"R@{depth}"] += sum(found[:depth]) / len(asked.answers)
            ideal = sum(1 / math.log2(at + 2) for at in range(min(len(asked.answers), DEPTH)))
            sums["nDCG@10"] += sum(hit / math.log2(at + 2) for at, hit in enumerate(found)) / ideal
            sums["MRR"] += next((1 / at for at, hit in enumerate(found, 1) if hit), 0.0)
    return {name: 100 * sums[name] / max(count, 1) for name in ("R@1", "R@5", "R@10", "nDCG@10", "MRR")}


def rankers(extra: str) -> dict[str, Ranker]:
    all_of_them: dict[str, Ranker] = {
        "grep": grep,
        "BM25, words as they stand": plain_bm25,
        "FTS5, porter": fts5_porter,
        "ours, words alone": ours(None),
        "ours": ours(StaticWords()),
    }
    if extra == "minilm":
        from commonplace.adapters.minilm import MiniLM

        all_of_them["ours, minilm"] = ours(MiniLM(tempfile.mkdtemp()))
    return all_of_them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rest", action="store_true", help="only the conversations no setting was chosen on")
    parser.add_argument("--with", dest="extra", default="", help="minilm")
    given = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"{date.today()}, commit {commit}; percent; LoCoMo without adversarial questions\n")
    part = slice(CHOSEN_ON, None) if given.rest else slice(None)
    tasks: dict[str, list[Task]] = {}
    for path in sorted(given.directory.glob("locomo*.json*")):
        for view in ("turns", "observations", "summaries", "sessions"):
            tasks[f"{path.name.split('.')[0]} {view}"] = list(locomo(path, view, part))
    for path in sorted(given.directory.glob("xquad-*.json*")):
        tasks[path.name.split(".")[0]] = list(xquad(path))
    if not tasks:
        sys.exit(f"no locomo*.json or xquad-*.json in {given.directory}; see the head of this file")
    for what, some in tasks.items():
        count = sum(len(task.questions) for task in some)
        print(f"{what}: {sum(len(task.texts) for task in some):,} texts, {count:,} questions")
        for name, ranker in rankers(given.extra).items():
            began = time.perf_counter()
            row = figures(some, ranker)
            each = (time.perf_counter() - began) / max(count, 1) * 1000
            print(f"  {name:28}" + "".join(f"{word} {value:5.1f}  " for word, value in row.items()) + f"{each:6.1f} ms")
        print()


if __name__ == "__main__":
    main()
