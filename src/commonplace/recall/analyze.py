"""The one analyzer: what terms a text is found by, for notes and queries alike.

A word is folded (case, width, accents) and stemmed; an identifier gives itself and its parts; scripts written without
spaces give pairs of characters. It knows texts only: not what holds the terms, nor how they are weighed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from commonplace.named import NamedTuple

# Raise it whenever a text would give other terms: what was made of it before is made again.
_VERSION = 2
ENGLISH = "english"
# A term is no longer than this: longer runs are hashes and base64, found by their beginning.
_TERM_CHARS = 64
# More of a text than this is not analysed: a foreign file may be any size.
_TEXT_CHARS = 200_000
# A query longer than this is a pasted log, whose words repeat.
QUERY_CHARS = 20_000
# As many words as so many characters can hold; one that stands for eighteen is also only one.
_QUERY_CHUNKS = QUERY_CHARS // 2

# Vowel signs and other marks that belong to a word, which `\w` does not count.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece\u1000-\u1049\u104c-\u109f\u1780-\u17d3\u3099\u309a"
)
# Every mark Unicode may have to put in order stands in no word by itself, but for two of Kana's at half width.
_HEAP = r"((?:[^\w\s]|[\uff9e\uff9f]){30})(?:[^\w\s]|[\uff9e\uff9f])+"
# Scripts written without spaces, or whose particles are joined on: Thai, Lao, Myanmar, Khmer, Kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
    "\U00020000-\U0003ffff"
)
# Signs over and under letters that people leave out: accents, Hebrew points, Arabic vowels.
_ACCENTS = "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]"
# Pictures people write with: each is a word.
_PICTURES = "[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
# Quotation marks and dashes of printed English: without them most texts are ASCII, which is read quicker.
_TYPOGRAPHY: dict[int, str | None] = {
    **dict.fromkeys(map(ord, "“”„«»…—–•·→"), " "),
    **dict.fromkeys(map(ord, "’‘ʼ"), "'"),
    **dict.fromkeys(map(ord, "\u00ad\u200d\u2060\ufeff"), None),  # where a word may break, or must not
}

# (Patterns are compiled where they are first met; most queries meet the first of them only.)
# What stands together: words, and what joins their parts (`path/to/file.py`, `a.b-c`, `it's`, `C++`).
_ASCII_CHUNK = re.compile(r"[A-Za-z0-9_]+(?:[-./:@'&][A-Za-z0-9_]+)*(?:\+\+|#(?![A-Za-z0-9_]))?")
_CHUNK = rf"[\w{_MARKS}]+(?:[-./:@'&][\w{_MARKS}]+)*(?:\+\+|#(?!\w))?|{_PICTURES}"
_JOINTS = r"[-./:@&_]+"
# Joints between digits stay, as dots: 1.2.3 is not 12.3, and 2026/05/15 is 2026-05-15.
_LOOSE_JOINTS = r"(?<![0-9])[-./:@&_']+|[-./:@&_']+(?![0-9])"
# `parseHTTPResponse` is parse HTTP Response, `python3` is python 3; `v1`, `k8s` and `APIs` are one.
_HUMPS = (
    r"[A-Za-z]{1,2}[0-9]+[a-z]?(?![A-Za-z0-9])|[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+"
)
# Articles that lost their vowel: `l'eau`, `dell'arte`, `qu'il`.
_ELIDED = r"^(?:[ldjmtsnc]|qu|dell|nell|sull|dall|all|un)'(?=\w\w)"
# Which stemmer a script of its own tells, by the first letter that is not ASCII.
_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"), ("\u1f00", "\u1fff", "greek"), ("\u0400", "\u052f", "russian"),
    ("\u0531", "\u058f", "armenian"), ("\u0600", "\u06ff", "arabic"), ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)  # fmt: skip


class Word(NamedTuple):
    """A word of a query: as it was written, and the terms any of which is it."""

    shown: str
    terms: tuple[str, ...]
    part_of: str = ""
    """The identifier it is a part of."""


class _Folds(dict[int, str]):
    """What each character is looked for as: small, without accents, in its plain form. Worked out once each."""

    def __missing__(self, code: int) -> str:
        from unicodedata import normalize

        self[code] = normalize("NFC", re.sub(_ACCENTS, "", normalize("NFKD", chr(code)))).casefold()
        return self[code]


# Letters that are no other letter with a sign, and that people write as one where they have no key for them.
_FOLDS = _Folds({ord("’"): "'", **dict(zip(map(ord, "đðłøıæœ"), ("d", "d", "l", "o", "i", "ae", "oe"), strict=True))})


def folded(text: str) -> str:
    """A text as it is looked through: neither case nor accents tell words apart."""
    return text.lower() if text.isascii() else text.casefold().translate(_FOLDS)


class Analyzer:
    """The terms of texts in one language. What a chunk gives is remembered: the next text has the same words."""

    # The words of ten thousand notes; a long-lived process begins again rather than grow.
    _MOST = 200_000

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = language
        from Stemmer import Stemmer  # what opens a notebook, or writes, stems nothing

        self.stem: Callable[[str], str] = Stemmer(language, 0).stemWord
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, as often as they stand there."""
        return self.of_all(chunks(text))

    def of_all(self, chunks: Iterable[str]) -> list[str]:
        """The terms of what `chunks` found in a text."""
        out: list[str] = []
        known = self._known
        for chunk in chunks:
            terms = known.get(chunk)
            if terms is None:
                if len(known) >= self._MOST:
                    known.clear()
                terms = known[chunk] = tuple(self._all_of(chunk))
            out += terms
        return out

    def _all_of(self, chunk: str) -> list[str]:
        """What a chunk is kept as: in other languages also as English has it, whose words stand in all of them."""
        own = list(self.of(chunk, tails=True))
        if self.language == ENGLISH:
            return own
        has = set(own)
        return own + [term for term in analyzer(ENGLISH).of(chunk) if term not in has]

    def of(self, chunk: str, *, tails: bool = False) -> Iterator[str]:
        """The terms of one chunk. `tails` adds the last character of a run, so that each character begins a term."""
        if _is_plain(chunk):
            yield self.stem(chunk[:_TERM_CHARS])
        elif chunk.isascii():
            yield from map(self._term, _identified(chunk))
        else:
            for run in re.findall(f"[{_UNSPACED}]+|[^{_UNSPACED}]+", chunk):
                yield from _pairs(run, tails=tails) if is_unspaced(run) else self._of_word(run)

    def _of_word(self, run: str) -> Iterator[str]:
        """A word of letters that are not all ASCII, or what stood glued to another script."""
        word = re.sub(_ELIDED, "", run.casefold())
        if word.isascii():
            yield from self.of(run if run.isascii() else word)
            return
        parts = [part for part in re.split(r"[-./:@&_']+", word) if part]
        if len(parts) > 1:
            yield _joined(word).translate(_FOLDS)[:_TERM_CHARS]
        stem = _stemmer_of(word)
        for part in (part[:_TERM_CHARS] for part in parts):
            if stem is None and self.language == ENGLISH:  # whose stemmer knows no accents: they would be in its way
                yield self.stem(part.translate(_FOLDS) or part)
            else:
                yield (stem or self.stem)(part).translate(_FOLDS) or part

    def _term(self, word: str) -> str:
        word = word[:_TERM_CHARS]  # before it is stemmed: some stemmers take the square of a word's length
        return self.stem(word) if word.isalpha() else word


