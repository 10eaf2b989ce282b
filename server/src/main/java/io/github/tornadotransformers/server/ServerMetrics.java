package io.github.tornadotransformers.server;

import io.github.tornadotransformers.models.generation.GenerationResult;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.ToDoubleFunction;

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
    private final Counter answers = Counter.builder()
            .name("transformers_answers")
            .help("Answers that have ended, by how.")
            .labelNames(MODEL, "end")
            .withoutExemplars()
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
        gauge("transformers_answers_open", "Answers that run or wait.", models, ModelWorker::size);
        gauge(
                "transformers_answers_running",
                "Answers that run.",
                models,
                each -> each.load().running());
        gauge(
                "transformers_cache_pages",
                "Pages of memory for keys and values.",
                models,
                each -> each.load().cache().pages());
        gauge(
                "transformers_cache_pages_used",
                "Pages that answers use, or that are kept.",
                models,
                each -> each.load().cache().used());
        gauge(
                "transformers_cache_pages_shared",
                "Pages that more than one uses.",
                models,
                each -> each.load().cache().shared());
    }

    private void gauge(String name, String help, ServedModels models, ToDoubleFunction<ModelWorker> value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(MODEL)
                .callback(callback ->
                        models.loaded().forEach(each -> callback.call(value.applyAsDouble(each), each.name())))
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

    /** An answer has ended, also one that was cut. */
    void ended(String model, GenerationResult result) {
        answers.labelValues(model, result.stopReason().jsonName()).inc();
        promptTokens.labelValues(model).inc(result.promptIds().length);
        reusedTokens.labelValues(model).inc(result.reusedTokens());
        generatedTokens.labelValues(model).inc(result.ids().length);
        guessed.labelValues(model).inc(result.guesses().made());
        guessedRight.labelValues(model).inc(result.guesses().right());
    }

    /** An answer was ended by an error. */
    void failed(String model) {
        answers.labelValues(model, "failed").inc();
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
