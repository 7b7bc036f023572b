"""Models by chance: which of timm, torchvision and transformers a seed draws, and how they are made.

Weights are random, and transformers' configurations are cut down. Nothing is downloaded. Imported by
export_one.py, which has the libraries.
"""
import random

MOST_PARAMETERS = 32e6  # more takes too long to export and to time thirty times
OPSETS = range(11, 22)
DYNAMO_OPSET = 18  # the least that PyTorch's newer exporter writes of itself
# What makes a configuration small, by the names that configurations have for it.
SMALL = {
    256: "hidden_size d_model dim n_embd embed_dim encoder_hidden_size embedding_size d_embed "
         "projection_dim text_embed_dim hidden_dim encoder_embed_dim",
    3: "num_hidden_layers n_layer n_layers encoder_layers decoder_layers num_layers "
       "num_encoder_layers num_decoder_layers",
    8: "num_attention_heads n_head n_heads encoder_attention_heads decoder_attention_heads "
       "num_heads num_key_value_heads",
    32: "head_dim d_kv attention_head_size qk_nope_head_dim v_head_dim",
    1024: "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff d_inner n_inner "
          "feed_forward_dim",
    2000: "vocab_size",
}


def small_on_paper(build):
    """Whether build()'s model has few parameters; on the meta device, so that none is filled."""
    import torch
    try:
        with torch.device("meta"):
            return sum(p.numel() for p in build().parameters()) <= MOST_PARAMETERS
    except Exception:  # whatever a library raises; its export will say it again
        return False


def candidates(seed, count):
    """`count` rows of each registry in the order of `seed`: {library, model, opset, dynamo, batch}."""
    import timm
    import torchvision
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
    rng, rows = random.Random(seed), []
    vision = torchvision.models.list_models(exclude="quantized*")
    for library, names in (("timm", timm.list_models()), ("torchvision", vision),
                           ("transformers", sorted(MODEL_MAPPING_NAMES))):
        names, found = rng.sample(names, len(names)), 0
        for name in names:
            opset, dynamo = rng.choice(OPSETS), rng.random() < 0.5
            row = {"library": library, "model": name, "opset": opset, "batch": rng.random() < 0.5,
                   "dynamo": dynamo and opset >= DYNAMO_OPSET}
            if library == "transformers" or small_on_paper(lambda: unfilled(library, name)):
                rows.append(row)
                found += 1
            if found == count:
                break
    return rows


def unfilled(library, name):
    if library == "timm":
        import timm
        return timm.create_model(name, pretrained=False)
    import torchvision
    return torchvision.models.get_model(name, weights=None, **backbone(name))


def backbone(name):
    """Detectors and segmenters fetch a trained backbone unless they are told not to."""
    parts = ("rcnn", "retinanet", "fcos", "ssd", "deeplab", "fcn", "lraspp")
    return {"weights_backbone": None} if any(p in name for p in parts) else {}


def vision(library, name):
    """(module, inputs) of timm's or torchvision's model."""
    import torch
    from torch import nn
    model = unfilled(library, name).eval()
    if library == "timm":
        return model, (torch.randn(1, *model.default_cfg["input_size"]),)
    if any(part in name for part in ("rcnn", "retinanet", "fcos", "ssd")):
        return model, ([torch.rand(3, 320, 320)],)
    if name.startswith("raft"):
        return model, (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128))
    if any(part in name for part in ("r3d", "mc3", "r2plus1d", "s3d", "mvit", "swin3d")):
        return model, (torch.randn(1, 3, 16, 112 if "r" == name[0] or "mc3" in name else 224,
                                   112 if "r" == name[0] or "mc3" in name else 224),)
    if any(part in name for part in ("deeplab", "fcn", "lraspp")):
        class Out(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = model

            def forward(self, x):
                return self.net(x)["out"]
        return Out(), (torch.randn(1, 3, 224, 224),)
    return model, (torch.randn(1, 3, 299 if "inception" in name else 224,
                               299 if "inception" in name else 224),)


def shrink(config):
    """Cuts sizes down in a configuration and those inside it."""
    for value, names in SMALL.items():
        for name in names.split():
            if isinstance(getattr(config, name, None), int) and getattr(config, name) > value:
                setattr(config, name, value)
    layers = getattr(config, "num_hidden_layers", None)
    if isinstance(getattr(config, "layer_types", None), list) and isinstance(layers, int):
        config.layer_types = config.layer_types[:layers]
    for part in list(vars(config).values()):
        if hasattr(part, "to_diff_dict"):
            shrink(part)


def transformer(kind):
    """(module, inputs) of a transformers model with a small configuration; its first tensor output."""
    import torch
    import transformers
    config = transformers.CONFIG_MAPPING[kind]()
    shrink(config)
    config.use_cache = False
    if hasattr(config, "_attn_implementation"):
        config._attn_implementation = "eager"
    model = transformers.AutoModel.from_config(config).eval()
    main, size = model.main_input_name, getattr(config, "image_size", None) or 224
    size = size if isinstance(size, int) else max(size)
    channels = getattr(config, "num_channels", 3)
    makers = {"input_ids": lambda: torch.randint(3, 1000, (1, 48)),
              "pixel_values": lambda: torch.randn(1, channels, size, size),
              "input_values": lambda: torch.randn(1, 16000),
              "input_features": lambda: torch.randn(1, getattr(config, "num_mel_bins", 80),
                                                    2 * getattr(config, "max_source_positions",
                                                                1500))}
    if main not in makers:
        raise ValueError(f"its main input is {main}, which no maker here knows")
    decodes = getattr(config, "is_encoder_decoder", False) and main != "pixel_values"

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = model

        def forward(self, x, *decoder):
            more = {"decoder_input_ids": decoder[0]} if decoder else {}
            return next(v for v in self.net(**{main: x}, **more).values()
                        if isinstance(v, torch.Tensor))
    inputs = (makers[main](), torch.randint(3, 1000, (1, 8))) if decodes else (makers[main](),)
    return First(), inputs


def build(row):
    """(module, inputs) of a row of candidates()."""
    if row["library"] == "transformers":
        return transformer(row["model"])
    return vision(row["library"], row["model"])
