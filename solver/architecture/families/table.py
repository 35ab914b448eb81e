"""Decoder families by `model_type`, each with what sets it apart from the plainest decoder."""

from solver.architecture.families.record import Decoder, Flag, Moe

ATTENTION_BIAS: Flag = ("attention_bias", False)
MLP_BIAS: Flag = ("mlp_bias", False)
USE_BIAS: Flag = ("use_bias", False)

_LLAMA = Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, mlp_bias=MLP_BIAS)
_MISTRAL = Decoder(kv_heads=8, window="all")
_QWEN3 = Decoder(
    qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head", head_dim=128, window="switch"
)
_GPT = Decoder(
    gated=False, layer_norm=True, qkv_bias=True, o_bias=True, mlp_bias=True, tied=True, positions="learned",
    ffn_multiple=4,
)  # fmt: skip
_GEMMA = Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, tied=True, head_dim=256)
_GLM = Decoder(qkv_bias=("attention_bias", True), head_dim=128, kv_heads=2)
_OLMO2 = Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="width")
_GPTJ = Decoder(
    gated=False, layer_norm=True, norms=1, parallel=True, mlp_bias=True, head_bias=True, ffn_multiple=4
)

DENSE: dict[str, Decoder] = {
    "llama": _LLAMA,
    "Yi": _LLAMA,
    "baichuan": Decoder(),
    "internlm": Decoder(qkv_bias=("bias", True), o_bias=("bias", True)),
    "internlm2": Decoder(qkv_bias=("bias", True), o_bias=("bias", True)),
    "internlm3": Decoder(qkv_bias=("qkv_bias", False), o_bias=("bias", False)),
    "granite": _LLAMA,
    "arcee": Decoder(gated=False, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, mlp_bias=MLP_BIAS),
    "smollm3": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, mlp_bias=MLP_BIAS, tied=True, kv_heads=4,
        window="switch",
    ),
    "seed_oss": Decoder(
        qkv_bias=("attention_bias", True), o_bias=("attention_out_bias", False), mlp_bias=MLP_BIAS,
        head_dim=128,
        kv_heads=8,
    ),
    "ernie4_5": Decoder(qkv_bias=USE_BIAS, o_bias=USE_BIAS, mlp_bias=USE_BIAS, tied=True, head_dim=128,
        kv_heads=2),
    "hunyuan_v1_dense": Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head"),
    "exaone4": Decoder(qk_norm="head", window="pattern", pattern=4),
    "nemotron": Decoder(
        gated=False, layer_norm=True, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, mlp_bias=MLP_BIAS,
    ),
    "mistral": _MISTRAL,
    "ministral": _MISTRAL,
    "ministral3": Decoder(kv_heads=8, head_dim=128, window="all"),
    "qwen2": Decoder(qkv_bias=True, window="switch"),
    "qwen3": _QWEN3,
    "mimo": Decoder(qkv_bias=("attention_bias", True), head_dim=0, window="switch"),
    "phi": Decoder(
        gated=False, layer_norm=True, norms=1, parallel=True, qkv_bias=True, o_bias=True, mlp_bias=True,
        head_bias=True, qk_norm="head_bias", qk_norm_flag=("qk_layernorm", False),
    ),
    "phi3": Decoder(window="all"),
    "gpt2": _GPT,
    "gptj": _GPTJ,
    "codegen": _GPTJ,
    "gpt_neox": Decoder(
        gated=False, layer_norm=True, parallel=("use_parallel_residual", True),
        qkv_bias=("attention_bias", True), o_bias=("attention_bias", True), mlp_bias=True,
    ),
    "persimmon": Decoder(
        gated=False, layer_norm=True, qkv_bias=True, o_bias=True, mlp_bias=True, qk_norm="head_bias",
        qk_norm_flag=("qk_layernorm", True),
    ),
    "bloom": Decoder(
        gated=False, layer_norm=True, qkv_bias=True, o_bias=True, mlp_bias=True, tied=True, positions="none",
        embedding_norm=True, ffn_multiple=4,
    ),
    "starcoder2": Decoder(
        gated=False, layer_norm=True, qkv_bias=("use_bias", True), o_bias=("use_bias", True),
        mlp_bias=("use_bias", True), tied=True, kv_heads=2, window="all",
    ),
    "gemma": _GEMMA,
    "gemma2": Decoder(
        norms=4, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, tied=True, head_dim=256, kv_heads=4,
        window="pattern", pattern=2,
    ),
    "gemma3_text": Decoder(
        norms=4, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head", tied=True, head_dim=256,
        kv_heads=4, window="pattern", pattern=6,
    ),
    "olmo": Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, norm_weight=False),
    "olmo2": _OLMO2,
    "olmo3": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="width", window="pattern", pattern=4,
    ),
    "cohere": Decoder(
        norms=1, parallel=True, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, tied=True, qk_norm="width",
        qk_norm_flag=("use_qk_norm", False),
    ),
    "cohere2": Decoder(
        norms=1, parallel=True, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, tied=True, window="pattern",
        pattern=4,
    ),
    "glm": _GLM,
    "glm4": Decoder(norms=4, qkv_bias=("attention_bias", True), head_dim=128, kv_heads=2),
}  # fmt: skip

