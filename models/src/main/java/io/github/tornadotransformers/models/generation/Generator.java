package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.tokenizer.StreamingDecoder;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Continues a prompt token by token: forward pass, sampler, decoder, until an end token, a stop text, the number of tokens or
 * the context's end. Not safe for use by several threads.
 *
 * <p>A context of C positions takes a prompt of at most C tokens. The token that the last position predicts is still
 * generated, so that a prompt of P tokens yields at most {@code C - P + 1}.
 */
public final class Generator {
    private final ForwardPass forward;
    private final Sampler sampler;
    private final Optional<Tokenizer> tokenizer;
    private final GenerationOptions options;

    /** @throws InvalidRequest if there are stop texts and no tokenizer to see them with */
    public Generator(ForwardPass forward, Sampler sampler, Optional<Tokenizer> tokenizer, GenerationOptions options) {
        if (tokenizer.isEmpty() && !options.stopTexts().isEmpty()) {
            throw new InvalidRequest(
                    Wording.of("%s needs the model's tokenizer, which its folder does not have", Term.STOP_TEXTS));
        }
        this.forward = forward;
        this.sampler = sampler;
        this.tokenizer = tokenizer;
        this.options = options;
    }

    /**
     * @param listener gets the text as it becomes certain, in whole characters, never a part of a stop text; nothing where
     *     there is no tokenizer
     * @param cancelled asked before every forward pass
     * @throws InvalidRequest before anything runs, if the prompt is empty and there is no start token, has an id
     *     outside the vocabulary, or does not fit the context
     * @throws NonFiniteLogitException if a logit is NaN or infinite
     */
    public GenerationResult generate(int[] prompt, Consumer<String> listener, BooleanSupplier cancelled) {
        int[] promptIds = started(prompt);
        int context = forward.program().contextLength();
        TokenIds.requireInVocabulary("prompt", promptIds, forward.program().vocabSize());
        if (promptIds.length > context) {
            throw new InvalidRequest(
                    Wording.of("the prompt has %d tokens, but the context holds %d", promptIds.length, context));
        }
        return new Run(promptIds, listener, cancelled).run();
    }

    private int[] started(int[] prompt) {
        if (prompt.length > 0) {
            return prompt.clone();
        }
        int start = options.startToken()
                .orElseThrow(() -> new InvalidRequest(Wording.of(
                        "the prompt is empty and the model names no start token: give a text or %s", Term.PROMPT_IDS)));
        return new int[] {start};
    }

    /** The state of one generation. */
    private final class Run {
        private final int promptLength;
        /** Prompt and what was generated. */
        private int[] ids;

        private int length;
        private final Consumer<String> listener;
        private final BooleanSupplier cancelled;
        private final Optional<StreamingDecoder> decoder;
        private final StopTexts stopTexts = new StopTexts(options.stopTexts());
        private final StringBuilder text = new StringBuilder();
        private long prefillNanos;
        private int prefilled;
        private int decoded;

        Run(int[] promptIds, Consumer<String> listener, BooleanSupplier cancelled) {
            ids = promptIds;
            length = promptIds.length;
            promptLength = promptIds.length;
            this.listener = listener;
            this.cancelled = cancelled;
            decoder = tokenizer.map(each -> each.decoder(promptIds));
            for (int id : promptIds) {
                sampler.observe(id);
            }
        }

        GenerationResult run() {
            long started = System.nanoTime();
            float[] logits = null;
            for (prefilled = 0; prefilled < promptLength && !cancelled.getAsBoolean(); ) {
                int to = Math.min(prefilled + options.prefillChunk(), promptLength);
                logits = forward.forward(Arrays.copyOfRange(ids, prefilled, to), prefilled);
                prefilled = to;
            }
            long decodeStarted = System.nanoTime();
            prefillNanos = decodeStarted - started;
            StopReason reason = prefilled < promptLength ? StopReason.CANCELLED : decode(logits);
            reason = flush(reason);
            return result(reason, System.nanoTime() - decodeStarted);
        }

        private StopReason decode(float[] promptLogits) {
            float[] logits = promptLogits;
            for (int generated = 0; generated < options.maxTokens(); generated++) {
                if (generated > 0) {
                    if (length > forward.program().contextLength()) {
                        return StopReason.CONTEXT;
                    }
                    if (cancelled.getAsBoolean()) {
                        return StopReason.CANCELLED;
                    }
                    logits = next();
                    decoded++;
                }
                int id = sampler.sample(logits, length - 1);
                if (options.endTokens().contains(id)) {
                    return StopReason.EOS;
                }
                append(id);
                if (stopTexts.found()) {
                    return StopReason.STOP;
                }
            }
            return StopReason.LENGTH;
        }

        /** The logits of the last token. */
        private float[] next() {
            float[] logits = null;
            for (int from = options.cached() ? length - 1 : 0; from < length; ) {
                int to = Math.min(from + options.prefillChunk(), length);
                logits = forward.forward(Arrays.copyOfRange(ids, from, to), from);
                from = to;
            }
            return logits;
        }

        private void append(int id) {
            if (length == ids.length) {
                ids = Arrays.copyOf(ids, length + Math.max(16, length / 2));
            }
            ids[length++] = id;
            sampler.observe(id);
            decoder.ifPresent(each -> {
                String special = tokenizer.map(known -> known.specialText(id)).orElse("");
                if (special.isEmpty() || !stopTexts.mention(special)) {
                    show(stopTexts.push(each.push(id)));
                } else {
                    show(stopTexts.push(each.settle()));
                    show(stopTexts.pushUnseen(special));
                }
            });
        }

        /** Shows what waited for a continuation; it may end in a stop text. */
        private StopReason flush(StopReason reason) {
            decoder.ifPresent(each -> {
                show(stopTexts.push(each.finish()));
                show(stopTexts.finish());
            });
            return stopTexts.found() ? StopReason.STOP : reason;
        }

        private void show(String piece) {
            if (!piece.isEmpty()) {
                text.append(piece);
                listener.accept(piece);
            }
        }

        private GenerationResult result(StopReason reason, long decodeNanos) {
            return new GenerationResult(
                    Arrays.copyOf(ids, promptLength),
                    Arrays.copyOfRange(ids, promptLength, length),
                    tokenizer.map(_ -> text.toString()),
                    reason,
                    prefilled,
                    prefillNanos,
                    decoded,
                    decodeNanos);
        }
    }
}
