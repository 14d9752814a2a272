"""Rows of words -> words.bin, in the form recall/semantic.py reads.

header | directory: where each bucket begins, and the end | buckets
bucket: crc32 of the rest | bytes of names | names joined by newlines | a row of unsigned bytes each, zero at 128
"""

import struct
import zlib

MAGIC = b"commonplace.words\n"
HEADER = struct.Struct("<18s 22s H I I I I")  # and a crc32 of these


def packed(name: str, rows: dict[str, bytes], size: int, per_bucket: int = 8) -> bytes:
    buckets = max(1, len(rows) // per_bucket)
    sorted_in: list[list[bytes]] = [[] for _ in range(buckets)]
    for word in sorted(w.encode() for w in rows):
        sorted_in[zlib.crc32(word) % buckets].append(word)
    begins = HEADER.size + 4 + 4 * (buckets + 1)
    places, body = [begins], bytearray()
    for names in sorted_in:
        listed = b"\n".join(names)
        block = struct.pack("<H", len(listed)) + listed + b"".join(rows[w.decode()] for w in names)
        body += struct.pack("<I", zlib.crc32(block)) + block
        places.append(begins + len(body))
    directory = struct.pack(f"<{buckets + 1}I", *places)
    head = HEADER.pack(MAGIC, name.encode(), size, buckets, len(rows), places[-1], zlib.crc32(directory))
    return head + struct.pack("<I", zlib.crc32(head)) + directory + bytes(body)


def quantised(matrix, clip: float = 0.99995):
    """Signed rows of floats -> unsigned bytes about 128; the few largest values are cut off."""
    import numpy as np

    top = float(np.quantile(np.abs(matrix), clip))
    return (np.clip(np.rint(matrix * (127 / top)), -127, 127) + 128).astype(np.uint8)