def stems() -> str:
    """What terms depend on, beside the text: by another stemmer's rules they are others."""
    from Stemmer import version

    return f"{_VERSION} {version()}"


def chunks(text: str) -> list[str]:
    """What stands together in a text: words with what joins them."""
    text = text[:_TEXT_CHARS]
    if not text.isascii():
        from unicodedata import normalize

        # Unicode puts the marks on a letter in order, which takes the square of their number.
        text = normalize("NFKC", re.sub(_HEAP, r"\1", text))[:_TEXT_CHARS].translate(_TYPOGRAPHY)
        if not text.isascii():
            return re.findall(_CHUNK, text)
    return _ASCII_CHUNK.findall(text)


def is_unspaced(run: str) -> bool:
    """Whether a run begins in a script whose words have no spaces between them."""
    return not run.isascii() and re.match(f"[{_UNSPACED}]", run) is not None


def asked(query: str, languages: Sequence[str] = (ENGLISH,)) -> list[Word]:
    """The words of a query worth looking for, each once, with the terms each may stand as in any of these languages."""
    found = list(dict.fromkeys(chunks(query[:QUERY_CHARS])[:_QUERY_CHUNKS]))
    naming = _naming(found, languages)
    analyzers = [analyzer(language) for language in languages]
    words: dict[tuple[str, ...], Word] = {}
    for chunk in naming or found:
        parts = iter(("", *_identified(chunk)[1:]) if chunk.isascii() and not _is_plain(chunk) else ())
        for terms in zip(*(each.of(chunk) for each in analyzers), strict=False):
            variants = tuple(dict.fromkeys(filter(None, terms)))
            if variants:
                part = next(parts, "")
                words.setdefault(variants, Word(part or chunk, variants, chunk if part else ""))
    return list(words.values())


