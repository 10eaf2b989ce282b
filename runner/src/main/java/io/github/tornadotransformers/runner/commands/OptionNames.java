package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.TransformersException;

/** How the command line calls what the modules below it speak of. */
final class OptionNames {
    private OptionNames() {}

    static String message(TransformersException e) {
        return e.message(OptionNames::of);
    }

    static String of(Term term) {
        return switch (term) {
            case CACHE_MEMORY -> "--cache-memory";
            case CONTEXT -> "--context";
            case DEVICE -> "--device";
            case DTYPE -> "--dtype";
            case EARLIER_RESULT -> "--compare";
            case ENGINE -> "-e";
            case JVM_FLAG -> "set TRANSFORMERS_JVM_FLAGS=";
            case FREQUENCY_PENALTY -> "frequency_penalty";
            case LOGIT_BIAS -> "logit_bias";
            case MATH -> "--math";
            case MAX_TOKENS -> "--tokens";
            case MIN_P -> "--min-p";
            case PRESENCE_PENALTY -> "presence_penalty";
            case PROMPT_IDS -> "--prompt-ids";
            case REPETITION_PENALTY -> "--repetition-penalty";
            case SEQUENCES -> "--jobs";
            case STOP_TEXTS -> "--stop";
            case TEMPERATURE -> "--temperature";
            case THREADS -> "--threads";
            case TOP_K -> "--top-k";
            case TOP_P -> "--top-p";
            case VALIDATION -> "--validation";
            case HOW_TO_VERIFY -> "run `verify`";
            case TORNADO_HELP -> "./tornado-env.sh";
        };
    }
}
