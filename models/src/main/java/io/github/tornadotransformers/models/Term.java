package io.github.tornadotransformers.models;

/**
 * What a message speaks of and its readers name in their own way: a Java programmer as the library does, whoever types a command
 * by its options.
 */
public enum Term {
    CACHE_MEMORY("cacheBytes"),
    CONTEXT("context"),
    DEVICE("device"),
    DTYPE("dtype"),
    EARLIER_RESULT("earlier result"),
    ENGINE("engine"),
    /** Stands right before a flag. */
    JVM_FLAG("start java with "),

    FREQUENCY_PENALTY("frequencyPenalty"),
    LOGIT_BIAS("logitBias"),
    MATH("math"),
    MAX_TOKENS("maxTokens"),
    MIN_P("minP"),
    PRESENCE_PENALTY("presencePenalty"),
    PROMPT_IDS("prompt ids"),
    REPETITION_PENALTY("repetitionPenalty"),
    SEQUENCES("sequences"),
    STOP_TEXTS("stopTexts"),
    TEMPERATURE("temperature"),
    THREADS("threads"),
    TOP_K("topK"),
    TOP_P("topP"),
    VALIDATION("validation"),

    /** How it is found out which Op on which engine is wrong. */
    HOW_TO_VERIFY("compare with engine scalar"),

    /** What says how TornadoVM and its drivers are installed. */
    TORNADO_HELP("https://www.tornadovm.org");

    private final String inLibrary;

    Term(String inLibrary) {
        this.inLibrary = inLibrary;
    }

    /** As the library calls it. */
    @Override
    public String toString() {
        return inLibrary;
    }
}
