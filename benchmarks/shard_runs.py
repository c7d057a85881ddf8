"""The processes that make shards, ours and the peers', and how what they made is read back.

    python -m benchmarks.shard_runs NAME JOB.json

Each is written as its own documents show it, with all the workers that it takes: what is compared is the whole process,
from start to the last file on disk. The last line that one prints is JSON: seconds of its parts, by name.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytepair import lowlevel

DTYPES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float64", 7: "float32", 8: "uint16"}
"""What the index of Megatron calls them; those that can hold ids are used."""


@dataclass(frozen=True)
class Job:
    """What a process has to do.

    Attributes:
        sources: The files of the corpus, in order.
        output: Where shards go.
        native: The tokenizer, as bytepair saves it.
        json: The same vocabulary as ``tokenizer.json``.
        ranks: The same as a rank file.
        split: Its split pattern.
        eos: The id that ends a document.
        workers: How many to use.
        options: Of bytepair's call.
    """

    sources: list[str]
    output: str
    native: str
    json: str
    ranks: str
    split: str
    eos: int
    workers: int
    options: dict[str, Any]


def memory(job: Job) -> dict[str, float]:
    """The yardstick: the documents are in memory, and the encoder does nothing but encode them."""
    import pyarrow.parquet as pq

    import bytepair as bp

    tok = bp.Tokenizer.from_file(job.native)
    documents = [text for path in job.sources for text in pq.read_table(path)["text"].to_pylist()]
    wall, cpu = time.perf_counter(), time.process_time()
    ids, offsets = lowlevel.encode_batch_flat(tok, documents, threads=job.workers)
    measured = {"encode": time.perf_counter() - wall, "encode_cpu": time.process_time() - cpu}
    Path(job.output).mkdir()
    ids.tofile(Path(job.output, "ids"))
    offsets.tofile(Path(job.output, "offsets"))
    return measured


def in_process(job: Job) -> dict[str, float]:
    """`bytepair.shard`."""
    import bytepair as bp

    tok = bp.Tokenizer.from_file(job.native)
    start = time.perf_counter()
    from bytepair.shards.sharding import shard

    shard(job.sources, tok, job.output, eos=job.eos, workers=job.workers, **job.options)
    return {"shard": time.perf_counter() - start}


def datasets(job: Job) -> dict[str, float]:
    """`datasets.map` in batches with `tokenizers`, saved to disk."""
    os.environ["HF_HOME"] = f"{job.output}.cache"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import tokenizers
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    tok = tokenizers.Tokenizer.from_file(job.json)

    def encode(batch: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        found = tok.encode_batch_fast(batch["text"], add_special_tokens=False)
        return {"input_ids": [[*row.ids, job.eos] for row in found]}

    loaded = load_dataset("parquet", data_files=job.sources, split="train")
    start = time.perf_counter()
    encoded = loaded.map(encode, batched=True, num_proc=job.workers, remove_columns=["text"])
    middle = time.perf_counter()
    encoded.save_to_disk(job.output)
    return {"map": middle - start, "save": time.perf_counter() - middle}


def nanogpt(job: Job) -> dict[str, float]:
    """As nanoGPT's `prepare.py`: tiktoken in `datasets.map`, then one memory map, filled batch by batch."""
    os.environ["HF_HOME"] = f"{job.output}.cache"
    import numpy as np
    import tiktoken
    from datasets import disable_progress_bars, load_dataset

    from benchmarks.peers import _ranks

    disable_progress_bars()
    encoding = tiktoken.Encoding("peer", pat_str=job.split, mergeable_ranks=_ranks(Path(job.ranks)), special_tokens={})

    def encode(row: dict[str, str]) -> dict[str, Any]:
        ids = encoding.encode_ordinary(row["text"])
        ids.append(job.eos)
        return {"ids": ids, "len": len(ids)}

    loaded = load_dataset("parquet", data_files=job.sources, split="train")
    start = time.perf_counter()
    encoded = loaded.map(encode, remove_columns=["text"], num_proc=job.workers)
    middle = time.perf_counter()
    total = int(np.sum(encoded["len"], dtype=np.uint64))
    Path(job.output).mkdir()
    dtype = np.uint16 if encoding.max_token_value < 1 << 16 else np.uint32
    flat = np.memmap(Path(job.output, "train.bin"), dtype, "w+", shape=(total,))
    at = 0
    batches = min(1024, len(encoded))
    for number in range(batches):
        batch = encoded.shard(num_shards=batches, index=number, contiguous=True).with_format("numpy")
        ids = np.concatenate(batch["ids"])
        flat[at : at + len(ids)] = ids
        at += len(ids)
    flat.flush()
    return {"map": middle - start, "save": time.perf_counter() - middle}


