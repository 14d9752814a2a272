"""Claims: what a note's text says of a workspace that can be checked without a model. Pure.

A text is read once, word by word, so any text costs the same for its length. What is named in it may be no claim at all
(a flag of another program, a name in an example): whether it ever was in the workspace is for `verify` to find out.
Paragraphs that tell why are history, and claim nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from commonplace.named import NamedTuple

PATH, LINE, SYMBOL, FLAG, ENV, PACKAGE, REF = KINDS = ("path", "line", "symbol", "flag", "env", "package", "ref")
# A note with more claims than this is a list of files; checking it must cost no more than its neighbours.
MOST_CLAIMS = 40
# No note is longer, nor has one more words, or more that could name something.
_MOST_CHARS, _MOST_WORDS, _MOST_LOOKED_AT = 64 * 1024, 12_000, 2_000
# A name is looked at so often: what stands around it may say more the second time.
_LOOKS = 3
_LONGEST = 200  # of what a repository names: a path
# So many words before and after a name say whether it is denied; so many may stand between it and the word `branch`.
_AROUND, _BETWEEN = 8, 2
_WHY, _NEXT_PART = "**Why:**", "**"
# Taken out of a word, signs like these leave letters and digits where it is spelt as such names are.
_PACKAGE_SIGNS, _REF_SIGNS, _PATH_SIGNS, _FLAG_SIGNS = (
    dict.fromkeys(map(ord, signs)) for signs in ("_./-@", "_./+-", "_. +@*?[]/~-", "_-")
)
_PUNCTUATION = str.maketrans({
    **dict.fromkeys("，；、：", " , "), **dict.fromkeys("。！？…", " . "),
    **dict.fromkeys("（）《》〈〉「」『』【】“”„«»", " "), **dict.fromkeys("—–", " , "), "’": "'",
})  # fmt: skip
_LISTED = ("- ", "* ", "+ ", "#", "> ", "|")
_ENDS = ",;:.!?)"
_TURNS = frozenset("but aber sondern pero sino mais 但 但是 而".split())

# The endings of files that may stand in prose without a folder; `Node.js` is asked for, and not there.
_ENDINGS = frozenset(
    "bash bat c cc cfg clj conf cpp cs css csv cxx dart env ex exs fish go gradle graphql h hpp hs htm html ini ipynb "
    "java jinja js json json5 jsonl jsx kt less lock log lua m md mdx mjs cjs mk ml nix php pl properties proto ps1 py "
    "pyi r rb rs rst sass scala scss sh sql svelte svg swift tf toml ts tsx txt vue xml yaml yml zig zsh".split()
)
_FILES = frozenset(
    "Makefile Dockerfile Containerfile Procfile Gemfile Rakefile Vagrantfile Jenkinsfile Brewfile Pipfile Justfile "
    "justfile LICENSE NOTICE CODEOWNERS README CHANGELOG CONTRIBUTING AUTHORS BUILD WORKSPACE".split()
)
_NO_NAMES = ("true", "false", "null", "none", "nil", "self", "this")
BRANCH, TAG = "branch", "tag"
# What calls the next word, or the one before, a branch or a tag.
_REFS = {
    **dict.fromkeys("branch branches branched zweig zweige zweiges zweigen branche rama ramas 分支".split(), BRANCH),
    **dict.fromkeys("tag tags tagged etiqueta etiquetas etiquetado etiquetada 标签".split(), TAG),
}
_AND = frozenset("and or und oder y o 和 与 及".split())
# Words before a name that say it is not there, must not be, or is only an example; words after it that say so.
_DENIED_BEFORE = (
    " no ", " not ", "n't ", " never ", " nothing ", " without ", " neither ", " instead ", " example ", "e.g.", " like ",
    " such as ", " formerly ", " create ", " creating ", " kein", " nie ", " nicht ", " niemals ", " ohne ", " statt ",
    "beispiel", "z.b.", " anlegen ", " nunca ", " ningún ", " ninguna ", " sin ", " ejemplo ", " jamás ", " crear ",
    "没有", "不要", "别", "不再", "例如", "比如", "禁止", "创建", "新建",
)  # fmt: skip
_DENIED_AFTER = (
    "removed", "deleted", "gone", "dropped", "renamed", "replaced", "no longer", "not exist", "n't exist", "was moved",
    "does not have", "used to", "gibt es nicht", "nicht mehr", "entfernt", "gelöscht", "umbenannt", "existiert nicht",
    "no existe", "eliminado", "eliminada", "eliminó", "borrado", "borrada", "borró", "renombrado", "已删除", "已经删除",
    "删除", "不存在", "不再", "移除", "没有了",
)  # fmt: skip


class Claim(NamedTuple):
    """One thing a text says is there."""

    kind: str
    """One of KINDS, as far as the text tells: `verify` may know better, and says so in its verdict."""
    text: str
    """As it stands in the note."""
    name: str
    """What to look for: a path from the workspace's root, a symbol, a flag, a variable, a package, a branch or tag."""
    number: int = 0  # of a line
    version: str = ""  # of a package
    told: str = ""
    """BRANCH or TAG, where the words beside it call it so."""
    denied: bool = False
    """The words around it say that it is not there, must not be, or is an example."""
    sure: bool = False
    """It is set as code, or spelt as nothing else is."""


