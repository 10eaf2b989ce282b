package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Function;

/**
 * Every family in double, written from the papers: an independent judge of the engines. It reads {@code config.json} itself, and
 * knows nothing of configs, programs, slices or caches; every call runs the whole text, token by token and head by head.
 */
public final class Float64Model {
    /**
     * What a text gives.
     *
     * @param trace the embeddings, then the residual after attention and after the MLP of each block, {@code [row][hidden]}
     * @param logits {@code [row][vocabSize]}
     */
    public record Result(List<double[][]> trace, double[][] logits) {}

    private final JsonNode config;
    private final Function<String, double[]> tensors;
    private final int contextLength;

    private Float64Model(JsonNode config, Function<String, double[]> tensors, int contextLength) {
        this.config = config;
        this.tensors = tensors;
        this.contextLength = contextLength;
    }

    /** @param contextLength positions that a sequence may have, by which LongRoPE chooses */
    public static Float64Model of(Checkpoint checkpoint, int contextLength) {
        try {
            JsonNode config = new ObjectMapper()
                    .readTree(checkpoint.path().resolve("config.json").toFile());
            return new Float64Model(config, new CheckpointTensors(checkpoint), contextLength);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Result run(int[] ids) {
        return config.get("model_type").textValue().equals("gpt2")
                ? new Float64Gpt2(config, tensors).run(ids)
                : Float64Families.of(config, tensors, contextLength).run(ids);
    }
}
