"""Short marks that tell one thing from another: of a path, a key, a text. They keep no secret and prove nothing."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # hashlib's own; through it every process would load OpenSSL, for 2 ms
except ImportError:  # an interpreter that builds it otherwise
    from hashlib import blake2b

# Sixteen bytes: no two of anything we mark come out the same.
_BYTES = 16


def digest(data: bytes) -> bytes:
    """A mark of these bytes."""
    return blake2b(data, digest_size=_BYTES).digest()
