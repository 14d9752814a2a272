"""A BERT's weights made into a graph that turns the numbers of pieces into one vector: 8 bits a weight, mean, length one.

It knows what BERT computes and how its weights are named in a safetensors file, which it reads itself: a length, a table
in JSON, the numbers. It runs nothing and knows no text.
"""

from __future__ import annotations

import json
import mmap
from typing import Any, NamedTuple

import numpy as np

from commonplace.adapters.graph import FLOAT, INT64, OWN, Graph

IDS, VECTOR = "ids", "vector"
_WORDS = "embeddings.word_embeddings.weight"
_HEADS = 12
_EPSILON = 1e-12
# Seven bits of eight for what is multiplied: where two products of a full byte meet in sixteen bits, as on processors
# without instructions of their own for it, sums would be cut off, and the same text get another vector than elsewhere.
_MULTIPLIED, _LOOKED_UP = 63, 127
# Larger tables of contents are no safetensors file of ours.
_TABLE_BYTES = 1 << 20


class Weights:
    """A safetensors file, opened. A ValueError says what is wrong with it."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(self._raw[:8], "little")
        if length > min(_TABLE_BYTES, len(self._raw) - 8):
            raise ValueError("its table of contents does not fit into it")
        table = json.loads(self._raw[8 : 8 + length])
        self._table: dict[str, Any] = table if isinstance(table, dict) else {}
        self._start = 8 + length

    def model(self) -> Model:
        """What these are the weights of."""
        pieces, size = self(_WORDS).shape
        return Model(pieces, size, sum(name.endswith("intermediate.dense.weight") for name in self._table))

    def __call__(self, name: str) -> Any:
        """The weights of a name."""
        row = self._table.get(name)
        if not isinstance(row, dict) or row.get("dtype") != "F32":
            raise ValueError(f"it has no {name} of four-byte numbers")
        try:
            first, end = (self._start + int(offset) for offset in row["data_offsets"])
            array = np.frombuffer(self._raw[first:end], "<f4").reshape(row["shape"])
        except (KeyError, TypeError) as problem:
            raise ValueError(f"what it says of {name} cannot be read") from problem
        if not np.isfinite(array).all():
            raise ValueError(f"its {name} has numbers that are none")
        return array


class Model(NamedTuple):
    """What weights are expected to be of. Others might fit, and mean nothing."""

    pieces: int
    size: int
    layers: int


def graph_of(weights: Weights, model: Model) -> bytes:
    """The ONNX file: piece numbers in, one vector of length one out. A ValueError says why these are not the weights."""
    found = weights.model()
    if found != model:
        raise ValueError(f"it is {found}, not {model}")
    bert = _Bert(weights, model.size)
    state = bert.embedded()
    for number in range(model.layers):
        state = bert.layer(state, f"encoder.layer.{number}.")
    mean = bert.graph.node("ReduceMean", state, axes=(0, 1), keepdims=0)
    last = bert.graph.node("LpNormalization", mean, axis=-1, p=2)
    return bert.graph.encoded("bert", (IDS, INT64, "pieces"), (last, FLOAT, bert.size))


class _Bert:
    """The parts of the model, each put into the graph as it is asked for."""

    def __init__(self, weights: Weights, size: int) -> None:
        self.graph = Graph()
        self.size = size
        self._weights = weights

    def embedded(self) -> str:
        """Each piece as a row: its own, its place's, and the one all share."""
        graph, weights = self.graph, self._weights
        small, scales = _small(weights(_WORDS), 1, _LOOKED_UP)
        rows = graph.node("Cast", graph.node("Gather", graph.constant(small), IDS), to=FLOAT)
        rows = graph.node("Mul", rows, graph.node("Gather", graph.constant(scales), IDS))
        places = (
            weights("embeddings.position_embeddings.weight") + weights("embeddings.token_type_embeddings.weight")[0]
        )
        zero = graph.constant(np.zeros(1, np.int64))
        placed = graph.node("Slice", graph.constant(places), zero, graph.node("Shape", IDS), zero)
        state = self._normal(graph.node("Add", rows, placed), "embeddings.LayerNorm")
        return graph.node("Unsqueeze", state, zero)

    def layer(self, state: str, name: str) -> str:
        """Attention, then two linear steps, each added to what came in."""
        graph = self.graph
        asked = self._linear(state, *[f"{name}attention.self.{part}" for part in ("query", "key", "value")])
        thirds = graph.constant(np.full(3, self.size, np.int64))
        parts = graph.nodes(3, "Split", asked, thirds, axis=-1)
        attended = graph.node("MultiHeadAttention", *parts, domain=OWN, num_heads=_HEADS)
        added = graph.node("Add", self._linear(attended, f"{name}attention.output.dense"), state)
        state = self._normal(added, f"{name}attention.output.LayerNorm")
        wide = graph.node("Gelu", self._linear(state, f"{name}intermediate.dense"), domain=OWN)
        added = graph.node("Add", self._linear(wide, f"{name}output.dense"), state)
        return self._normal(added, f"{name}output.LayerNorm")

    def _linear(self, given: str, *names: str) -> str:
        """Several linear steps from one input as one; each column of weights has a scale of its own."""
        columns = np.concatenate([self._weights(f"{name}.weight") for name in names]).T
        small, scales = _small(columns, 0, _MULTIPLIED)
        bias = np.concatenate([self._weights(f"{name}.bias") for name in names])
        matrix = (self.graph.constant(small), self.graph.constant(scales[0]), "", self.graph.constant(bias))
        return self.graph.node("DynamicQuantizeMatMul", given, *matrix, domain=OWN)

    def _normal(self, given: str, name: str) -> str:
        learned = [self.graph.constant(self._weights(f"{name}.{part}")) for part in ("weight", "bias")]
        return self.graph.node("LayerNormalization", given, *learned, axis=-1, epsilon=_EPSILON)


def _small(array: Any, axis: int, most: int) -> tuple[Any, Any]:
    """The array in bytes, and what each row or column of them is to be multiplied with."""
    scales = np.abs(array).max(axis=axis, keepdims=True) / np.float32(most)
    scales[scales == 0] = 1
    return np.round(array / scales).astype(np.int8), scales
