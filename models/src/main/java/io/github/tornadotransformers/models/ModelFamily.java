package io.github.tornadotransformers.models;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** How the checkpoints of one {@code model_type} are written. */
public interface ModelFamily<C extends ModelConfig> {
    /** The head's tensor, in every family, where the embedding does not serve as one. */
    String HEAD = "lm_head.weight";

    /** The value of {@code model_type}. */
    String modelType();

    Class<C> configType();

    /** What may stand before the tensor names of the family's programs, with its dot: {@code transformer.}, {@code model.}. */
    String tensorPrefix();

    /** A program's tensor name as Hugging Face's model with a head spells it: the head itself has no prefix. */
    default String fullName(String tensorName) {
        return tensorName.startsWith("lm_head.") ? tensorName : tensorPrefix() + tensorName;
    }

    /**
     * Whether a tensor that the program does not use is known to be no loss: a buffer, or the copy of a tied weight.
     *
     * @param tensorName without the prefix
     */
    boolean ignores(String tensorName);

    /** @throws CheckpointException if a value is missing, out of range, or asks for what is not implemented */
    C parse(ConfigReader config);

    /** Writes the fields of {@code config.json} from which {@link #parse} makes an equal config. */
    void describe(C config, ObjectNode json);
}
