"""Guesses of what a module class is called with: constructor arguments from names, annotations
and the uses of a configuration object; inputs of forward from their names and a list of shapes.
Everything is source text, so that PyTorch and the host engine evaluate the same."""
import ast
import inspect
import re

DIM = (16, 8, 64, 32)
# (pattern of the parameter's name, its values as source text, one per variant)
BY_NAME = [
    (r"(in_|input_)?(chans|image_channels|img_channels)$", ["3", "16", "3", "3"]),
    (r"(kernel_?size|kernel|ks|k_size|window|filter_size)$", ["3", "3", "(3, 3)", "5"]),
    (r"(stride|strides|dilation|dilations|groups|num_groups|rank|num_convs)$", ["1", "1", "(1, 1)", "4"]),
    (r"(pad|padding)$", ["1", "1", "(1, 1)", "0"]),
    (r"(n_?heads?|num_(attention_)?heads|heads|nhead|h|head_num|attention_heads|num_key_value_heads)$", ["4", "2", "8", "4"]),
    (r"(dim_head|head_dim|d_k|d_v|d_head)$", ["8", "4", "8", "4"]),
    (r"(num_?class(es)?|n_?class(es)?|class_num|num_labels|nclass|nc|output_size|out_dim)$", ["10", "5", "16", "2"]),
    (r"(layers|num_blocks|depths|blocks|block_counts|stages)$", ["2", "[2, 2, 2, 2]", "[1, 1, 1, 1]", "1"]),
    (r"(depth|n_?layers?|num_layers|n_blocks|num_hidden_layers|num_units|n|e_layers|d_layers|num_res.*|repeats?|steps|num_stages)$", ["2", "1", "2", "3"]),
    (r"(image_size|img_size|input_resolution|resolution|image_width|image_height|img_shape)$", ["32", "(32, 32)", "64", "(16, 16)"]),
    (r"(height|width|w|frames|num_frames|feat_size)$", ["16", "16", "8", "32"]),
    (r"(patch_size|p_size|frame_patch_size|image_patch_size|window_size)$", ["8", "4", "(4, 4)", "2"]),
    (r"(.*drop.*|p|prob|rate|.*_rate|alpha|beta|gamma|temperature|margin|sigma|momentum|.*_prob)$", ["0.1", "0.2", "0.5", "1.0"]),
    (r"(r|.*ratio|reduction|.*mult|.*expansion|expand.*|scale.*|factor|t|upscale|growth_rate|multiplier|.*factor)$", ["2", "4", "2", "1"]),
    (r"(eps|epsilon|.*_eps)$", ["1e-5"] * 4),
    (r"(norm|norm_layer|norm_type|normalization|norm_fn|norm_func|norm_cfg)$", ["nn.BatchNorm2d", "nn.LayerNorm", "'bn'", "nn.Identity"]),
    (r"(act|activation|act_layer|act_fn|nonlinearity|activation_fn|hidden_act|act_func|non_linearity|.*activation)$", ["nn.ReLU()", "nn.ReLU", "'relu'", "nn.functional.relu"]),
    (r"(fn|module|layer|net|sublayer|submodule|model|backbone|func|encoder_layer|decoder_layer|conv|base|encoder|decoder|mlp|attn|attention)$",
     ["nn.Identity()", "nn.Linear(16, 16)", "nn.Conv2d(16, 16, 3, padding=1)", "nn.Identity"]),
    (r"(vocab_?size|num_tokens|n_?tokens?|num_embeddings|vocab|src_vocab.*|trg_vocab.*|n_vocab|ntoken)$", ["64"] * 4),
    (r"(.*len|.*length|max_position.*|context_.*|n_ctx|block_size|num_patches|max_seq_len|seq_length|length|n_position|num_queries)$", ["16", "8", "64", "32"]),
    (r"(use_.*|is_.*|has_.*|with_.*|bias|.*_bias|causal|bn|residual|shortcut|downsample|bilinear|affine|training|batch_first|inplace|output_attention)$",
     ["True", "False", "True", "False"]),
    (r"(mode|type|name|.*_type|.*_mode|pool|method|padding_mode|upsample)$", ["'nearest'", "'mean'", "'relu'", "'same'"]),
    (r"(block|bottleneck|unit)$", ["BasicBlock", "Bottleneck", "Block", "nn.Identity"]),
    (r".*(channels|planes|dims|sizes|filters|features|hidden_layers)s?_?(list)?$", ["16", "[16, 16]", "64", "[16, 16, 16, 16]"]),
]
BY_TYPE = {"int": [str(d) for d in DIM], "float": ["0.5", "0.1", "1.0", "2.0"], "bool": ["True", "False", "True", "False"], "str": ["'relu'", "'mean'", "'same'", "'nearest'"]}


