package io.github.tornadotransformers.models;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * How the checkpoints of one {@code model_type} are written, and what models of the family there are to try. An implementation
 * with {@code @MetaInfServices(ModelFamily.class)} is found wherever it lies on the class path; nothing else names it.
 */
public interface ModelFamily<C extends ModelConfig> {
    /** The head's tensor, in every family, where the embedding does not serve as one. */
    String HEAD = "lm_head.weight";

    /** The value of {@code model_type}. */
    String modelType();

    Class<C> configType();

    /** What may stand before the tensor names of the family's programs, with its dot: {@code transformer.}, {@code model.}. */
    default String tensorPrefix() {
        return "model.";
    }

    /** A program's tensor name as Hugging Face's model with a head spells it: the head itself has no prefix. */
    default String fullName(String tensorName) {
        return tensorName.startsWith("lm_head.") ? tensorName : tensorPrefix() + tensorName;
    }

    /**
     * Whether a tensor that the program does not use is known to be no loss: a buffer, or the copy of a tied weight.
     *
     * @param tensorName without the prefix
     */
    default boolean ignores(String tensorName) {
        return tensorName.endsWith("rotary_emb.inv_freq") || tensorName.equals(HEAD);
    }

    /** @throws CheckpointException if a value is missing, out of range, or asks for what is not implemented */
    C parse(ConfigReader config);

    /** Writes the fields of {@code config.json} from which {@link #parse} makes an equal config. */
    void describe(C config, ObjectNode json);

    /**
     * Small models that together have every oddity of the family, with odd sizes: what tests, {@code verify --kernels}, the
     * warm-up and benchmarks' own checks run. Each has at least 40 positions, and a vocabulary of at least 61 ids.
     */
    List<C> examples();

    /**
     * Models that reach what examples are too small for, with few ids and layers: widths of published models, more positions
     * than a slice. None need be there; {@code verify --kernels} runs them in every weight type.
     */
    default List<C> largerExamples() {
        return List.of();
    }

    /** The shapes of published models by name, which can be measured without a download; none need be there. */
    default Map<String, C> published() {
        return Map.of();
    }
}
