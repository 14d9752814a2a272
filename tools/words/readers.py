"""From the files of a package to texts and pairs: sentences, paragraphs, and which heading or word they belong to."""

import collections
import gzip
import html.parser
import json
import random
import re
import struct
import zlib
from collections.abc import Iterator

import everyday

Pair = tuple[str, str]  # what is asked for (a heading, a word) and what answers it; the first may be empty

TITLES = frozenset(
    {"Mr", "Mrs", "Miss", "Dr", "Sir", "God", "Christmas", "English", "French", "London", "Sunday", "Monday"}
)
SENTENCE = re.compile(r"(?<=[.!?])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)[\"')\]]?\s+(?=[\"'(]?[A-Z0-9`])")


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def usable(text: str) -> bool:
    letters = sum(c.isascii() and c.isalpha() for c in text)
    return len(text) >= 12 and letters > 0.62 * len(text) and 3 <= text.count(" ") + 1 <= 200


def chunks(paragraph: str, rng: random.Random) -> Iterator[str]:
    """A paragraph as one to three sentences at a time, and sometimes whole."""
    sentences = SENTENCE.split(squeezed(paragraph))
    at = 0
    while at < len(sentences):
        take = rng.choice((1, 1, 2, 2, 3))
        piece = " ".join(sentences[at : at + take])
        at += take
        if len(piece) <= 500:
            yield piece
    if len(sentences) > 3 and len(paragraph) < 1200 and rng.random() < 0.3:
        yield squeezed(paragraph)


class Sections(html.parser.HTMLParser):
    """Headings and the paragraphs under them; code blocks, menus and scripts are left out."""

    SKIP = frozenset({"script", "style", "pre", "nav", "head", "table", "footer", "header"})
    BLOCK = frozenset({"p", "li", "dd", "dt", "div", "section", "td", "blockquote"})
    HEAD = frozenset({"h1", "h2", "h3", "h4", "h5"})

    def __init__(self) -> None:
        super().__init__()
        self.skip, self.heading, self.title, self.text = 0, False, "", ""
        self.found: list[Pair] = []

    def flush(self) -> None:
        text, self.text = squeezed(self.text), ""
        if self.heading:
            self.title = text.rstrip("¶#").strip()
        elif usable(text):
            self.found.append((self.title, text))

    def handle_starttag(self, tag, attrs) -> None:
        if tag in self.SKIP:
            self.skip += 1
        elif tag in self.HEAD:
            self.flush()
            self.heading = True
        elif tag in self.BLOCK:
            self.flush()

    def handle_endtag(self, tag) -> None:
        if tag in self.SKIP:
            self.skip = max(0, self.skip - 1)
        elif tag in self.HEAD:
            self.flush()
            self.heading = False
        elif tag in self.BLOCK:
            self.flush()

    def handle_data(self, data) -> None:
        if not self.skip:
            self.text += data


def html_pages(paths: list[str], rng: random.Random) -> Iterator[Pair]:
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            page = Sections()
            page.feed(file.read())
        page.flush()
        for title, text in page.found:
            for piece in chunks(text, rng):
                yield title, piece


def wordnet(paths: list[str], rng: random.Random) -> Iterator[Pair]:
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("  ") or " | " not in line:
                    continue
                row, gloss = line.split(" | ", 1)
                fields = row.split()
                words = [w.split("(")[0].replace("_", " ") for w in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
                examples = re.findall(r'"([^"]+)"', gloss)
                meaning = squeezed(re.sub(r';?\s*"[^"]*"', "", gloss)).rstrip("; ")
                yield ", ".join(words), meaning
                if len(words) > 1 and rng.random() < 0.5:
                    yield words[0], ", ".join(words[1:])
                for example in examples:
                    yield (meaning if rng.random() < 0.5 else ", ".join(words)), example


def webster(paths: list[str], rng: random.Random) -> Iterator[Pair]:
    for path in paths:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        for word, text in sorted(entries.items()):
            meaning = squeezed(re.split(r"\n\n|(?:^|\s)2\. ", str(text))[0])
            meaning = re.sub(r"^\d\.\s*|\[[^\]]*\]|\(\w+\.\)|\b(?:Obs|R|Archaic)\.", "", meaning)
            if 20 < len(meaning) < 400:
                yield word.lower(), squeezed(meaning)


def speeches(paths: list[str], rng: random.Random) -> Iterator[Pair]:
    for path in sorted(paths):
        if int(re.search(r"/(\d{4})_", path)[1]) < 1945:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            for paragraph in file.read().split("\n"):
                for piece in chunks(paragraph, rng):
                    yield "", piece


def novels(paths: list[str], rng: random.Random) -> Iterator[Pair]:
    """Chunks of novels, their people renamed: else a name that is common today would mean one book."""
    pieces = [
        piece
        for path in paths
        for lines in r_strings(path)
        for paragraph in "\n".join(lines).split("\n\n")
        for piece in chunks(paragraph, rng)
    ]
    capital = collections.Counter(re.findall(r"\b[A-Z][a-z]+\b", " ".join(pieces)))
    small = set(re.findall(r"\b[a-z]+\b", " ".join(pieces)))
    known = {w for w, count in capital.items() if count >= 3 and w.lower() not in small} - TITLES
    renaming, names = random.Random(11), everyday.pools()["name"]
    for piece in pieces:
        called: dict[str, str] = {}
        yield (
            "",
            re.sub(
                r"\b[A-Z][a-z]+\b",
                lambda m, called=called: called.setdefault(m[0], renaming.choice(names)) if m[0] in known else m[0],
                piece,
            ),
        )


def r_strings(path: str) -> Iterator[list[str]]:
    """The strings of an R data file: each object is its length and a zlib stream; each string a length and its bytes."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 5 < len(data):
        try:
            inflater = zlib.decompressobj()
            raw = inflater.decompress(data[at + 4 :])
            at = len(data) - len(inflater.unused_data)
        except zlib.error:
            at += 1
            continue
        lines, here = [], 0
        while (here := raw.find(b"\x00\x04\x00\x09", here)) >= 0:
            size = struct.unpack(">i", raw[here + 4 : here + 8])[0]
            lines.append(raw[here + 8 : here + 8 + max(size, 0)].decode("utf-8", "replace") if size < 500 else "")
            here += 8
        yield lines


def jargon(paths: list[str], rng: random.Random) -> Iterator[Pair]:
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            text = file.read()
        for block in re.split(r"\n   (?=\S)", text):
            word, _, rest = block.partition(":")
            for paragraph in (rest if 0 < len(word) < 40 else block).split("\n\n"):
                for piece in chunks(paragraph, rng):
                    yield (word.strip() if 0 < len(word) < 40 else ""), piece


def wordlist(paths: list[str]) -> dict[str, int]:
    """Each word with the smallest size of list it stands in: 10 is what everybody says, 70 what few do."""
    sizes: dict[str, int] = {}
    for path in paths:
        found = re.search(r"/(?:english|american|british)-(words|upper|proper-names|contractions)\.(\d+)$", path)
        if not found or int(found[2]) > 70:
            continue
        with open(path, encoding="iso-8859-1") as file:
            for line in file:
                word = line.strip().casefold()
                sizes[word] = min(sizes.get(word, 99), int(found[2]))
    return sizes


READERS = {
    "html": html_pages,
    "wordnet": wordnet,
    "webster": webster,
    "speeches": speeches,
    "novels": novels,
    "jargon": jargon,
}