def language_of(chunks: Iterable[str]) -> str:
    """The language a text in Latin letters is stemmed in."""
    from commonplace.recall.languages import told_by

    return told_by(set(map(str.casefold, chunks))).name


_ANALYZERS: dict[str, Analyzer] = {}


def analyzer(language: str) -> Analyzer:
    """The analyzer of a language, one for the process."""
    if language not in _ANALYZERS:
        _ANALYZERS[language] = Analyzer(language)
    return _ANALYZERS[language]


def _naming(found: Sequence[str], languages: Sequence[str]) -> list[str]:
    """The chunks that name something: without the small words that ask."""
    from commonplace.recall.languages import small_words

    small = small_words(languages, ascii_only=all(map(str.isascii, found)))
    return [chunk for chunk in found if chunk.casefold() not in small]


def _is_plain(word: str) -> bool:
    """Whether a word is small letters of ASCII, or digits: most are."""
    return word.isascii() and ((word.isalpha() and word.islower()) or word.isdigit())


def _identified(chunk: str) -> list[str]:
    """The whole, written as one, then its parts: `deploy-prod.sh` and `deployProd.sh` give deployprodsh first."""
    chunk = chunk.removesuffix("'s").removesuffix("'S")
    named = re.sub(_ELIDED, "", chunk, flags=re.IGNORECASE).replace("'", "")
    parts = [hump for part in re.split(_JOINTS, named) for hump in _humps(part)]
    whole = _joined(chunk.lower())
    if not whole[-1:].isalnum():  # C++ and C# are not C
        return [whole] if whole else []
    return parts if parts == [whole] else [whole, *parts]


def _joined(chunk: str) -> str:
    """A chunk written as one word; joints between digits stay, all as dots."""
    return re.sub(_JOINTS, ".", re.sub(_LOOSE_JOINTS, "", chunk))


def _humps(part: str) -> list[str]:
    if not part or _is_plain(part):
        return [part] if part else []
    return [hump.lower() for hump in re.findall(_HUMPS, part) if hump.isalnum()]


def _pairs(run: str, *, tails: bool) -> list[str]:
    run = run.translate(_FOLDS)
    if len(run) < 2:
        return [run]
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*pairs, run[-1]] if tails else pairs


def _stemmer_of(word: str) -> Callable[[str], str] | None:
    letter = next(char for char in word if not char.isascii())
    for first, last, language in _SCRIPTS:
        if first <= letter <= last:
            return analyzer(language).stem
    return None