class _Word:
    """A word, and where it stands."""

    __slots__ = ("clause", "code", "fenced", "raw", "text", "whole")

    def __init__(self, text: str, raw: str, code: int, clause: int, whole: bool, fenced: bool) -> None:
        self.text = text
        self.raw = raw
        self.code = code  # 0 for prose, else the number of its span
        self.clause = clause
        self.whole = whole  # the span is this word alone
        self.fenced = fenced


def claims_of(text: str) -> list[Claim]:
    """What a note's text claims, in its order, nothing twice. Of too many, those that are most surely claims."""
    words = list(islice(_words(text[:_MOST_CHARS]), _MOST_WORDS))
    found: dict[str, tuple[Claim, int]] = {}
    looks: dict[tuple[str, bool], int] = {}
    for at, word in enumerate(words):
        numbered = at + 1 < len(words) and any(map(str.isdigit, words[at + 1].text[:2]))
        if word.code == 0 and word.text.isalpha() and not numbered:
            continue
        key = (word.text, word.whole)
        looks[key] = looks.get(key, 0) + 1
        if looks[key] <= _LOOKS:
            for claim in _claimed(words, at):
                if claim.text not in found or (claim.told and not found[claim.text][0].told):
                    found[claim.text] = claim, at
        if len(looks) >= _MOST_LOOKED_AT:
            break
    best = sorted(found.values(), key=lambda one: not one[0].sure)[:MOST_CLAIMS]
    return [claim._replace(denied=_denied(words, at)) for claim, at in sorted(best, key=lambda one: one[1])]


# --- words -------------------------------------------------------------------------------------------------------


def _words(text: str) -> Iterator[_Word]:
    clause, spans, fenced, why, blank = 0, 0, False, False, True
    for line in text.split("\n"):
        start = line.lstrip()
        if start.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        why = bool(start) and (start.startswith(_WHY) if blank or start.startswith(_NEXT_PART) else why)
        blank = not start
        if why:
            continue
        clause += blank or fenced or start.startswith(_LISTED) or _numbered(start)
        if fenced:
            yield from (_Word(_bare(raw, "\"'()[],;"), raw, -1, clause, False, True) for raw in line.split())
            continue
        parts = line.replace("``", "`").replace("](", "] (").split("`")
        for number, part in enumerate(parts):
            if number % 2 and number < len(parts) - 1:
                spans += 1
                yield from _of_code(part, spans, clause)
            else:
                for word in _of_prose(part, clause):
                    clause = word.clause + (word.raw[-1] in _ENDS)
                    yield word


def _numbered(line: str) -> bool:
    head, space, _ = line[:5].partition(" ")
    return bool(space) and head[-1:] in (".", ")") and head[:-1].isdigit()


def _of_code(part: str, span: int, clause: int) -> Iterator[_Word]:
    raws = part.split()
    whole = part.strip()
    if len(raws) > 1 and "/" in raws[0] and "." not in raws[0] and whole.rpartition(".")[2] in _ENDINGS:
        yield _Word(whole, whole, span, clause, True, False)  # a path with spaces, if there is one
    for raw in raws:
        yield _Word(_bare(raw, "\"'()[],;:"), raw, span, clause, len(raws) == 1, False)


def _of_prose(part: str, clause: int) -> Iterator[_Word]:
    for raw in part.translate(_PUNCTUATION).split():
        clause += raw[0] == "(" or raw in "-," or raw.casefold() in _TURNS
        text = raw if raw.isalpha() else _bare(raw, "\"'()[],;:!?")
        if text and text[0] in "*_" and text[-1] == text[0]:
            text = text.strip(text[0])
        yield _Word(text.removesuffix("'s"), raw, 0, clause, False, False)
        clause += raw[-1] in _ENDS


def _bare(raw: str, around: str) -> str:
    return raw.strip(around).rstrip(".").rstrip(around)


# --- what a word claims --------------------------------------------------------------------------------------------


