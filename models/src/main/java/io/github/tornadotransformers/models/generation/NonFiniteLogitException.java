package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.Wording;

/** A logit is NaN or infinite: no token can be chosen from it. */
public final class NonFiniteLogitException extends TransformersException {
    NonFiniteLogitException(int index, int position, float logit) {
        super(Wording.of(
                "logit %d at position %d is %s: the weights or the device are broken; %s",
                index, position, logit, Term.HOW_TO_VERIFY));
    }
}
