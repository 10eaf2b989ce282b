package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.program.Program;

/** How many positions a model's sequences may have on an engine, and what is said where they do not do. */
public final class ContextLength {
    /** What the cache is made for when nothing is said, if the model allows it. */
    private static final int DEFAULT = 2048;

    private ContextLength() {}

    /**
     * The positions to make room for.
     *
     * @throws InvalidRequest if more are asked for than the model was trained for
     */
    static int of(ModelConfig config, EngineSettings settings) {
        int context = settings.context().orElse(Math.min(config.contextLength(), DEFAULT));
        if (context < 1 || context > config.contextLength()) {
            throw new InvalidRequest(Wording.of(
                    "%s is %d, expected 1 to %d, the positions that the model was trained for",
                    Term.CONTEXT, context, config.contextLength()));
        }
        return context;
    }

    /**
     * The model's program with room for that many positions.
     *
     * @throws InvalidRequest if they are more than an array can hold
     */
    static Program program(ModelConfig config, EngineSettings settings) {
        int context = of(config, settings);
        if (!fits(config, context)) {
            throw new InvalidRequest(Wording.of(
                    "%s is %d, expected 1 to %d, the positions of this model that an array of the cache can hold",
                    Term.CONTEXT, context, longest(config, context)));
        }
        return config.program(context);
    }

    private static boolean fits(ModelConfig config, int context) {
        try {
            return config.program(context).attention().cacheLayerSize() <= Integer.MAX_VALUE;
        } catch (ArithmeticException e) {
            return false;
        }
    }

    private static int longest(ModelConfig config, int tooLong) {
        int fitting = 0;
        int not = tooLong;
        while (not - fitting > 1) {
            int middle = (fitting + not) >>> 1;
            if (fits(config, middle)) {
                fitting = middle;
            } else {
                not = middle;
            }
        }
        return fitting;
    }

    /**
     * Checks that so many positions have room.
     *
     * @param what needs them, as the message's beginning
     * @param remedy what helps whatever the model allows
     * @throws InvalidRequest with the figures, and with what helps
     */
    public static void requireRoom(
            String what, long positions, String remedy, ModelConfig config, EngineSettings settings) {
        int context = of(config, settings);
        if (positions > config.contextLength()) {
            throw new InvalidRequest(
                    Wording.of("%s, but the model was trained for %d: %s", what, config.contextLength(), remedy));
        }
        if (positions > context) {
            throw new InvalidRequest(Wording.of(
                    "%s, but the context holds %d: %s, or raise %s (the model was trained for %d)",
                    what, context, remedy, Term.CONTEXT, config.contextLength()));
        }
    }
}