def _claimed(words: Sequence[_Word], at: int) -> Iterator[Claim]:
    """What the word there claims; what may be two things is told as both."""
    word = words[at]
    if not word.text or len(word.text) > _LONGEST or not word.text.isprintable() or word.text in _NO_NAMES:
        return
    if word.text.startswith("-"):
        yield from _flag(word)
    elif pinned := _pinned(word):
        yield pinned
    elif _versioned(words, at) or (_is_version(word.text) and not _is_tag(word.text)):
        return
    elif _is_ref(word.text) and not word.fenced and (told := _told(words, at)):
        yield Claim(REF, word.text, word.text, told=told, sure=True)
    else:
        yield from _named(word, _package(word, words[at + 1]) if at + 1 < len(words) else None)


def _named(word: _Word, package: Claim | None) -> Iterator[Claim]:
    """What a word names by how it is spelt; `package` is what it claims together with the next."""
    claim = next(filter(None, (read(word) for read in (_constant, _place, _tag, _symbol))), None)
    if claim and not (package and claim.kind == PATH and not _ended(claim.name)):
        yield claim
        if claim.sure:
            return
    if package:
        yield package


def _flag(word: _Word) -> Iterator[Claim]:
    name = word.text.partition("=")[0]
    bare = name[2:]
    if name[:2] == "--" and bare[:1].islower() and bare[-1].isalnum() and bare.isascii():
        if len(bare) > 1 and bare.translate(_FLAG_SIGNS).isalnum():
            yield Claim(FLAG, name, name, sure=True)


def _pinned(word: _Word) -> Claim | None:
    """`requests==2.31`, `left-pad@1.3`: a package and its version in one word."""
    for sign, means in (("==", ""), (">=", ">="), ("~=", "~"), ("@", "")):
        name, _, version = word.text.rpartition(sign)
        if name and _is_package(name) and _is_version(version):
            return Claim(PACKAGE, word.text, name, version=means + version, sure=True)
    return None


def _is_package(name: str) -> bool:
    first = name.removeprefix("@")[:1]
    return len(name) > 1 and first.isascii() and first.isalpha() and name.translate(_PACKAGE_SIGNS).isalnum()


def _is_version(text: str) -> bool:
    first, *rest = text[text[:1] in ("^", "~", "v") :].split(".")
    return first.isdigit() and all(map(str.isalnum, rest))


def _is_ref(text: str) -> bool:
    return text[0].isalnum() and text.translate(_REF_SIGNS).isalnum()


def _is_tag(text: str) -> bool:
    """`v1.2`, `relay/v0.1.0`, `tide-v2`."""
    at = 0 if text[0] == "v" else 1 + max(text.find(f"{sign}v") for sign in "-/_")
    return text[0].isalpha() and text[at] == "v" and text[at + 1 : at + 2].isdigit() and _is_ref(text)


def _versioned(words: Sequence[_Word], at: int) -> bool:
    """Whether the word is the version of the package before it."""
    return at > 0 and _package(words[at - 1], words[at]) is not None and not words[at - 1].text.isalpha()


def _package(word: _Word, after: _Word) -> Claim | None:
    """Two words that may be a package and its version."""
    if word.clause != after.clause and word.raw.rstrip(":") == word.raw:
        return None
    if word.fenced or not _is_version(after.text) or not _is_package(word.text):
        return None
    if word.code == 0 and (word.raw[-1] in _ENDS or word.text.casefold() in _NO_PACKAGES or after.code):
        return None
    between = " " if word.code == after.code else "` "
    text = word.raw.lstrip("([{") + between + after.raw.rstrip(",;.:)]}!?")
    return Claim(PACKAGE, text, word.text, version=after.text, sure=word.code != 0)


# Words before a number that are none, in the languages people write notes in; a package of such a name is not found.
_NO_PACKAGES = frozenset((
    *_REFS, *"the and for than over under about from with until version port page step line row rule chapter section "
    "level only at in to of is on by up or be as no der die das und von bis mit für auf ist seite version zeile schritt "
    "los las del con por hasta versión puerto página paso línea".split(),
))  # fmt: skip


def _place(word: _Word) -> Claim | None:
    """A path, or a line of one; what has neither an ending nor a folder's slash may as well be a branch."""
    text, number = _numbered_line(word.text.partition("::")[0])
    shown = text.partition("#")[0]
    name = shown.removeprefix("./")
    if not name.translate(_PATH_SIGNS).isalnum() or not _inside(name):
        return None
    ended = _ended(name)
    if any(sign in name for sign in "*?["):
        return Claim(PATH, shown, name, sure=True) if "/" in name and not number else None
    if "/" not in name and not ended and name not in _FILES and not _hidden(name):
        return None
    if number:
        return Claim(LINE, word.text, name, number, sure=True)
    return Claim(PATH, shown, name, sure=ended or word.code > 0 or name in _FILES)


