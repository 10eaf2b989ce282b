package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Logits;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.generation.StopReason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LanguageModelTest {
    private static final EngineSettings SCALAR = EngineSettings.of(EngineKind.SCALAR);
    private static final GenerationRequest REQUEST =
            GenerationRequest.of("hello").withMaxTokens(12).withSampling(SamplingOptions.GREEDY);

    @TempDir
    Path folder;

    @Test
    void everyEngineGivesTheSameTextAndTheListenerHasGotIt() {
        LibraryModels.gpt2(folder);
        StringBuilder heard = new StringBuilder();
        try (LanguageModel host = LanguageModel.load(folder);
                LanguageModel scalar = LanguageModel.load(folder, SCALAR)) {
            assertThat(host.engine()).isEqualTo(EngineKind.HOST);
            assertThat(scalar.engine()).isEqualTo(EngineKind.SCALAR);
            GenerationResult result = host.generate(REQUEST, heard::append);
            assertThat(result.ids())
                    .hasSize(12)
                    .isEqualTo(scalar.generate(REQUEST).ids());
            assertThat(result.text()).contains(heard.toString());
            assertThat(host.generate("hello"))
                    .isEqualTo(scalar.generate("hello"))
                    .isNotEmpty();
        }
    }

    /** Also right behind a sequence that took all memory for keys and values. */
    @Test
    void manyRequestsGetWhatEachGetsAlone() {
        LibraryModels.gpt2(folder);
        List<GenerationRequest> requests = IntStream.range(0, 9)
                .mapToObj(i -> GenerationRequest.of("hello" + " world".repeat(i % 4))
                        .withMaxTokens(2 + i)
                        .withPromptLookup(i % 2 == 0)
                        .withSampling(new SamplingOptions(0.8, 0, 1, 0, 1, i, false)))
                .toList();
        try (LanguageModel model = LanguageModel.load(folder)) {
            model.generate(REQUEST.withMaxTokens(LibraryModels.CONTEXT));
            List<GenerationResult> together = model.generateAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                GenerationResult alone = model.generate(requests.get(i));
                assertThat(together.get(i).ids()).hasSize(2 + i).isEqualTo(alone.ids());
                assertThat(together.get(i).text()).isEqualTo(alone.text());
            }
            assertThat(model.generateAll(List.of())).isEmpty();
            assertThatThrownBy(() -> model.generateAll(List.of(REQUEST, GenerationRequest.ofIds(-1))))
                    .isInstanceOf(InvalidRequest.class);
        }
    }

    @Test
    void whatEndsATextComesWithTheModel() throws IOException {
        LibraryModels.gpt2(folder);
        int[] endless = generated(REQUEST).ids();
        LibraryModels.say(folder, "eos_token_id", endless[4]);
        GenerationResult ended = generated(REQUEST);
        assertThat(ended.stopReason()).isEqualTo(StopReason.EOS);
        assertThat(endless).startsWith(ended.ids()).hasSizeGreaterThan(ended.ids().length);
    }

    @Test
    void anEmptyPromptBeginsWithTheModelsStartToken() throws IOException {
        LibraryModels.gpt2(folder);
        assertThatThrownBy(() -> generated(GenerationRequest.of("")))
                .isInstanceOf(InvalidRequest.class)
                .hasMessageContaining("names no start token");
        LibraryModels.say(folder, "bos_token_id", 7);
        assertThat(generated(GenerationRequest.of("").withMaxTokens(1)).promptIds())
                .containsExactly(7);
        assertThat(generated(GenerationRequest.ofIds().withMaxTokens(1)).promptIds())
                .containsExactly(7);
    }

    @Test
    void aPromptThatDoesNotFitIsRefusedAndTheModelGoesOn() {
        LibraryModels.gpt2(folder);
        try (LanguageModel model = LanguageModel.load(folder, SCALAR.withContext(8))) {
            assertThat(model.contextLength()).isEqualTo(8);
            assertThatThrownBy(() -> model.generate("hello ".repeat(9)))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessageContaining("but the context holds 8");
            assertThat(model.generate(REQUEST).stopReason()).isEqualTo(StopReason.CONTEXT);
        }
    }

    @Test
    void logitsAreThoseOfTheForwardPass() {
        LibraryModels.gpt2(folder);
        int[] ids =
                IntStream.range(0, LibraryModels.CONTEXT).map(i -> i * 7 % 256).toArray();
        try (LanguageModel model = LanguageModel.load(folder, SCALAR);
                EngineSession session = Engines.open(Checkpoint.open(folder), SCALAR)) {
            float[] logits = model.logits(ids);
            assertThat(logits).containsExactly(session.forward().forward(ids, 0));
            assertThat(model.logits(3)).isNotSameAs(model.logits(3)).containsExactly(model.logits(3));
            int next = generated(GenerationRequest.ofIds(ids).withMaxTokens(1).withSampling(SamplingOptions.GREEDY))
                    .ids()[0];
            assertThat(next).isEqualTo(Logits.argmax(logits, logits.length));
        }
    }

    @Test
    void logitsOfWhatTheModelCannotReadAreRefused() {
        LibraryModels.gpt2(folder);
        try (LanguageModel model = LanguageModel.load(folder, SCALAR)) {
            assertThatThrownBy(model::logits)
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessage("the text has 0 tokens, expected 1 to 600, the context");
            assertThatThrownBy(() -> model.logits(new int[601])).isInstanceOf(InvalidRequest.class);
            assertThatThrownBy(() -> model.logits(1, 1000))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessageStartingWith("token id 1000 (number 2) is outside the model's vocabulary");
        }
    }

    @Test
    void perplexityIsOfTheTextAsThePromptWouldBe() {
        LibraryModels.gpt2(folder);
        try (LanguageModel model = LanguageModel.load(folder, SCALAR)) {
            int tokens = model.folder().tokenizer().encodePrompt("hello world").length;
            assertThat(model.perplexity("hello world").tokens()).isEqualTo(tokens - 1);
            assertThat(model.perplexity("hello world").perplexity()).isGreaterThan(1);
        }
    }

    @Test
    void threadsTakeTurns() throws InterruptedException, ExecutionException {
        LibraryModels.gpt2(folder);
        try (LanguageModel model = LanguageModel.load(folder);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<String>> texts = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                String prompt = i % 2 == 0 ? "hello" : "world";
                texts.add(threads.submit(() -> model.generate(prompt)));
            }
            for (int i = 2; i < texts.size(); i++) {
                assertThat(texts.get(i).get()).isEqualTo(texts.get(i % 2).get());
            }
        }
    }

    @Test
    void aListenerEndsAText() {
        LibraryModels.gpt2(folder);
        List<String> heard = new ArrayList<>();
        GenerationListener impatient = new GenerationListener() {
            @Override
            public void text(String piece) {
                heard.add(piece);
            }

            @Override
            public boolean isCancelled() {
                return !heard.isEmpty();
            }
        };
        try (LanguageModel model = LanguageModel.load(folder, SCALAR)) {
            GenerationResult result =
                    model.generate(GenerationRequest.of("hello").withMaxTokens(500), impatient);
            assertThat(result.stopReason()).isEqualTo(StopReason.CANCELLED);
            assertThat(result.ids()).hasSizeLessThan(500);
        }
    }

    @Test
    @SuppressWarnings("try") // the listener's close() is what is refused
    void aListenerCannotUseItsModel() {
        LibraryModels.gpt2(folder);
        try (LanguageModel model = LanguageModel.load(folder, SCALAR)) {
            assertThatThrownBy(() -> model.generate(REQUEST, _ -> model.generate("world")))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessage("a listener cannot use the model that it listens to");
            assertThatThrownBy(() -> model.generate(REQUEST, _ -> model.close()))
                    .isInstanceOf(InvalidRequest.class);
            assertThat(model.generate(REQUEST).ids()).hasSize(12);
        }
    }

    @Test
    void aClosedModelSaysSo() {
        LibraryModels.gpt2(folder);
        LanguageModel model = LanguageModel.load(folder, SCALAR);
        model.close();
        model.close();
        assertThatThrownBy(() -> model.generate("hello"))
                .isInstanceOf(InvalidRequest.class)
                .hasMessage("the model is closed");
    }

    @Test
    void withoutATokenizerIdsAreEnough() {
        LibraryModels.withoutTokenizer(folder);
        try (LanguageModel model = LanguageModel.load(folder, SCALAR)) {
            GenerationResult result =
                    model.generate(GenerationRequest.ofIds(1, 2).withMaxTokens(3));
            assertThat(result.ids()).hasSize(3);
            assertThat(result.text()).isEmpty();
            assertThatThrownBy(() -> model.generate("hello"))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("has no tokenizer");
            assertThatThrownBy(() -> model.generate(GenerationRequest.ofIds(1).withStopTexts(List.of("."))))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessageStartingWith("stopTexts needs the model's tokenizer");
        }
    }

    @Test
    void settingsReachTheEngine() {
        LibraryModels.gpt2(folder);
        EngineSettings settings = EngineSettings.of(EngineKind.HOST)
                .withThreads(2)
                .withDType(DType.INT8)
                .withContext(77);
        try (LanguageModel model = LanguageModel.load(folder, settings)) {
            assertThat(model.device()).isEqualTo("2 threads");
            assertThat(model.dtype()).isEqualTo(DType.INT8);
            assertThat(model.contextLength()).isEqualTo(77);
        }
    }

    private GenerationResult generated(GenerationRequest request) {
        try (LanguageModel model = LanguageModel.load(folder, SCALAR)) {
            return model.generate(request);
        }
    }
}
