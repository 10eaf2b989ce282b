package io.github.tornadotransformers.runner.hub;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A released model that can be named instead of a folder.
 *
 * @param repository on the Hugging Face hub
 * @param family the command that runs it, which is its {@code model_type}
 * @param gated whether its owner wants a licence to be accepted first
 */
public record KnownModel(String name, String repository, String family, String description, boolean gated) {
    private static final String GPT2 = "gpt2";
    private static final String LLAMA = "llama";

    private static final List<KnownModel> ALL = List.of(
            open("gpt2", "openai-community/gpt2", GPT2, "GPT-2, 124M parameters, 0.5 GB"),
            open("gpt2-medium", "openai-community/gpt2-medium", GPT2, "GPT-2, 355M parameters, 1.5 GB"),
            open("gpt2-large", "openai-community/gpt2-large", GPT2, "GPT-2, 774M parameters, 3.2 GB"),
            open("gpt2-xl", "openai-community/gpt2-xl", GPT2, "GPT-2, 1.5B parameters, 6.4 GB"),
            open("distilgpt2", "distilbert/distilgpt2", GPT2, "DistilGPT-2, 82M parameters, 0.4 GB"),
            open("tinyllama", "TinyLlama/TinyLlama-1.1B-Chat-v1.0", LLAMA, "TinyLlama chat, 1.1B parameters, 2.2 GB"),
            open("smollm2-135m", "HuggingFaceTB/SmolLM2-135M", LLAMA, "SmolLM2, 135M parameters, 0.3 GB"),
            open("smollm2-360m", "HuggingFaceTB/SmolLM2-360M", LLAMA, "SmolLM2, 360M parameters, 0.7 GB"),
            open("smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B", LLAMA, "SmolLM2, 1.7B parameters, 3.4 GB"),
            new KnownModel(
                    "llama-3.2-1b", "meta-llama/Llama-3.2-1B", LLAMA, "Llama 3.2, 1.2B parameters, 2.5 GB", true));

    private static KnownModel open(String name, String repository, String family, String description) {
        return new KnownModel(name, repository, family, description, false);
    }

    public static List<KnownModel> all() {
        return ALL;
    }

    public static Optional<KnownModel> named(String name) {
        return ALL.stream().filter(model -> model.name().equals(name)).findFirst();
    }

    /** All names, for a message. */
    static String names() {
        return ALL.stream().map(KnownModel::name).collect(Collectors.joining(", "));
    }
}
