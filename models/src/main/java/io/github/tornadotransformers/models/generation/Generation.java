package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.tokenizer.StreamingDecoder;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntSupplier;

/**
 * A prompt and its continuation: chooses tokens from logits until an end token, a stop text, the number of tokens or the
 * context's end.
 *
 * <p>A context of C positions takes a prompt of at most C tokens. The token that the last position predicts is still
 * generated, so that a prompt of P tokens yields at most {@code C - P + 1}.
 *
 * <p>Guesses change nothing but the number of steps: a guess is right when it is the token that is chosen anyway.
 */
public final class Generation implements Sequence {
    private final int vocabSize;
    private final int context;
    private final Sampler sampler;
    private final Optional<Tokenizer> tokenizer;
    private final GenerationOptions options;
    private final Speculation speculation;
    private final GenerationListener listener;
    private final Optional<StreamingDecoder> decoder;
    private final StopTexts stopTexts;
    private final StringBuilder text = new StringBuilder();
    private final int promptLength;
    /** Prompt and what was generated. */
    private int[] ids;

    private int length;
    /** The guesses behind the ids that are being run. */
    private int[] guesses = {};
    /** How many of these were right. */
    private int right;

    /** Whether logits that come now are of what follows a wrong guess. */
    private boolean ignores;

    private int steps;
    private int generated;
    private int reused;
    private int prefilled;
    private int decoded;
    private long started;
    private long chosen;
    private long finished;
    private Optional<StopReason> end = Optional.empty();
    private Optional<RuntimeException> failure = Optional.empty();

    /**
     * @param prompt none: the start token
     * @param context positions that there are
     * @param guesser of tokens that are run together with those before
     * @throws InvalidRequest if the prompt is empty and there is no start token, has an id outside the vocabulary, or does not
     *     fit the context; or if there are stop texts and no tokenizer to see them with
     */
    public Generation(
            int[] prompt,
            int context,
            Sampler sampler,
            Optional<Tokenizer> tokenizer,
            GenerationOptions options,
            Optional<Guesser> guesser,
            GenerationListener listener) {
        if (tokenizer.isEmpty() && !options.stopTexts().isEmpty()) {
            throw new InvalidRequest(
                    Wording.of("%s needs the model's tokenizer, which its folder does not have", Term.STOP_TEXTS));
        }
        ids = started(prompt, options);
        length = ids.length;
        promptLength = ids.length;
        vocabSize = sampler.vocabSize();
        TokenIds.requireInVocabulary("prompt", ids, vocabSize);
        if (promptLength > context) {
            throw new InvalidRequest(
                    Wording.of("the prompt has %d tokens, but the context holds %d", promptLength, context));
        }
        this.context = context;
        this.sampler = sampler;
        this.tokenizer = tokenizer;
        this.options = options;
        this.listener = listener;
        speculation = new Speculation(options.cached() ? guesser : Optional.empty());
        stopTexts = new StopTexts(options.stopTexts());
        decoder = tokenizer.map(each -> each.decoder(ids));
        for (int id : ids) {
            sampler.observe(id);
        }
    }

    private static int[] started(int[] prompt, GenerationOptions options) {
        if (prompt.length > 0) {
            return prompt.clone();
        }
        int start = options.startToken()
                .orElseThrow(() -> new InvalidRequest(Wording.of(
                        "the prompt is empty and the model names no start token: give a text or %s", Term.PROMPT_IDS)));
        return new int[] {start};
    }

    @Override
    public int positions() {
        return (int) Math.min(context, (long) promptLength + Math.max(0, options.maxTokens() - 1));
    }

    @Override
    public Step next(int mostGuesses) {
        tellSpeculation();
        if (steps == 0) {
            started = System.nanoTime();
        }
        steps++;
        int useful = Math.min(positions() - length, options.maxTokens() - generated - 1);
        if (generated > 0) {
            guesses = known(speculation.guess(ids, length, generated, Math.clamp(useful, 0, mostGuesses)));
        }
        int first = generated == 0 || !options.cached() ? 0 : length - 1;
        int[] tokens = Arrays.copyOf(Arrays.copyOfRange(ids, first, length), length - first + guesses.length);
        System.arraycopy(guesses, 0, tokens, length - first, guesses.length);
        return new Step(first, tokens, guesses.length);
    }