class _Encoder:
    """What each worker of Megatron's preprocessing has."""

    tok: Any = None
    eos = 0


def _megatron_begin(path: str, eos: int) -> None:
    import tokenizers

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _Encoder.tok, _Encoder.eos = tokenizers.Tokenizer.from_file(path), eos


def _megatron_encode(line: str) -> tuple[list[int], int]:
    ids = _Encoder.tok.encode(json.loads(line)["text"], add_special_tokens=False).ids
    ids.append(_Encoder.eos)
    return ids, len(line)


def megatron(job: Job) -> dict[str, float]:
    """As Megatron's preprocessing: workers get lines of JSON, one process writes ids and their index.

    The writer here is plainer than Megatron's, which makes a tensor of each document.
    """
    import multiprocessing

    import numpy as np

    start = time.perf_counter()
    Path(job.output).mkdir()
    dtype = np.dtype(np.uint16 if job.eos < 1 << 16 else np.int32)
    lengths: list[int] = []
    with multiprocessing.Pool(job.workers, _megatron_begin, (job.json, job.eos)) as pool:
        with Path(job.output, "all.bin").open("wb") as file:
            for source in job.sources:
                with Path(source).open(encoding="utf-8") as lines:
                    for ids, _ in pool.imap(_megatron_encode, lines, 32):
                        file.write(np.array(ids, dtype).tobytes())
                        lengths.append(len(ids))
        pool.close()
        pool.join()
    code = next(code for code, name in DTYPES.items() if name == dtype.name)
    sizes = np.array(lengths, np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes[:-1], dtype=np.int64)]) * dtype.itemsize
    with Path(job.output, "all.idx").open("wb") as file:
        file.write(b"MMIDIDX\x00\x00" + np.array([1], "<u8").tobytes() + bytes([code]))
        file.write(np.array([len(sizes), len(sizes) + 1], "<u8").tobytes())
        file.write(sizes.tobytes() + starts.astype("<i8").tobytes())
        file.write(np.arange(len(sizes) + 1, dtype="<i8").tobytes())
    return {"all": time.perf_counter() - start}


RUNS: dict[str, Callable[[Job], dict[str, float]]] = {
    run.__name__: run for run in (memory, in_process, datasets, nanogpt, megatron)
}


def read(name: str, output: Path, dtype: str) -> Iterator[Any]:
    """The ids that a run left, in arrays that come one after another.

    Args:
        name: ``memory``, ``datasets``, ``nanogpt``, or a format: ``bin``, ``megatron``, ``parquet``.
        output: Where they are.
        dtype: Of the ids in flat files.
    """
    import numpy as np

    if name == "memory":
        yield np.fromfile(output / "ids", np.uint32)
    elif name == "datasets":
        from datasets import load_from_disk

        for batch in load_from_disk(str(output)).with_format("arrow").iter(10_000):
            yield batch["input_ids"].combine_chunks().flatten().to_numpy()
    elif name == "parquet":
        import pyarrow.parquet as pq

        for path in sorted(output.glob("train-*.parquet")):
            if ".documents." not in path.name:
                for column in pq.read_table(path)["input_ids"].chunks:
                    yield column.flatten().to_numpy()
    elif name == "megatron":
        for path in sorted(output.glob("*.idx")):
            ids = np.fromfile(path.with_suffix(".bin"), DTYPES[path.read_bytes()[17]])
            yield ids[: int(index_sizes(path).sum())]
    else:
        for path in sorted(output.glob("train*.bin")):
            yield np.fromfile(path, dtype)


def index_sizes(path: Path) -> Any:
    """The lengths of the documents of an index of Megatron, in tokens."""
    import numpy as np

    data = path.read_bytes()
    count = int(np.frombuffer(data, "<u8", 1, 18)[0])
    return np.frombuffer(data, "<i4", count, 34)


def main(name: str, job: str) -> int:
    """Does a job; the exit code."""
    print(json.dumps(RUNS[name](Job(**json.loads(Path(job).read_text())))))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
