package io.github.tornadotransformers.models.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.testsupport.Generations;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GeneratorTest {
    private static final int VOCAB = TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE;
    private static final int CONTEXT = 32;

    @TempDir
    Path folder;

    private Tokenizer tokenizer;
    private final List<String> pieces = new ArrayList<>();

    @BeforeEach
    void load() {
        tokenizer = Tokenizer.load(TestTokenizers.byteFallback(folder));
    }

    @Test
    void generatesAsManyTokensAsAskedFor() {
        GenerationResult result = generate(GenerationOptions.ofTokens(3), "hello", " wor wor wor wor");
        assertEquals(StopReason.LENGTH, result.stopReason());
        assertThat(result.promptIds()).containsExactly(tokenizer.encodePrompt("hello"));
        assertThat(result.ids()).containsExactly(continuation(" wor wor wor"));
    }

    @Test
    void textIsWhatTheListenerGotAndWhatTheIdsMean() {
        GenerationResult result = generate(GenerationOptions.ofTokens(9), "hello", " wor 🦙 hello!");
        assertEquals(Optional.of(" wor 🦙 hello!"), result.text());
        assertThat(pieces).containsExactly(" wor", " ", "🦙 hello", "!");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void anyOfTheEndTokensEndsTheTextAndIsNoPartOfIt(int end) {
        int[] ids = append(continuation(" wor"), end);
        GenerationResult result = generate(
                GenerationOptions.ofTokens(9).withEndTokens(Set.of(0, 1, 2)), tokenizer.encodePrompt("hello"), ids);
        assertEquals(StopReason.EOS, result.stopReason());
        assertThat(result.ids()).containsExactly(continuation(" wor"));
        assertEquals(Optional.of(" wor"), result.text());
    }

    @Test
    void aStopTextOverSeveralTokensIsNotShown() {
        GenerationResult result =
                generate(GenerationOptions.ofTokens(9).withStopTexts(List.of("wo", "r he")), "hello", "a wor hello");
        assertEquals(StopReason.STOP, result.stopReason());
        assertEquals(Optional.of("a "), result.text());
        assertThat(String.join("", pieces)).isEqualTo("a ");
    }

    @Test
    void theTokensOfAStopTextAreAmongTheIds() {
        GenerationResult result =
                generate(GenerationOptions.ofTokens(9).withStopTexts(List.of("r h")), "hello", " wor hello a");
        assertEquals(Optional.of(" wo"), result.text());
        assertThat(result.ids()).containsExactly(continuation(" wor hello"));
    }

    @Test
    void theBeginningOfAStopTextIsShownIfTheTextEndsThere() {
        GenerationResult result =
                generate(GenerationOptions.ofTokens(1).withStopTexts(List.of("r h")), "hello", " wor hello");
        assertEquals(StopReason.LENGTH, result.stopReason());
        assertEquals(Optional.of(" wor"), result.text());
        assertThat(pieces).containsExactly(" wo", "r");
    }

    @Test
    void aStopTextInTheLastHeldBackCharacterIsFound() {
        GenerationResult result =
                generate(GenerationOptions.ofTokens(6).withStopTexts(List.of("🦙")), "hello", " wor 🦙");
        assertEquals(StopReason.STOP, result.stopReason());
        assertEquals(Optional.of(" wor "), result.text());
    }

    /** The special token's text never appears in what is shown; the end token here is another one. */
    @Test
    void aStopTextThatIsASpecialTokenEndsTheText() {
        int[] ids = append(append(continuation(" wor hello"), 2), 'x');
        GenerationResult result = generate(
                GenerationOptions.ofTokens(9).withEndTokens(Set.of(0)).withStopTexts(List.of("</s>")),
                tokenizer.encodePrompt("hello"),
                ids);
        assertEquals(StopReason.STOP, result.stopReason());
        assertEquals(Optional.of(" wor hello"), result.text());
        assertThat(result.ids()).containsExactly(append(continuation(" wor hello"), 2));
    }

    @ParameterizedTest
    @CsvSource({"or</s>, ' w'", "'🦙</s>', ' wor'", "</s>, ' wor🦙'", "'wor🦙</s> hell', ' '"})
    void aStopTextMayContainASpecialToken(String stop, String shown) {
        String before = stop.startsWith("or") ? " wor" : " wor🦙";
        int[] ids = append(continuation(before), 2);
        for (int id : continuation(" hello hello")) {
            ids = append(ids, id);
        }
        GenerationResult result = generate(
                GenerationOptions.ofTokens(20).withStopTexts(List.of(stop)), tokenizer.encodePrompt("hello"), ids);
        assertEquals(StopReason.STOP, result.stopReason());
        assertEquals(Optional.of(shown), result.text());
    }

    /** Here of a stop text that does not come. */
    @Test
    void whatWaitedWhenASpecialTokenEndsTheTextIsShown() {
        GenerationResult result = generate(
                GenerationOptions.ofTokens(9).withEndTokens(Set.of(0)).withStopTexts(List.of("</s>", "r h")),
                tokenizer.encodePrompt("hello"),
                append(continuation(" wor"), 2));
        assertEquals(StopReason.STOP, result.stopReason());
        assertEquals(Optional.of(" wor"), result.text());
    }

    /** A special token that no stop text spells is not there, as before. */
    @Test
    void aStopTextAcrossAnotherSpecialTokenIsFound() {
        int[] ids = append(continuation(" wor"), 2);
        ids = append(ids, continuation(" hello")[0]);
        GenerationResult result = generate(
                GenerationOptions.ofTokens(9).withStopTexts(List.of("r h", "<s>")),
                tokenizer.encodePrompt("hello"),
                ids);
        assertEquals(StopReason.STOP, result.stopReason());
        assertEquals(Optional.of(" wo"), result.text());
    }

    @Test
    void theTokenAfterTheLastPositionIsStillGenerated() {
        int[] prompt = new int[CONTEXT - 2];
        GenerationResult result = generate(GenerationOptions.ofTokens(9), prompt, 5, 6, 7, 8);
        assertEquals(StopReason.CONTEXT, result.stopReason());
        assertThat(result.ids()).containsExactly(5, 6, 7);
    }

    @Test
    void aPromptThatFillsTheContextGivesOneToken() {
        GenerationResult result = generate(GenerationOptions.ofTokens(2), new int[CONTEXT], 5, 6);
        assertEquals(StopReason.CONTEXT, result.stopReason());
        assertThat(result.ids()).containsExactly(5);
    }

    @Test
    void theNumberOfTokensIsTheReasonWhereBothEndTogether() {
        GenerationResult result = generate(GenerationOptions.ofTokens(1), new int[CONTEXT], 5, 6);
        assertEquals(StopReason.LENGTH, result.stopReason());
    }

    @Test
    void aPromptThatDoesNotFitIsRefusedWithBothNumbers() {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 0);
        assertThat(refused(forward, GenerationOptions.ofTokens(1), new int[CONTEXT + 1]))
                .isEqualTo("the prompt has 33 tokens, but the context holds 32");
        assertThat(forward.calls()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, VOCAB, Integer.MAX_VALUE})
    void anIdOutsideTheVocabularyIsRefused(int id) {
        assertThat(refused(ScriptedForwardPass.saying(VOCAB, CONTEXT, 0), GenerationOptions.ofTokens(1), new int[] {
                    1, 2, id
                }))
                .isEqualTo("prompt id " + id + " (number 3) is outside the model's vocabulary: vocab_size is " + VOCAB);
    }

    @Test
    void anEmptyPromptBecomesTheStartToken() {
        GenerationOptions options = GenerationOptions.ofTokens(1).withStartToken(OptionalInt.of(2));
        assertThat(generate(options, new int[0], 5).promptIds()).containsExactly(2);
    }

    @Test
    void anEmptyPromptWithoutAStartTokenIsRefused() {
        assertThat(refused(ScriptedForwardPass.saying(VOCAB, CONTEXT, 0), GenerationOptions.ofTokens(1), new int[0]))
                .contains("the prompt is empty");
    }

    @Test
    void noTokensAskedForRunsThePromptAlone() {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 3, 5);
        GenerationResult result = generate(forward, GenerationOptions.ofTokens(0), new int[] {1, 3, 4});
        assertEquals(StopReason.LENGTH, result.stopReason());
        assertThat(result.ids()).isEmpty();
        assertEquals(Optional.of(""), result.text());
        assertThat(forward.calls()).containsExactly("0+3");
    }

    @Test
    void withTheCacheEveryTokenRunsAlone() {
        assertThat(calls(GenerationOptions.ofTokens(3), 9)).containsExactly("0+5", "5+1", "6+1");
    }

    @Test
    void withoutTheCacheEveryTokenRunsTheWholeWindow() {
        assertThat(calls(GenerationOptions.ofTokens(3).withCache(false), 9)).containsExactly("0+5", "0+6", "0+7");
    }

    @Test
    void thePromptRunsInChunks() {
        assertThat(calls(GenerationOptions.ofTokens(2), 2)).containsExactly("0+2", "2+2", "4+1", "5+1");
    }

    @Test
    void theWholeWindowRunsInChunksToo() {
        assertThat(calls(GenerationOptions.ofTokens(2).withCache(false), 4))
                .containsExactly("0+4", "4+1", "0+4", "4+2");
    }

    private List<String> calls(GenerationOptions options, int chunk) {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 5, 7, 8, 9);
        new Generator(forward, chunk).run(generation(new int[5], options, () -> false));
        return forward.calls();
    }

    @Test
    void cancellingEndsBeforeTheNextToken() {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 1, continuation(" wor wor wor"));
        GenerationResult result = new Generator(forward)
                .generate(generation(new int[] {1}, GenerationOptions.ofTokens(9), () -> pieces.size() == 2));
        assertEquals(StopReason.CANCELLED, result.stopReason());
        assertThat(result.ids()).hasSize(2);
        assertEquals(Optional.of("wor wor"), result.text());
    }

    @Test
    void cancellingEndsALongPromptBetweenItsChunks() {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 9, 5);
        GenerationResult result = new Generator(forward, 2)
                .generate(generation(
                        new int[9],
                        GenerationOptions.ofTokens(9),
                        () -> forward.calls().size() == 3));
        assertEquals(StopReason.CANCELLED, result.stopReason());
        assertEquals(6, result.prefillTokens());
        assertThat(result.ids()).isEmpty();
    }

    @Test
    void forwardPassesAreCounted() {
        long started = System.nanoTime();
        GenerationResult result = generate(GenerationOptions.ofTokens(4), new int[5], 5, 6, 7, 8);
        assertThat(result.prefillNanos() + result.decodeNanos()).isBetween(1L, System.nanoTime() - started);
        assertEquals(5, result.prefillTokens());
        assertEquals(3, result.decodeTokens());
        assertThat(result.prefillTokensPerSecond()).isPositive();
        assertThat(result.decodeTokensPerSecond()).isPositive();
    }

    /** The script says 10, 11, 12, …; a guesser that knows it is right up to where it errs. */
    @ParameterizedTest
    @CsvSource({"0, '0+5, 5+1, 6+1, 7+1, 8+1, 9+1, 10+1'", "2, '0+5, 5+3 all, 8+3 all'", "9, '0+5, 5+4 all, 9+2 all'"})
    void rightGuessesSaveForwardPasses(int guesses, String calls) {
        int[] script = IntStream.range(10, 17).toArray();
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 5, script);
        Guesser guesser =
                (_, length, _, most) -> IntStream.range(10 + length - 5, 10 + length - 5 + Math.min(guesses, most))
                        .toArray();
        GenerationResult result = new Generator(forward)
                .generate(generation(new int[5], GenerationOptions.ofTokens(7), Optional.of(guesser), () -> false));
        assertThat(result.ids()).containsExactly(script);
        assertThat(String.join(", ", forward.calls())).isEqualTo(calls);
        assertEquals(result.guesses().made(), result.guesses().right());
        assertEquals(6, result.decodeTokens());
    }

    @Test
    void whatWasRunBehindAWrongGuessIsVoid() {
        int[] script = {10, 11, 12, 13};
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 2, script);
        int[][] guesses = {{11, 9, 13}, {}};
        Iterator<int[]> next = Arrays.asList(guesses).iterator();
        GenerationResult result = new Generator(forward)
                .generate(generation(
                        new int[2],
                        GenerationOptions.ofTokens(4),
                        Optional.of((_, _, _, most) -> Arrays.copyOf(next.next(), Math.min(most, 2))),
                        () -> false));
        assertThat(result.ids()).containsExactly(script);
        assertThat(forward.calls()).containsExactly("0+2", "2+3 all", "4+1");
        assertEquals(new Guesses(2, 1), result.guesses());
    }

    @Test
    void anEndTokenAmongRightGuessesEndsTheText() {
        int[] script = {10, 11, 1, 12};
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 2, script);
        GenerationResult result = new Generator(forward)
                .generate(generation(
                        new int[2],
                        GenerationOptions.ofTokens(9).withEndTokens(Set.of(1)),
                        Optional.of((_, _, _, _) -> new int[] {11, 1, 12}),
                        () -> false));
        assertEquals(StopReason.EOS, result.stopReason());
        assertThat(result.ids()).containsExactly(10, 11);
    }

    @Test
    void nothingIsGuessedBehindTheContext() {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, CONTEXT - 2, 5, 6, 7);
        GenerationResult result = new Generator(forward)
                .generate(generation(
                        new int[CONTEXT - 2],
                        GenerationOptions.ofTokens(9),
                        Optional.of((_, _, _, most) -> new int[most]),
                        () -> false));
        assertThat(result.ids()).containsExactly(5, 6, 7);
        assertThat(forward.calls()).containsExactly("0+30", "30+2 all", "31+1");
    }

    @Test
    void withoutATokenizerThereIsNoText() {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 1, 5, 6);
        GenerationResult result = Generations.greedy(forward, new int[] {1}, GenerationOptions.ofTokens(2));
        assertEquals(Optional.empty(), result.text());
        assertThat(result.ids()).containsExactly(5, 6);
        assertThat(pieces).isEmpty();
    }

    @Test
    void stopTextsNeedATokenizer() {
        GenerationOptions options = GenerationOptions.ofTokens(2).withStopTexts(List.of("a"));
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, 1);
        assertThat(assertThrows(InvalidRequest.class, () -> Generations.greedy(forward, new int[1], options)))
                .hasMessageContaining("stopTexts needs the model's tokenizer");
    }

    @Test
    void optionsOutsideTheirRangeAreRefused() {
        assertThat(assertThrows(InvalidRequest.class, () -> GenerationOptions.ofTokens(-1)))
                .hasMessage("maxTokens is -1, expected 0 or more");
        GenerationOptions options = GenerationOptions.ofTokens(1);
        assertThat(assertThrows(InvalidRequest.class, () -> options.withStopTexts(List.of("a", ""))))
                .hasMessage("an empty text is in stopTexts, expected a text");
    }

    @Test
    void aLogitThatIsNoNumberIsNamedWithItsPosition() {
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, CONTEXT, (sequence, logits) -> {
            logits[17] = sequence.length == 5 ? Float.NaN : 1;
        });
        assertThat(assertThrows(
                        NonFiniteLogitException.class,
                        () -> generate(forward, GenerationOptions.ofTokens(9), new int[3])))
                .hasMessageStartingWith("logit 17 at position 4 is NaN");
    }

    @Test
    void theRepetitionPenaltySeesPromptAndText() {
        SamplingOptions options = new SamplingOptions(0, 0, 1, 0, 10, 1, true);
        ScriptedForwardPass forward = new ScriptedForwardPass(4, CONTEXT, (_, logits) -> {
            for (int id = 0; id < 4; id++) {
                logits[id] = 8 - id;
            }
        });
        GenerationResult result = Generations.sampled(forward, new int[] {0}, options, GenerationOptions.ofTokens(3));
        assertThat(result.ids()).containsExactly(1, 2, 3);
    }

    private GenerationResult generate(GenerationOptions options, String prompt, String continuation) {
        return generate(options, tokenizer.encodePrompt(prompt), continuation(continuation));
    }

    private GenerationResult generate(GenerationOptions options, int[] prompt, int... ids) {
        ScriptedForwardPass forward = ScriptedForwardPass.saying(VOCAB, CONTEXT, Math.max(1, prompt.length), ids);
        return generate(forward, options, prompt);
    }

    private GenerationResult generate(ForwardPass forward, GenerationOptions options, int[] prompt) {
        return new Generator(forward).generate(generation(prompt, options, () -> false));
    }

    private Generation generation(int[] prompt, GenerationOptions options, BooleanSupplier cancelled) {
        return generation(prompt, options, Optional.empty(), cancelled);
    }

    private Generation generation(
            int[] prompt, GenerationOptions options, Optional<Guesser> guesser, BooleanSupplier cancelled) {
        GenerationListener listener = new GenerationListener() {
            @Override
            public void text(String piece) {
                pieces.add(piece);
            }

            @Override
            public boolean isCancelled() {
                return cancelled.getAsBoolean();
            }
        };
        return new Generation(
                prompt,
                CONTEXT,
                new Sampler(SamplingOptions.GREEDY, VOCAB),
                Optional.of(tokenizer),
                options,
                guesser,
                listener);
    }

    private static String refused(ScriptedForwardPass forward, GenerationOptions options, int[] prompt) {
        return assertThrows(InvalidRequest.class, () -> Generations.greedy(forward, prompt, options))
                .getMessage();
    }

    /** The ids of a text that follows another: the tokenizer puts a space in front of every text by itself. */
    private int[] continuation(String text) {
        int[] ids = tokenizer.encode("hello" + text);
        assertEquals("▁hello", tokenizer.pieces(ids).getFirst());
        return Arrays.copyOfRange(ids, 1, ids.length);
    }

    private static int[] append(int[] ids, int last) {
        int[] longer = Arrays.copyOf(ids, ids.length + 1);
        longer[ids.length] = last;
        return longer;
    }

    /** What is chosen depends on all that was run, so that a stale position would show. */
    private static ScriptedForwardPass summing() {
        return new ScriptedForwardPass(
                VOCAB, CONTEXT, (sequence, logits) -> logits[3 + Math.floorMod(Arrays.hashCode(sequence), 97)] = 1);
    }

    private static GenerationResult run(Generator generator, int tokens, int... prompt) {
        Generation generation = new Generation(
                prompt,
                CONTEXT,
                new Sampler(SamplingOptions.GREEDY, VOCAB),
                Optional.empty(),
                GenerationOptions.ofTokens(tokens),
                Optional.empty(),
                GenerationListener.NONE);
        return generator.generate(generation);
    }

    @Test
    void whatTheTextBeforeHasRunIsNotRunAgain() {
        ScriptedForwardPass forward = summing();
        Generator reusing = Generator.reusing(forward);
        int[][] prompts = {{5, 6, 7}, {5, 6, 7}, {5, 6, 8, 9}, {5}, {9, 9}, {5, 6, 7, 8}};
        int[] reused = {0, 2, 2, 0, 0, 0};
        for (int i = 0; i < prompts.length; i++) {
            GenerationResult result = run(reusing, 4, prompts[i]);
            assertThat(result.ids())
                    .containsExactly(
                            run(new Generator(summing()), 4, prompts[i]).ids());
            assertThat(result.reusedTokens()).as("prompt " + i).isEqualTo(reused[i]);
        }
        GenerationResult before = run(reusing, 4, 5, 6, 7, 8);
        int[] all = append(
                IntStream.concat(IntStream.of(5, 6, 7, 8), IntStream.of(before.ids()))
                        .toArray(),
                3);
        assertThat(run(reusing, 2, all).reusedTokens()).isEqualTo(7);
        reusing.forget();
        assertThat(run(reusing, 2, all).reusedTokens()).isZero();
    }

    @Test
    void nothingIsReusedWhereTheForwardPassHasFailed() {
        boolean[] fails = {false};
        ScriptedForwardPass forward = new ScriptedForwardPass(VOCAB, CONTEXT, (sequence, logits) -> {
            if (fails[0]) {
                throw new IllegalStateException("broken");
            }
            logits[sequence.length] = 1;
        });
        Generator reusing = Generator.reusing(forward);
        run(reusing, 1, 5, 6, 7, 8);
        fails[0] = true;
        assertThrows(IllegalStateException.class, () -> run(reusing, 1, 5, 6, 9, 9));
        fails[0] = false;
        assertThat(run(reusing, 1, 5, 6, 7, 8).reusedTokens()).isEqualTo(2);
    }
}
