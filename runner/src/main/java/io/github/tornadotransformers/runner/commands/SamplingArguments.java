package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.models.generation.SamplingOptions;
import picocli.CommandLine.Option;

/** The options that say how a token is chosen. */
final class SamplingArguments {
    @Option(names = "--greedy", description = "always the likeliest token")
    boolean greedy;

    @Option(
            names = "--temperature",
            paramLabel = "T",
            description = "divides the logits (default: ${DEFAULT-VALUE}; 0: greedy)")
    double temperature = SamplingOptions.DEFAULT.temperature();

    @Option(
            names = "--top-k",
            paramLabel = "K",
            description = "only the K likeliest tokens (default: ${DEFAULT-VALUE}; 0: all)")
    int topK = SamplingOptions.DEFAULT.topK();

    @Option(
            names = "--top-p",
            paramLabel = "P",
            description = "only the likeliest that make up P (default: ${DEFAULT-VALUE}: all)")
    double topP = SamplingOptions.DEFAULT.topP();

    @Option(
            names = "--min-p",
            paramLabel = "P",
            description = "only those P times as likely as the likeliest (default: ${DEFAULT-VALUE}: all)")
    double minP = SamplingOptions.DEFAULT.minP();

    @Option(
            names = "--repetition-penalty",
            paramLabel = "X",
            description = "makes tokens that occurred less likely (default: ${DEFAULT-VALUE}: none)")
    double repetitionPenalty = SamplingOptions.DEFAULT.repetitionPenalty();

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "the same seed gives the same text (default: ${DEFAULT-VALUE})")
    long seed = SamplingOptions.DEFAULT.seed();

    /** @throws io.github.tornadotransformers.models.InvalidRequest if a value is out of range */
    SamplingOptions options() {
        return new SamplingOptions(temperature, topK, topP, minP, repetitionPenalty, seed, greedy);
    }
}