_MIXTRAL_MOE = Moe(ffn=("intermediate_size",), default_experts=8, default_per_token=2)
_DEEPSEEK = Decoder(latent=True, moe=Moe(shared="count", layers="first_dense", default_first=3))

SPARSE: dict[str, Decoder] = {
    "mixtral": Decoder(kv_heads=8, window="all", moe=_MIXTRAL_MOE),
    "qwen2_moe": Decoder(
        qkv_bias=("qkv_bias", True), window="switch",
        moe=Moe(
            layers="step", shared="width", shared_key="shared_expert_intermediate_size", shared_default=5632,
            shared_gate=True,
        ),
    ),
    "qwen3_moe": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head", kv_heads=4, window="switch",
        moe=Moe(layers="step"),
    ),
    "deepseek": Decoder(moe=Moe(shared="count", layers="first_dense")),
    "deepseek_v2": Decoder(latent=True, moe=Moe(shared="count", shared_default=2, layers="first_dense")),
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "glm_moe_dsa": _DEEPSEEK,
    "glm4_moe_lite": Decoder(latent=True, moe=Moe(shared="count", shared_default=1, layers="first_dense",
        default_first=1)),
    "glm4_moe": Decoder(
        qkv_bias=ATTENTION_BIAS, qk_norm="head", qk_norm_flag=("use_qk_norm", False), kv_heads=8, head_dim=0,
        moe=Moe(shared="count", shared_default=1, layers="first_dense", default_first=1),
    ),
    "dots1": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="head",
        moe=Moe(shared="count", layers="first_dense"),
    ),
    "llama4_text": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, kv_heads=8, head_dim=128, window="chunk", pattern=4,
        moe=Moe(
            ffn=("intermediate_size",), shared="one", layers="interleave",
            dense_ffn=("intermediate_size_mlp",),
        ),
    ),
    "gpt_oss": Decoder(
        qkv_bias=("attention_bias", True), o_bias=("attention_bias", True), kv_heads=8, head_dim=64,
        window="pattern", pattern=2, sinks=True,
        moe=Moe(ffn=("intermediate_size",), bias=True, router_bias=True, clamped=True),
    ),
    "minimax_m2": Decoder(
        qk_norm="width", qk_norm_flag=("use_qk_norm", True), kv_heads=8, head_dim=128,
        moe=Moe(ffn=("intermediate_size",)),
    ),
    "olmoe": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="width",
        moe=Moe(ffn=("intermediate_size",), default_experts=64, default_per_token=8),
    ),
    "flex_olmo": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, qk_norm="width", moe=Moe(ffn=("intermediate_size",)),
    ),
    "grok-1": Decoder(norms=4, tied=True, moe=_MIXTRAL_MOE),
    "granitemoe": Decoder(qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, moe=_MIXTRAL_MOE),
    "granitemoeshared": Decoder(
        qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS,
        moe=Moe(
            ffn=("intermediate_size",), default_experts=8, default_per_token=2, shared="width",
            shared_key="shared_intermediate_size",
        ),
    ),
    "phimoe": Decoder(
        layer_norm=True, qkv_bias=ATTENTION_BIAS, o_bias=ATTENTION_BIAS, head_bias=("lm_head_bias", False),
        kv_heads=8, window="all", moe=Moe(ffn=("intermediate_size",), default_experts=16,
            default_per_token=2),
    ),
    "ernie4_5_moe": Decoder(
        qkv_bias=USE_BIAS, o_bias=USE_BIAS, mlp_bias=USE_BIAS, head_bias=USE_BIAS, tied=True, kv_heads=4,
        moe=Moe(
            bias=False, shared="count", shared_key="moe_num_shared_experts", shared_default=2, layers="start",
            default_first=1, shared_bias=USE_BIAS, score_bias=True,
        ),
    ),
}  # fmt: skip

DECODERS = DENSE | SPARSE
