package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.TransformersException;

/** A logit is NaN or infinite: no token can be chosen from it. */
public final class NonFiniteLogitException extends TransformersException {
    NonFiniteLogitException(int index, int position, float logit) {
        super("logit " + index + " at position " + position + " is " + logit
                + ": the weights or the device are broken; run `verify`");
    }
}
