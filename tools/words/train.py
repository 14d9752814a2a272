"""Texts and the teacher's vectors -> a row of numbers for each word, so that the sum over a text points where the teacher's does.

Three losses: the text's own direction; how near each text of a batch is to each other, as a distribution; and a heading,
word or question being nearest to its own text. Part of a batch are texts that share a word, which are hard to tell apart.
"""

import json
import os
import time
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional


class Recipe(NamedTuple):
    size: int = 128
    passes: float = 2.0  # one is nearly as good
    batch: int = 512
    rate: float = 3e-3
    direction: float = 1.0
    likeness: float = 1.0
    answer: float = 1.0
    warmth: float = 0.03  # of likeness: the smaller, the more the nearest texts count
    answer_warmth: float = 0.05
    groups: float = 1.0  # texts in groups, for each pair of a batch
    group: int = 16
    longest: float = (
        2.0  # no row is longer than so many usual ones: a word that is one subject here is not all of a note
    )
    frequent: float = 1e-3  # words above this share of all words begin small
    seed: int = 0


class Data:
    """Texts as runs of word numbers, and what the teacher says of them."""

    def __init__(self, folder: str, tokens) -> None:
        with open(os.path.join(folder, "gathered.json"), encoding="utf-8") as file:
            gathered = json.load(file)
        self.words: list[str] = gathered["words"]
        place = {word: at for at, word in enumerate(self.words)}
        runs = [[place[w] for w in tokens(text) if w in place] for text in gathered["texts"]]
        self.count = np.array([len(run) for run in runs])
        self.flat = np.array([at for run in runs for at in run], np.int64)
        self.start = np.concatenate([[0], np.cumsum(self.count)])[:-1]
        shards = sorted(os.listdir(os.path.join(folder, "vectors")))
        self.taught = np.concatenate([np.load(os.path.join(folder, "vectors", shard)) for shard in shards])
        known = np.zeros(len(runs), bool)
        known[: len(self.taught)] = True
        known &= self.count > 0
        pairs = np.array(gathered["pairs"], np.int64)
        self.pairs = pairs[known[pairs[:, 0]]]
        bare = (self.pairs[:, 1] >= 0) & ~known[self.pairs[:, 1]]
        self.pairs[bare, 1] = -1
        uses = np.bincount(self.flat, minlength=len(self.words))
        self.share = (uses + 1) / (uses.sum() + len(uses))

    def holders(self) -> tuple[np.ndarray, np.ndarray]:
        """For each word, the texts of pairs that hold it: all in one row, and where each word's begin."""
        used = np.zeros(len(self.count), bool)
        used[self.pairs[self.pairs >= 0]] = True
        text = np.repeat(np.arange(len(self.count)), self.count)
        keep = used[text]
        order = np.argsort(self.flat[keep], kind="stable")
        counts = np.bincount(self.flat[keep], minlength=len(self.words))
        return text[keep][order], np.concatenate([[0], np.cumsum(counts)])


class Trainer:
    def __init__(self, data: Data, recipe: Recipe) -> None:
        torch.manual_seed(recipe.seed)
        self.data, self.recipe, self.rng = data, recipe, np.random.default_rng(recipe.seed)
        sample = torch.from_numpy(data.taught[self.rng.choice(data.pairs[:, 0], 60_000)].astype(np.float32))
        self.middle = sample.mean(0)
        near = sample - self.middle
        self.turn = torch.linalg.svd(near.T @ near)[0][:, : recipe.size]
        rows = self.target(np.arange(len(data.words))) * torch.from_numpy(
            recipe.frequent / (recipe.frequent + data.share)
        ).float().unsqueeze(1)
        self.table = torch.nn.EmbeddingBag(len(data.words), recipe.size, mode="sum", sparse=True)
        self.table.weight.data.copy_(rows)
        self.step = torch.optim.SparseAdam(list(self.table.parameters()), lr=recipe.rate)
        self.holding, self.begins = data.holders()
        counts = np.diff(self.begins)
        weight = np.where((counts >= recipe.group) & (data.share < 2e-3), np.minimum(counts, 3000) ** 0.5, 0)
        self.pick = np.cumsum(weight / weight.sum())

    def target(self, texts: np.ndarray) -> torch.Tensor:
        near = torch.from_numpy(self.data.taught[texts].astype(np.float32)) - self.middle
        return functional.normalize(near @ self.turn, dim=-1)

    def sums(self, texts: np.ndarray) -> torch.Tensor:
        count = self.data.count[texts]
        begins = np.cumsum(count) - count
        words = self.data.flat[np.repeat(self.data.start[texts] - begins, count) + np.arange(count.sum())]
        return functional.normalize(self.table(torch.from_numpy(words), torch.from_numpy(begins)), dim=-1)

    def grouped(self) -> np.ndarray:
        number = int(self.recipe.groups * self.recipe.batch / self.recipe.group)
        words = np.minimum(np.searchsorted(self.pick, self.rng.random(number)), len(self.pick) - 1)
        span = np.diff(self.begins)[words]
        chosen = self.begins[words][:, None] + self.rng.integers(0, span[:, None], (number, self.recipe.group))
        return np.unique(self.holding[chosen])

    def loss(self, pairs: np.ndarray) -> torch.Tensor:
        recipe = self.recipe
        asked = pairs[pairs[:, 1] >= 0]
        texts = np.concatenate([asked[:, 1], asked[:, 0], pairs[pairs[:, 1] < 0, 0]])
        if recipe.groups:
            texts = np.concatenate([texts, self.grouped()])
        ours, theirs = self.sums(texts), torch.from_numpy(self.data.taught[texts].astype(np.float32))
        total = recipe.direction * (1 - (ours * self.target(texts)).sum(-1)).mean()
        same = torch.from_numpy(texts[:, None] == texts[None, :])
        far = [(m @ m.T / recipe.warmth).masked_fill(same, -1e4) for m in (ours, theirs)]
        total = total + recipe.likeness * functional.kl_div(
            functional.log_softmax(far[0], -1), functional.softmax(far[1], -1), reduction="batchmean"
        )
        n = len(asked)
        if n > 1 and recipe.answer:
            scores = ours[:n] @ ours[n : 2 * n].T / recipe.answer_warmth
            held = theirs[:n] @ theirs[n : 2 * n].T
            # Texts the teacher holds to be as near as the answer are no wrong answers.
            scores = scores.masked_fill(
                (held > held.diagonal()[:, None] - 0.02) & ~torch.eye(n, dtype=torch.bool), -1e4
            )
            right = torch.arange(n)
            both = functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)
            total = total + recipe.answer * both / 2
        return total

    def run(self) -> np.ndarray:
        recipe, pairs = self.recipe, self.data.pairs
        steps, began, seen = int(recipe.passes * len(pairs) / recipe.batch), time.time(), 0.0
        order, at = self.rng.permutation(len(pairs)), 0
        for number in range(steps):
            if at + recipe.batch > len(order):
                order, at = self.rng.permutation(len(pairs)), 0
            for group in self.step.param_groups:
                group["lr"] = recipe.rate * min(1, (number + 1) / 100) * max(0.02, 1 - number / steps)
            loss = self.loss(pairs[order[at : at + recipe.batch]])
            at += recipe.batch
            self.step.zero_grad()
            loss.backward()
            self.step.step()
            seen += loss.item()
            if number % 200 == 199:
                print(f"step {number + 1} of {steps}, {time.time() - began:.0f} s, loss {seen / 200:.3f}", flush=True)
                seen = 0.0
        rows: np.ndarray = self.table.weight.detach().numpy()
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows * np.minimum(1, recipe.longest * np.median(lengths) / lengths)
