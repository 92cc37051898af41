"""Fine-tune a tiny vision-language model on four made-up pages, and stop as soon as its answers stop improving.

    python examples/fine_tune_vlm.py

It makes a random Idefics3 and its processor, so that nothing is downloaded, and takes about 25 seconds on a CPU. With
--lora, only adapters are trained. docs/fine_tune_vlm.md explains each step. Needs
``pip install '.[trl,images]'`` in the folder of the clone, and peft for --lora.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from typing import Any

import torch
from datasets import Dataset
from made_up import make_tokenizer
from PIL import Image, ImageDraw
from transformers import (
    EarlyStoppingCallback,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    set_seed,
)
from trl import SFTConfig, SFTTrainer

from anls_metric import signature
from anls_metric.generation import GenerateAndScore

PAGES = [
    {"shop": "Fish Market", "total": "12.40", "logo": "navy"},
    {"shop": "City Books", "total": "7.95", "logo": "brown"},
    {"shop": "Corner Cafe", "total": "31.20", "logo": "orange"},
    {"shop": "Green Leaf", "total": "18.65", "logo": "green"},
]
QUESTIONS = {"shop": "Which shop is it", "total": "What is the total"}
SIDE, PATCH, SCALE = 96, 16, 2  # of an image, of a patch, and of the patches that become one token

# An image becomes its token, and each answer ends with </s>.
TEMPLATE = (
    "{% for message in messages %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{{ '</s>' if message.role == 'assistant' else ': ' }}{% endfor %}"
)


def scan(page: dict[str, str], chance: random.Random) -> Image.Image:
    """Draw a page as a scanner would see it: moved a little, on gray paper."""
    image = Image.new("RGB", (SIDE, SIDE), (chance.randint(225, 255),) * 3)
    draw, left, top = ImageDraw.Draw(image), chance.randint(0, 6), chance.randint(0, 6)
    draw.rectangle((left, top, left + 88, top + 26), page["logo"])
    draw.text((left + 4, top + 8), page["shop"], "white")
    draw.text((left, top + 50), f"total {page['total']}", "black")
    return image


def make_rows(scans: int, seed: int) -> tuple[Dataset, list[list[str]]]:
    """Make rows with an image, a question and its answer, and the references of each row."""
    chance = random.Random(seed)
    rows, references = [], []
    for page in PAGES * scans:
        for field, question in QUESTIONS.items():
            messages = [{"role": "user", "content": question}, {"role": "assistant", "content": page[field]}]
            rows.append({"images": [scan(page, chance)], "prompt": messages[:1], "completion": messages[1:]})
            references.append([page[field], f"{page[field]} EUR"] if field == "total" else [page[field]])
    return Dataset.from_list(rows), references


def make_processor() -> Idefics3Processor:
    """Make a processor that reads an image as one tile, and text letter by letter."""
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["<image>", "<fake_token_around_image>", "<global-img>"]}
    )
    images = Idefics3ImageProcessor(
        size={"longest_edge": SIDE}, max_image_size={"longest_edge": SIDE}, do_image_splitting=False
    )
    length = (SIDE // PATCH // SCALE) ** 2
    return Idefics3Processor(images, tokenizer, image_seq_len=length, chat_template=TEMPLATE)


def make_model(processor: Idefics3Processor) -> Idefics3ForConditionalGeneration:
    """Make an Idefics3 with random weights."""
    set_seed(0)
    sizes: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 4}
    ids = {"vocab_size": len(processor.tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    return Idefics3ForConditionalGeneration(
        Idefics3Config(
            vision_config={
                "hidden_size": 64,
                "intermediate_size": 128,
                "image_size": SIDE,
                "patch_size": PATCH,
                **sizes,
            },
            text_config={"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, **sizes, **ids},
            scale_factor=SCALE,
            image_token_id=processor.image_token_id,
            pad_token_id=0,
        )
    )


def main(epochs: int = 20, lora: bool = False) -> SFTTrainer:
    """Train, and print the score of the best checkpoint. Returns the trainer, with its log."""
    torch.set_num_threads(1)
    train_dataset, _ = make_rows(scans=8, seed=1)
    eval_dataset, references = make_rows(scans=2, seed=2)
    test_dataset, test_references = make_rows(scans=3, seed=3)
    processor = make_processor()
    model = make_model(processor)
    peft_config = None
    if lora:
        from peft import LoraConfig

        peft_config = LoraConfig(r=16, target_modules="all-linear")
        peft_config.modules_to_save = ["embed_tokens", "lm_head"]  # they are random here
    callback = GenerateAndScore(eval_dataset, references, name="anls")
    with tempfile.TemporaryDirectory() as checkpoints:
        trainer = SFTTrainer(
            model=model,
            args=SFTConfig(
                output_dir=checkpoints,
                num_train_epochs=epochs,
                per_device_train_batch_size=8,
                learning_rate=3e-3,
                max_length=None,
                eval_strategy="epoch",
                save_strategy="epoch",
                save_total_limit=1,
                metric_for_best_model="anls",
                load_best_model_at_end=True,
                logging_strategy="epoch",
                use_cpu=True,
                bf16=False,
                report_to=[],
                disable_tqdm=True,
            ),
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=processor,
            peft_config=peft_config,
            callbacks=[callback, EarlyStoppingCallback(early_stopping_patience=3)],
        )
        trainer.train()
        scores = callback.score(trainer.model, test_dataset, test_references)
    best = f"{trainer.state.best_metric:.4f} on validation, {scores['anls']:.4f} on test"
    print(f"best checkpoint: {best}  {signature()}")
    return trainer


if __name__ == "__main__":
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("--lora", action="store_true", help="train adapters instead of all weights")
    main(lora=command.parse_args().lora)
