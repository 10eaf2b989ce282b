package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.HostMemory;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Guesses;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * What is said of a generation.
 *
 * @param model as the user named it
 * @param result its times without compiling
 * @param compiled for the device, and known to have run there: an engine that falls back does not exist here
 * @param loadNanos from the start of the command to weights in their place
 */
record GenerationReport(
        String model, EngineSession session, GenerationResult result, EngineSession.Compiled compiled, long loadNanos) {
    private static final double NANOS_PER_MILLI = 1e6;

    static GenerationReport of(String model, EngineSession session, GenerationResult result, long loadNanos) {
        EngineSession.Compiled compiled = session.compiled().get();
        return new GenerationReport(model, session, result.withoutCompiling(compiled.nanos()), compiled, loadNanos);
    }

    /** The object of {@code --json}. */
    ObjectNode toJson() {
        ObjectNode object = Json.object()
                .put("model", model)
                .put("engine", session.engine().toString())
                .put("device", session.device())
                .put("dtype", EnumConverter.spelled(session.dtype()));
        object.set("prompt_ids", Json.array(result.promptIds()));
        object.set("ids", Json.array(result.ids()));
        OptionalLong peak = HostMemory.peakBytes();
        return object.put("text", result.text().orElse(null))
                .put("stop_reason", result.stopReason().jsonName())
                .put("load_ms", Json.milliseconds(loadNanos))
                .put("jit_ms", Json.milliseconds(compiled.nanos()))
                .put("prefill_tokens_per_s", Json.rounded(result.prefillTokensPerSecond()))
                .put("decode_tokens_per_s", Json.rounded(result.decodeTokensPerSecond()))
                .put("peak_rss_bytes", peak.isPresent() ? Long.valueOf(peak.getAsLong()) : null)
                .put("reused_tokens", result.reusedTokens())
                .put("guessed_tokens", result.guesses().made())
                .put("right_guesses", result.guesses().right());
    }

    /**
     * The line for stderr.
     *
     * @param byDefault whether the number of tokens is ours, not the user's
     */
    String summary(boolean byDefault) {
        String kernels = compiled.kernels() == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %d kernels compiled for the device in %.0f ms",
                        compiled.kernels(),
                        compiled.nanos() / NANOS_PER_MILLI);
        return String.format(
                Locale.ROOT,
                "%d tokens (%s): prefill %.1f tokens/s, decode %.1f tokens/s, load %.0f ms%s%s",
                result.ids().length,
                reason(byDefault),
                result.prefillTokensPerSecond(),
                result.decodeTokensPerSecond(),
                loadNanos / NANOS_PER_MILLI,
                guesses(),
                kernels);
    }

    private String guesses() {
        Guesses guesses = result.guesses();
        if (guesses.made() == 0) {
            return "";
        }
        double tokensPerPass = (double) result.decodeTokens() / Math.max(1, result.decodeTokens() - guesses.right());
        return String.format(
                Locale.ROOT,
                "; %d of %d guesses right, %.2f tokens a forward pass",
                guesses.right(),
                guesses.made(),
                tokensPerPass);
    }

    private String reason(boolean byDefault) {
        return switch (result.stopReason()) {
            case LENGTH -> byDefault ? "the default; -n takes another number" : "as many as asked for";
            case EOS -> "the model ended the text";
            case STOP -> "a stop text came";
            case CONTEXT -> "the context is full";
            case CANCELLED -> "cancelled";
        };
    }
}