def value_of(name, kind, variant):
    plain = name.lower().lstrip("_")
    if kind in ("float", "bool"):
        return BY_TYPE[kind][variant]
    for pattern, values in BY_NAME:
        if re.match(pattern, plain):
            return values[variant]
    if re.search(r"List\[int|list\[int|Sequence\[int", kind):
        return "[16, 16]"
    if re.search(r"Tuple\[int|tuple\[int", kind):
        return "(" + ", ".join(["16"] * max(2, kind.count("int"))) + ")"
    return BY_TYPE.get(kind, BY_TYPE["int"])[variant]


def is_config(name):
    return re.match(r"(.*config.*|configs|args|cfg|.*_cfg|opt|opts|hparams|params|hps|options)$", name.lower()) is not None


def config_text(source, name, variant):
    """An object with the attributes that the source reads from parameters of that name."""
    fields = {}
    for n in ast.walk(ast.parse(source)):
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load):
            root = n.value.attr if isinstance(n.value, ast.Attribute) else n.value.id if isinstance(n.value, ast.Name) else ""
            if root == name and n.attr not in ("get", "items", "keys", "pop"):
                fields[n.attr] = value_of(n.attr, "", variant)
    return "Config(" + ", ".join(f"{k}={v}" for k, v in sorted(fields.items())) + ")"


def constructor(cls, source, variant):
    """Source text of the arguments that the constructor needs; None: not to be guessed."""
    parts = []
    for p in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.default is not p.empty:
            continue
        kind = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", str(p.annotation))
        text = config_text(source, p.name, variant) if is_config(p.name) else value_of(p.name, kind, variant)
        parts.append(f"{p.name}={text}" if p.kind == p.KEYWORD_ONLY else text)
    return ", ".join(parts)


def shapes(variant):
    """Shapes to try for the main inputs, the likely ones first; "i" marks token numbers."""
    c = DIM[variant]
    out = [f"2, {c}, 16, 16", f"2, 16, {c}", f"2, {c}", "1, 3, 32, 32", f"2, {c}, 16", f"1, {c}, 8, 8, 8", "i2, 16", "1, 3, 64, 64", "1, 1, 28, 28", "1, 3, 224, 224",
           "1, 3, 16, 32, 32", f"16, {c}", f"{c}", f"2, 4, 16, {c // 4}", "2, 16, 3", "2, 1, 256", "2, 16, 16, " + str(c), "1, 1, 32, 32", "2, 3, 16"]
    return out if variant == 0 else out[:13]


def tensor_text(shape):
    return f"torch.randint(0, 10, ({shape[1:]},))" if shape[0] == "i" else f"torch.rand({shape})"


def one_input(name, kind, shape):
    n = name.lower()
    if re.match(r".*(mask|padding).*$", n):
        return "None"
    if re.match(r"(t|time|timesteps?|time_step|noise_level|steps?)$", n):
        return "torch.rand(" + shape.lstrip("i").split(",")[0] + ")"
    if re.match(r"(h|w|height|width|hh|ww|n|scale|size)$", n) or kind == "int":
        return "16"
    if re.match(r"(labels?|targets?|y_true|gt|lengths?|idx|indices|index|edge_index)$", n) and "loss" not in n:
        return tensor_text("i" + shape.lstrip("i").split(",")[0]) if not n.startswith("tar") else tensor_text(shape)
    if kind == "bool":
        return "False"
    if kind == "float":
        return "0.5"
    if re.match(r"(List|list|Sequence|Tuple|tuple).*Tensor", kind) or re.match(r"(features|feats|xs|inputs|tensors)$", n) and "Tensor" != kind:
        return f"[{tensor_text(shape)}, {tensor_text(shape)}]" if "List" in kind or n == "xs" else tensor_text(shape)
    return tensor_text(shape)


def inputs(cls, shape):
    """Source text of a list of inputs of forward."""
    parts = []
    for p in list(inspect.signature(cls.forward).parameters.values())[1:]:
        if p.kind == p.VAR_POSITIONAL and not parts:
            parts.append(tensor_text(shape))
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) or p.default is not p.empty:
            continue
        kind = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", str(p.annotation))
        parts.append(one_input(p.name, kind, shape))
    return "[" + ", ".join(parts) + "]"


CONFIG = '''
class Config:
    def __init__(self, **kw):
        for k in kw:
            setattr(self, k, kw[k])
    def get(self, name, default=None):
        return getattr(self, name, default)
'''


def task(source, name, arguments, given):
    """A task in KernelBench's form: host_run's input."""
    return (f"{source}\nimport torch\nimport torch.nn as nn\n{CONFIG if 'Config(' in arguments and 'class Config' not in source else ''}"
            f"\ndef make_model():\n    return {name}({arguments})\n\ndef Model():\n    return make_model()\n"
            f"\ndef get_inputs():\n    return {given}\n\ndef get_init_inputs():\n    return []\n")
