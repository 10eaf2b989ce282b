package io.github.tornadotransformers.models.decoder;

import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.TensorPart;
import java.util.List;
import java.util.Optional;

/** What Llama's tensors are called in Hugging Face's checkpoints, and those of most families since. */
public final class Names {
    public static final String EMBEDDING = "embed_tokens.weight";
    public static final String BLOCK = "layers." + TensorPart.LAYER + ".";
    public static final String FINAL_NORM = "norm.";

    private Names() {}

    /** Queries, keys and values, each with a bias or all without. */
    public static Projection[] qkv(AttentionShape shape, boolean biased) {
        return new Projection[] {
            Projection.of("self_attn.q_proj.", shape.queryWidth()).biased(biased),
            Projection.of("self_attn.k_proj.", shape.keyValueWidth()).biased(biased),
            Projection.of("self_attn.v_proj.", shape.keyValueWidth()).biased(biased)
        };
    }

    public static Projection output(int hiddenSize, boolean biased) {
        return Projection.of("self_attn.o_proj.", hiddenSize).biased(biased);
    }

    public static List<Projection> gateUp(int intermediateSize, boolean biased) {
        return List.of(
                Projection.of("mlp.gate_proj.", intermediateSize).biased(biased),
                Projection.of("mlp.up_proj.", intermediateSize).biased(biased));
    }

    public static Projection down(int hiddenSize, boolean biased) {
        return Projection.of("mlp.down_proj.", hiddenSize).biased(biased);
    }

    /** The tensor of a head of its own; none where the token embedding serves. */
    public static Optional<String> head(boolean tied) {
        return tied ? Optional.empty() : Optional.of("lm_head.weight");
    }
}
