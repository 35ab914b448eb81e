"""What an optimizer keeps of a parameter beside its master copy, and what a step of it computes."""

from functools import lru_cache
from typing import NamedTuple

from solver.architecture.blocks import Architecture

SCALES = 2 * 4 / 256  # bytes: two float32 scales for each block of 256 elements


class Optimizer(NamedTuple):
    """Bytes of its state for an element of a layer's matrices, and of tables and vectors; its iterations.

    iterations   of Newton and Schulz on each matrix, a step
    """

    matrices: float
    outside: float
    iterations: int = 0


OPTIMIZERS = {
    # Two float32 moments (Loshchilov & Hutter 2019, arXiv 1711.05101).
    "adamw": Optimizer(8, 8),
    "adam": Optimizer(8, 8),
    # Both moments in 16 bits (Megatron-Core, optimizer_config.py: exp_avg_dtype, exp_avg_sq_dtype).
    "adamw-bf16": Optimizer(4, 4),
    # Both in 8 bits by blocks (Dettmers et al. 2022, arXiv 2110.02861; blocks of 256 in bitsandbytes).
    "adamw-8bit": Optimizer(2 + SCALES, 2 + SCALES),
    # Sums of rows and columns alone: 4 (r + c) / (r c) bytes, which rounds to none (Shazeer & Stern 2018,
    # arXiv 1804.04235; no first moment, as in T5).
    "adafactor": Optimizer(0, 0),
    # One float32 momentum of the matrices, Adam for the rest; 5 iterations (Jordan et al. 2024, "Muon: An
    # optimizer for hidden layers in neural networks"; Liu et al. 2025, arXiv 2502.16982).
    "muon": Optimizer(4, 8, 5),
    "sgd": Optimizer(0, 0),
    "sgd-momentum": Optimizer(4, 4),
}


@lru_cache(maxsize=64)
def newton_schulz_flops(architecture: Architecture) -> float:
    """FLOP of one iteration for a parameter of the layers' matrices, on average.

    A matrix of m rows and n columns, m <= n: X X' takes 2 m^2 n, its square 2 m^3, the product with X
    2 m^2 n; so 4 m + 2 m^2 / n for each of its m n elements.

    Source: Jordan et al. 2024; Megatron-Core, optimizer_config.py: muon_num_ns_steps 5.
    """
    total = weights = 0.0
    for block, count in architecture.blocks:
        for matmul in block.matmuls:
            short, long = sorted((matmul.inner, matmul.outer))
            total += count * matmul.weights * (4 * short + 2 * short**2 / long)
            weights += count * matmul.weights
    return total / max(weights, 1)
