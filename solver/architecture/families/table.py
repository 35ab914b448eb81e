"""The decoder families by `model_type`: the one list of family names, each with what sets it apart."""

from solver.architecture.families.record import Decoder, Flag, Moe

ATTENTION_BIAS: Flag = ("attention_bias", False)
MLP_BIAS: Flag = ("mlp_bias", False)
USE_BIAS: Flag = ("use_bias", False)

_LLAMA = Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, mlp_bias=MLP_BIAS)
_QWEN2 = Decoder(qkv_bias=True, window="switch")
_QWEN3 = Decoder(
    qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head", head_dim=128, window="switch"
)
_GPT = Decoder(
    gated=False, layer_norm=True, qkv_bias=True, o_bias=True, mlp_bias=True, tied=True, positions="learned",
    ffn_multiple=4,
)  # fmt: skip
_GEMMA = Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, tied=True, head_dim=256)

DENSE: dict[str, Decoder] = {
    "llama": _LLAMA,
    "mistral": Decoder(kv_heads=8, window="all"),
    "ministral": Decoder(kv_heads=8, window="all"),
    "qwen2": _QWEN2,
    "qwen3": _QWEN3,
    "phi3": Decoder(window="all"),
    "gpt2": _GPT,
    "gpt_neox": Decoder(
        gated=False, layer_norm=True, parallel=("use_parallel_residual", True),
        qkv_bias=("attention_bias", True), o_bias=("attention_bias", True), mlp_bias=True,
    ),
    "gemma": _GEMMA,
}  # fmt: skip

_QWEN_MOE = Moe(layers="step")
_DEEPSEEK = Moe(shared="count", layers="first_dense", default_first=3)

SPARSE: dict[str, Decoder] = {
    "mixtral": Decoder(
        kv_heads=8, window="all", moe=Moe(ffn=("intermediate_size",), default_experts=8, default_per_token=2),
    ),
    "qwen2_moe": Decoder(
        qkv_bias=("qkv_bias", True), window="switch",
        moe=Moe(
            layers="step", shared="width", shared_key="shared_expert_intermediate_size", shared_gate=True,
        ),
    ),
    "qwen3_moe": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head", window="switch", moe=_QWEN_MOE,
    ),
    "deepseek_v2": Decoder(latent=True, moe=_DEEPSEEK),
    "deepseek_v3": Decoder(latent=True, moe=_DEEPSEEK),
}  # fmt: skip

DECODERS = DENSE | SPARSE