    /** Up to the first that no token of this model can be. */
    private int[] known(int[] guessed) {
        int count = 0;
        while (count < guessed.length && guessed[count] < vocabSize) {
            count++;
        }
        return Arrays.copyOf(guessed, count);
    }

    private void tellSpeculation() {
        speculation.told(guesses.length, right);
        guesses = new int[0];
        right = 0;
        ignores = false;
    }

    @Override
    public void reused(int tokens) {
        reused = tokens;
        listener.promptRun(tokens);
    }

    @Override
    public void advanced(int tokens) {
        if (steps == 1) {
            prefilled += tokens;
            listener.promptRun(reused + prefilled);
        }
    }

    @Override
    public Optional<StopReason> accept(float[] logits, int offset) {
        return accept(() -> {
            int id = sampler.sample(logits, offset, length - 1);
            listener.chosen(id, logits, offset);
            return id;
        });
    }

    @Override
    public int candidates() {
        return listener.hearsChoices() ? 0 : sampler.candidates();
    }

    @Override
    public Optional<StopReason> acceptCandidates(Candidates found) {
        return accept(() -> {
            int id = sampler.sample(found);
            listener.chosenOfCandidates(id);
            return id;
        });
    }

    private Optional<StopReason> accept(IntSupplier choice) {
        if (ignores) {
            return Optional.empty();
        }
        if (chosen == 0) {
            chosen = System.nanoTime();
        } else {
            decoded++;
        }
        if (options.maxTokens() == 0) {
            return Optional.of(StopReason.LENGTH);
        }
        int id = choice.getAsInt();
        if (options.endTokens().contains(id)) {
            return Optional.of(StopReason.EOS);
        }
        append(id);
        generated++;
        if (right < guesses.length && guesses[right] == id) {
            right++;
        } else {
            ignores = true;
        }
        return reasonToEnd();
    }

    private Optional<StopReason> reasonToEnd() {
        if (stopTexts.found()) {
            return Optional.of(StopReason.STOP);
        }
        if (generated == options.maxTokens()) {
            return Optional.of(StopReason.LENGTH);
        }
        return length > context ? Optional.of(StopReason.CONTEXT) : Optional.empty();
    }

    private void append(int id) {
        if (length == ids.length) {
            ids = Arrays.copyOf(ids, length + Math.max(16, length / 2));
        }
        ids[length++] = id;
        sampler.observeChosen(id);
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

    private void show(String piece) {
        if (!piece.isEmpty()) {
            text.append(piece);
            listener.text(piece);
        }
    }

    @Override
    public boolean isCancelled() {
        return listener.isCancelled();
    }

    /** What waited for a continuation is shown; it may end in a stop text. */
    @Override
    public void ended(StopReason reason) {
        tellSpeculation();
        speculation.close();
        decoder.ifPresent(each -> {
            show(stopTexts.push(each.finish()));
            show(stopTexts.finish());
        });
        end = Optional.of(stopTexts.found() ? StopReason.STOP : reason);
        finished = System.nanoTime();
    }

    @Override
    public void failed(RuntimeException thrown) {
        speculation.close();
        failure = Optional.of(thrown);
    }

    /** How tokens are chosen. */
    public SamplingOptions sampling() {
        return sampler.options();
    }

    /** Whether there is a {@link #result}, or a reason why there is none. */
    public boolean hasEnded() {
        return end.isPresent() || failure.isPresent();
    }

    /** @throws RuntimeException that ended the generation: {@link NonFiniteLogitException}, or what a listener has thrown */
    public GenerationResult result() {
        if (failure.isPresent()) {
            throw failure.get();
        }
        long began = started == 0 ? finished : started;
        long prefillEnd = chosen == 0 ? finished : chosen;
        return new GenerationResult(
                Arrays.copyOf(ids, promptLength),
                Arrays.copyOfRange(ids, promptLength, length),
                tokenizer.map(_ -> text.toString()),
                end.orElseThrow(() -> new IllegalStateException("the generation has not ended")),
                reused,
                prefilled,
                prefillEnd - began,
                decoded,
                finished - prefillEnd,
                speculation.guesses());
    }
}