def _numbered_line(text: str) -> tuple[str, int]:
    """A path and the line of it: `a.py:31`, `a.py:31:5`, `a.py:31-40`, `a.py#L31`."""
    for sign in ("#L", ":"):
        path, found, after = text.partition(sign)
        digits = after[: len(after) - len(after.lstrip("0123456789"))]
        if found and path and 0 < len(digits) < 8 and after[len(digits) :][:1] in ("", "-", ":"):
            return path, int(digits)
    return text, 0


def _ended(name: str) -> bool:
    """Whether a path ends as files do."""
    stem, _, ending = name.rpartition("/")[2].rpartition(".")
    return bool(stem) and ending in _ENDINGS


def _inside(name: str) -> bool:
    """Whether a path is one from the root of a workspace: none from elsewhere, no address, no part of one."""
    parts = name.rstrip("/").split("/")
    if name.startswith(("~", "www.", "@")) or any(part in {"..", ".", ""} or "@" in part[1:] for part in parts):
        return False
    return any(any(map(str.isalpha, part)) for part in parts)


def _hidden(name: str) -> bool:
    """`.editorconfig`, and not the ending of a file alone."""
    return len(name) > 2 and name[0] == "." and name[1:] not in _ENDINGS - {"env"} and name[1:2].isalpha()


def _constant(word: _Word) -> Claim | None:
    name = word.text.lstrip("$").strip("{}").partition("=")[0]
    if not (name.isascii() and name.isupper() and name[0].isalpha() and "_" in name):
        return None
    if not all(map(str.isalnum, name.split("_"))):
        return None
    return Claim(SYMBOL if word.whole else ENV, name, name, sure=True)


def _tag(word: _Word) -> Claim | None:
    return Claim(REF, word.text, word.text, sure=word.code > 0) if _is_tag(word.text) else None


def _symbol(word: _Word) -> Claim | None:
    """A name set as code: any word that stands alone in its span; else those only a program would spell so."""
    if word.code <= 0:
        return None
    text = word.text.partition("(")[0]
    name = text.replace("::", ".").replace("#", ".").replace("->", ".")
    parts = name.split(".")
    if len(parts) > 4 or not all(map(str.isidentifier, parts)) or len(name) < 2:
        return None
    if not word.whole and not (_of_programs(name) or "(" in word.raw.strip("()")):
        return None
    return Claim(SYMBOL, text, name, sure=True)


def _of_programs(name: str) -> bool:
    """Whether only a program would spell a name so: `snake_case`, `camelCase`."""
    humps = not name.islower() and any(a.islower() and b.isupper() for a, b in pairwise(name))
    return humps or "_" in name.strip("_")


# --- the words around it -------------------------------------------------------------------------------------------


def _told(words: Sequence[_Word], at: int) -> str:
    """What the words beside it call it: a branch, a tag, or nothing of the kind. In a list the first is called so."""
    word = words[at]
    if not word.code and not ("/" in word.text or any(map(str.isdigit, word.text))):
        return ""
    if at + 1 < len(words) and words[at + 1].clause == word.clause and (called := _calls_ref(words[at + 1])):
        return called
    clause, between, listed = word.clause, 0, False
    for back in range(at - 1, max(at - 1 - _AROUND, -1), -1):
        before = words[back]
        if before.raw == "," or before.text.casefold() in _AND:
            listed = True
        elif before.code and listed:
            clause, between, listed = before.clause, 0, False
        elif before.code or listed or before.clause != clause or between > _BETWEEN:
            return ""
        elif called := _calls_ref(before):
            return called
        else:
            between += 1
    return ""


def _calls_ref(word: _Word) -> str:
    folded = word.text.casefold()
    return "" if word.code else _REFS.get(folded) or _REFS.get(folded[-2:], "")


def _denied(words: Sequence[_Word], at: int) -> bool:
    before = _near(words, range(at - 1, max(at - 1 - _AROUND, -1), -1), words[at].clause)
    after = _near(words, range(at + 1, min(at + 1 + _AROUND, len(words))), words[at].clause)
    left, right = f" {' '.join(reversed(before))} ", " ".join(after)
    return any(words in left for words in _DENIED_BEFORE) or any(words in right for words in _DENIED_AFTER)


def _near(words: Sequence[_Word], places: range, clause: int) -> list[str]:
    near = []
    for place in places:
        if words[place].clause != clause:
            break
        near.append(words[place].text.casefold() if not words[place].code else "`")
    return near
