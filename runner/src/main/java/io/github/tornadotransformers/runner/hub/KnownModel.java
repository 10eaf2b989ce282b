package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.ByteCount;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A released model that has a short name.
 *
 * @param repository on the Hugging Face hub
 * @param revision the commit that the short name means, whatever is published after it
 * @param family its {@code model_type}
 * @param bytes of its weights' files
 * @param gated whether its owner wants a licence to be accepted first
 */
public record KnownModel(
        String name, String repository, String revision, String family, String title, long bytes, boolean gated) {
    private static final String GPT2 = "gpt2";
    private static final String LLAMA = "llama";

    private static final List<KnownModel> ALL = List.of(
            open(
                    "gpt2",
                    "openai-community/gpt2",
                    "607a30d783dfa663caf39e06633721c8d4cfcd7e",
                    GPT2,
                    "GPT-2, 124M parameters",
                    548_105_171L),
            open(
                    "gpt2-medium",
                    "openai-community/gpt2-medium",
                    "6dcaa7a952f72f9298047fd5137cd6e4f05f41da",
                    GPT2,
                    "GPT-2, 355M parameters",
                    1_519_984_962L),
            open(
                    "gpt2-large",
                    "openai-community/gpt2-large",
                    "32b71b12589c2f8d625668d2335a01cac3249519",
                    GPT2,
                    "GPT-2, 774M parameters",
                    3_247_159_078L),
            open(
                    "gpt2-xl",
                    "openai-community/gpt2-xl",
                    "15ea56dee5df4983c59b2538573817e1667135e2",
                    GPT2,
                    "GPT-2, 1.5B parameters",
                    6_431_829_964L),
            open(
                    "distilgpt2",
                    "distilbert/distilgpt2",
                    "2290a62682d06624634c1f46a6ad5be0f47f38aa",
                    GPT2,
                    "DistilGPT-2, 82M parameters",
                    352_824_413L),
            open(
                    "tinyllama",
                    "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
                    "fe8a4ea1ffedaf415f4da2f062534de366a451e6",
                    LLAMA,
                    "TinyLlama chat, 1.1B parameters",
                    2_200_119_864L),
            open(
                    "smollm2-135m",
                    "HuggingFaceTB/SmolLM2-135M",
                    "93efa2f097d58c2a74874c7e644dbc9b0cee75a2",
                    LLAMA,
                    "SmolLM2, 135M parameters",
                    269_060_552L),
            open(
                    "smollm2-360m",
                    "HuggingFaceTB/SmolLM2-360M",
                    "f8027fd0eaeea54caa13c31d31b9fdc459c38b49",
                    LLAMA,
                    "SmolLM2, 360M parameters",
                    723_674_912L),
            open(
                    "smollm2-1.7b",
                    "HuggingFaceTB/SmolLM2-1.7B",
                    "effd688a12921b4cc83e3312b6feb579f70f9c71",
                    LLAMA,
                    "SmolLM2, 1.7B parameters",
                    3_422_777_952L),
            gated(
                    "llama-3.2-1b",
                    "meta-llama/Llama-3.2-1B",
                    "4e20de362430cd3b72f300e6b0f18e50e7166e08",
                    LLAMA,
                    "Llama 3.2, 1.2B parameters",
                    2_471_645_608L),
            open(
                    "qwen2.5-0.5b-instruct",
                    "Qwen/Qwen2.5-0.5B-Instruct",
                    "7ae557604adf67be50417f59c2c2f167def9a775",
                    "qwen2",
                    "Qwen2.5 chat, 0.5B parameters",
                    988_097_824L),
            open(
                    "qwen3-0.6b",
                    "Qwen/Qwen3-0.6B",
                    "c1899de289a04d12100db370d81485cdf75e47ca",
                    "qwen3",
                    "Qwen3 chat, 0.6B parameters",
                    1_503_300_328L),
            gated(
                    "gemma-3-1b-it",
                    "google/gemma-3-1b-it",
                    "dcc83ea841ab6100d6b47a070329e1ba4cf78752",
                    "gemma3_text",
                    "Gemma 3 chat, 1.0B parameters",
                    1_999_811_208L));

    private static KnownModel open(
            String name, String repository, String revision, String family, String title, long bytes) {
        return new KnownModel(name, repository, revision, family, title, bytes, false);
    }

    private static KnownModel gated(
            String name, String repository, String revision, String family, String title, long bytes) {
        return new KnownModel(name, repository, revision, family, title, bytes, true);
    }

    public static List<KnownModel> all() {
        return ALL;
    }

    public static Optional<KnownModel> named(String name) {
        return ALL.stream().filter(model -> model.name().equals(name)).findFirst();
    }

    static Optional<KnownModel> of(String repository) {
        return ALL.stream()
                .filter(model -> model.repository().equals(repository))
                .findFirst();
    }

    /** What it is, in words. */
    public String description() {
        return title + ", " + ByteCount.words(bytes);
    }

    /** All names, for a message. */
    static String names() {
        return ALL.stream().map(KnownModel::name).collect(Collectors.joining(", "));
    }
}
