package io.github.tornadotransformers.server;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** What the server counts and times, in Prometheus' text format. */
final class ServerMetrics {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final double NANOS = 1e9;
    private static final String MODEL = "model";

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter requests = Counter.builder()
            .name("transformers_requests")
            .help("Requests, by path and status.")
            .labelNames("path", "status")
            .register(registry);
    private final Counter promptTokens = tokens("transformers_prompt_tokens", "Tokens of prompts.");
    private final Counter reusedTokens = tokens(
            "transformers_prompt_tokens_reused", "Tokens of prompts whose keys and values were kept from before.");
    private final Counter generatedTokens = tokens("transformers_generated_tokens", "Tokens that were generated.");
    private final Counter guessed = tokens("transformers_guessed_tokens", "Tokens that were guessed.");
    private final Counter guessedRight =
            tokens("transformers_guessed_tokens_right", "Tokens that were guessed rightly.");
    private final Histogram firstToken = histogram(
            "transformers_time_to_first_token_seconds",
            "From a request to its first token.",
            0.01,
            0.025,
            0.05,
            0.1,
            0.25,
            0.5,
            1,
            2.5,
            5,
            10,
            30);
    private final Histogram nextToken = histogram(
            "transformers_time_between_tokens_seconds",
            "From a token to the next of the same answer.",
            0.001,
            0.0025,
            0.005,
            0.01,
            0.025,
            0.05,
            0.1,
            0.25,
            0.5,
            1);

    ServerMetrics(ServedModels models) {
        GaugeWithCallback.builder()
                .name("transformers_answers_open")
                .help("Answers that run or wait.")
                .labelNames(MODEL)
                .callback(callback -> models.loaded().forEach(each -> callback.call(each.size(), each.name())))
                .register(registry);
    }

    private Counter tokens(String name, String help) {
        return Counter.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL)
                .withoutExemplars()
                .register(registry);
    }

    private Histogram histogram(String name, String help, double... bounds) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL)
                .classicOnly()
                .withoutExemplars()
                .classicUpperBounds(bounds)
                .register(registry);
    }

    void request(String path, int status) {
        requests.labelValues(path, Integer.toString(status)).inc();
    }

    void firstToken(String model, long nanos) {
        firstToken.labelValues(model).observe(nanos / NANOS);
    }

    void nextToken(String model, long nanos) {
        nextToken.labelValues(model).observe(nanos / NANOS);
    }

    void answered(String model, int prompt, int reused, int generated, int guesses, int right) {
        promptTokens.labelValues(model).inc(prompt);
        reusedTokens.labelValues(model).inc(reused);
        generatedTokens.labelValues(model).inc(generated);
        guessed.labelValues(model).inc(guesses);
        guessedRight.labelValues(model).inc(right);
    }

    String text() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(bytes, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
