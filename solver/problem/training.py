"""What is trained on, and how: the settings of a training that no plan alters."""

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic import WithJsonSchema as Json

from solver.problem.batch import batch_sequences
from solver.problem.clashes import AMOUNTS
from solver.problem.quantities import (
    Bandwidth,
    Bytes,
    BytesPerToken,
    Epochs,
    GradientDtype,
    ImagesEach,
    Model,
    Optimizer,
    Packing,
    Patches,
    Precisions,
    Samples,
    SequenceLength,
    Steps,
    Task,
    Tokens,
    Workers,
)  # fmt: skip


class LocalSgd(Model):
    """Workers that train apart and average their weights now and then (local SGD, DiLoCo)."""

    workers: Workers = Field(examples=[4])
    """Groups of replicas that train apart; the global batch is that of all."""
    steps: Steps = Field(examples=[500])
    """Steps between two averages."""
    bandwidth: Bandwidth | None = None
    """Between two workers, one way; that of the fabric where left out."""


class Training(Model):
    """Convergence settings: never altered to be faster or cheaper."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [a]} for a in AMOUNTS]})

    tokens: Tokens | None = Field(default=None, examples=["15T"])
    """Tokens to train on; or state steps, samples and epochs, or the data set."""
    steps: Steps | None = None
    """Optimizer steps, in place of tokens."""
    samples: Samples | None = None
    """Sequences of the data set, in place of tokens; documents where they are packed by their mean_length."""
    dataset: Bytes | None = None
    """Text of the data set, in place of tokens."""
    bytes_per_token: BytesPerToken | None = None
    """Of the text of the data set; 3.94 where left out: English by a vocabulary of 128,000."""
    epochs: Epochs | None = None
    """How often the samples or the data set are gone through; once where left out."""
    sequence_length: SequenceLength = Field(examples=[8192])
    """Tokens of one sequence."""
    packing: Packing = "packed"
    """packed: sequences are full; padded: each holds one document, and padding behind it."""
    mean_length: SequenceLength | None = None
    """Mean tokens of a document: of the text in a padded sequence, or what attention sees in a packed one."""
    images: ImagesEach | None = None
    """Images of a sequence, on average, where the model has an image tower; none where left out."""
    image_patches: Patches | None = None
    """Patches of an image, where the tower takes images of any size; 1,024 where left out."""
    local_sgd: LocalSgd | None = None
    """Workers that average their weights now and then; every replica at every step where left out."""
    global_batch: Annotated[
        int,
        BeforeValidator(batch_sequences),
        Json({"type": "string", "examples": ["1024 sequences", "4M tokens"]}),
    ] = Field(examples=["1024 sequences"])
    """Sequences of one optimizer step, over all devices."""
    precision: Precisions = ("bf16",)
    """Of the matmuls; a list permits, one value fixes."""
    optimizer: Optimizer = "adamw"
    """Sets the bytes that a parameter takes."""
    gradient_dtype: GradientDtype | None = None
    """In which gradients are kept and reduced; by framework where left out."""
    task: Task = "pretrain"
    """pretrain, or sft: fine-tuning of all parameters."""

    @property
    def document(self) -> int | None:
        """Mean tokens of a document, where attention stays inside of them."""
        return self.mean_length if self.packing == "packed" else None

    @property
    def fill(self) -> float:
        """Share of the tokens that is text; the rest is padding."""
        return 1.0 if self.document or not self.mean_length else self.mean_length / self.sequence_length

    @field_validator("mean_length")
    @classmethod
    def _fits(cls, mean_length: int, info: ValidationInfo) -> int:
        sequence = info.data.get("sequence_length", mean_length)
        if mean_length > sequence:
            raise ValueError(f"{mean_length} is above sequence_length {sequence}; write at most {sequence}")
        return mean_length
