"""Labels of chats in trainers: `SFTTrainer` of TRL, `Trainer` of transformers, and a loop of your own.

    pip install 'bytepair[chat]' trl datasets
    python examples/trainers.py --trainer sft
    python examples/trainers.py --trainer transformers

The columns of `bp.chat.ChatRows` are what these trainers take: ``input_ids``, ``attention_mask`` and ``labels``. The
model is a tiny one with random weights, so that the example runs anywhere in seconds; it takes the conversations next
to this file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
PAD = "<|endoftext|>"
SPECIAL_TOKENS = [PAD, "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]


def conversations() -> list[dict[str, Any]]:
    """Rows with ``messages`` and ``tools``; tools are JSON, since a column of Arrow has one type."""
    rows = [json.loads(line) for line in (HERE / "conversations.jsonl").read_text("utf-8").splitlines()]
    # Arguments of calls differ from call to call, so that they are JSON in a data set as well.
    return [{"chat": json.dumps(row["messages"]), "tools": json.dumps(row.get("tools"))} for row in rows]


def tokenizer() -> bp.Tokenizer:
    """A tiny tokenizer, trained on the conversations."""
    spoken = (message.get("content") or "" for row in conversations() for message in json.loads(row["chat"]))
    return bp.train(spoken, 256 + 128 + len(SPECIAL_TOKENS), split="cl100k", special_tokens=SPECIAL_TOKENS)


def dataset(tok: bp.Tokenizer) -> Any:
    """The data set that trainers take: ids and labels of each conversation."""
    import datasets  # noqa: PLC0415 (only trainers need it)

    rows = bp.chat.ChatRows(tok, bp.chat.Template.read(HERE / "chat.jinja"))
    data = datasets.Dataset.from_list(conversations())
    return data.map(
        lambda row: rows({"messages": json.loads(row["chat"]), "tools": row["tools"]}), remove_columns=data.column_names
    )


def model(tok: bp.Tokenizer) -> Any:
    """A model of two small layers, with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415 (as above)

    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    return LlamaForCausalLM(LlamaConfig(vocab_size=tok.vocab_size, pad_token_id=tok.token_id(PAD), **sizes))


def sft(tok: bp.Tokenizer, folder: Path) -> Any:
    """TRL: a column of labels is taken as it is."""
    import transformers as library  # noqa: PLC0415 (as above)
    from trl import SFTConfig, SFTTrainer  # noqa: PLC0415 (as above)

    tok.save(folder / "tokenizer.json")
    kind: Any = library.PreTrainedTokenizerFast
    peer = kind(tokenizer_file=str(folder / "tokenizer.json"), pad_token=PAD, eos_token=PAD)
    options = SFTConfig(**_options(folder), max_length=None)
    return SFTTrainer(model(tok), args=options, train_dataset=dataset(tok), processing_class=peer)


def transformers(tok: bp.Tokenizer, folder: Path) -> Any:
    """transformers: the collator pads labels with -100."""
    from transformers import Trainer, TrainingArguments  # noqa: PLC0415 (as above)

    def padded(rows: Sequence[Any]) -> dict[str, Any]:
        return bp.chat.pad(rows, pad_id=tok.token_id(PAD), return_tensors="pt").model_inputs()

    return Trainer(model(tok), TrainingArguments(**_options(folder)), data_collator=padded, train_dataset=dataset(tok))


def _options(folder: Path) -> dict[str, Any]:
    return {
        "output_dir": str(folder / "out"),
        "max_steps": 2,
        "per_device_train_batch_size": 2,
        "report_to": "none",
        "use_cpu": True,
        "save_strategy": "no",
        "disable_tqdm": True,
    }


TRAINERS = {"sft": sft, "transformers": transformers}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train two steps, and print the loss."""
    parser = argparse.ArgumentParser(description="Labels of chats in trainers.")
    parser.add_argument("--trainer", choices=TRAINERS, default="sft")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        trained = TRAINERS[options.trainer](tokenizer(), Path(folder)).train()
    print(f"{trained.global_step} steps, loss {trained.training_loss:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
