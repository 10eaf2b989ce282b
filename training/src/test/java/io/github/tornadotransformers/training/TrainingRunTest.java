package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorBackwardOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.training.losses.LossHistory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TrainingRunTest {
    private static final int STEPS = 20;
    private static final double LEARNING_RATE = 5e-3;

    @TempDir
    private Path folder;

    private TinyTraining tiny;

    @BeforeEach
    void makeText() throws IOException {
        tiny = new TinyTraining(folder.resolve("tokenizer"));
    }

    static List<ModelConfig> configs() {
        return List.of(TinyTraining.gpt2(), TinyTraining.llama());
    }

    private static TrainingSettings settings() {
        return TinyTraining.settings(STEPS, LEARNING_RATE);
    }

    private static Map<String, String> contents(Path folder) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                contents.put(file.getFileName().toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
            }
        }
        return contents;
    }

    @ParameterizedTest
    @MethodSource("configs")
    void aResumedRunLeavesTheFilesOfOneThatNeverStopped(ModelConfig config) throws IOException {
        Path straight = folder.resolve("straight");
        tiny.run(tiny.trainer(config, settings()), config, straight).run(STEPS, () -> false);
        Path stopped = folder.resolve("stopped");
        tiny.run(tiny.trainer(config, settings()), config, stopped).run(7, () -> false);
        Trainer resumed = tiny.trainer(config, settings());
        new TrainingFolder(stopped).state().restore(resumed);
        assertThat(resumed.steps()).isEqualTo(7);
        tiny.run(resumed, config, stopped).run(STEPS, () -> false);
        assertThat(contents(stopped)).isEqualTo(contents(straight));
        assertThat(contents(straight)).containsKeys("config.json", "model.safetensors", "loss-curve.svg");
    }

    @Test
    void theBitsDoNotDependOnTheEngineOrItsThreads() throws IOException {
        ModelConfig config = TinyTraining.llama();
        Path scalar = folder.resolve("scalar");
        tiny.run(tiny.trainer(config, settings()), config, scalar).run(STEPS, () -> false);
        Path vector = folder.resolve("vector");
        try (VectorOps ops = new VectorOps(3)) {
            Trainer trainer = tiny.trainer(config, settings(), ops, new VectorBackwardOps(ops));
            tiny.run(trainer, config, vector).run(STEPS, () -> false);
        }
        assertThat(contents(vector)).isEqualTo(contents(scalar));
    }

    @ParameterizedTest
    @MethodSource("configs")
    void theLossFallsAndTheBestModelIsKept(ModelConfig config) throws IOException {
        Path out = folder.resolve("out");
        TrainingSettings settings = TinyTraining.settings(60, 0.01);
        Trainer trainer = tiny.trainer(config, settings);
        tiny.run(trainer, config, out).run(60, () -> false);
        List<Double> losses = trainer.history().training();
        assertThat(losses.getFirst()).isBetween(5.0, 6.5);
        assertThat(losses.getLast()).isLessThan(4.0);

        Checkpoint checkpoint = Checkpoint.open(out);
        assertThat(checkpoint.config()).isEqualTo(config);
        Program program = config.program(TinyTraining.CONTEXT);
        ParameterArrays written = ParameterArrays.copyOf(
                program, checkpoint.load(program, DType.F32, new ArenaAllocator(Arena.ofAuto())));
        Trainer best = new Trainer(
                TinyTraining.pass(written, program, new ScalarOps(), new ScalarBackwardOps()), tiny.parts(), settings);
        double expected = trainer.history().best().loss();
        assertThat(best.validationLoss()).isBetween(expected - 0.02, expected + 0.02);
    }

    @Test
    void stoppingFinishesTheStepAndWritesTheState() throws IOException {
        Path out = folder.resolve("out");
        Trainer trainer = tiny.trainer(TinyTraining.gpt2(), settings());
        tiny.run(trainer, TinyTraining.gpt2(), out).run(STEPS, () -> trainer.steps() == 3);
        Trainer resumed = tiny.trainer(TinyTraining.gpt2(), settings());
        new TrainingFolder(out).state().restore(resumed);
        assertThat(resumed.steps()).isEqualTo(3);
        assertThat(out.resolve("model.safetensors")).exists();
    }

    @Test
    void aLearningRateThatDivergesStopsWithTheStepAndTheLossAndKeepsTheLastState() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        TrainingSettings wild = TinyTraining.settings(STEPS, 3000);
        TrainingRun run = tiny.run(tiny.trainer(config, wild), config, out);
        assertThatThrownBy(() -> run.run(STEPS, () -> false))
                .isInstanceOf(TrainingException.class)
                .hasMessageMatching("step \\d+ has a loss of .* diverges; try a lower learning rate than 3000.0;"
                        + " no state had been written yet");
    }

    @Test
    void theStateOfTheLastGoodStepOutlivesADivergence() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        Trainer trainer = tiny.trainer(config, settings());
        TrainingRun run = tiny.run(trainer, config, out);
        run.run(8, () -> false);
        float[] weight = trainer.weights().layer(trainer.weights().weights().getFirst(), 0);
        weight[0] = Float.NaN;
        assertThatThrownBy(() -> run.run(STEPS, () -> false))
                .hasMessageContaining("step 9 has a loss of NaN")
                .hasMessageContaining("the state of step 8 is kept");
        Trainer resumed = tiny.trainer(config, settings());
        new TrainingFolder(out).state().restore(resumed);
        assertThat(resumed.steps()).isEqualTo(8);
    }

    @Test
    void otherSettingsOrAnotherTextAreNotResumed() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        tiny.run(tiny.trainer(config, settings()), config, out).run(2, () -> false);
        Trainer other = tiny.trainer(config, TinyTraining.settings(STEPS, 0.25));
        assertThatThrownBy(() -> new TrainingFolder(out).state().restore(other))
                .isInstanceOf(TrainingException.class)
                .hasMessageContaining("learningRate was 0.005 and is 0.25");
        Program program = config.program(TinyTraining.CONTEXT);
        TrainingText text = TrainingText.of(tiny.text() + "x", tiny.tokenizer(), 0.1, TinyTraining.CONTEXT);
        Trainer elsewhere = new Trainer(
                TinyTraining.pass(new ParameterArrays(program), program, new ScalarOps(), new ScalarBackwardOps()),
                text,
                settings());
        assertThatThrownBy(() -> new TrainingFolder(out).state().restore(elsewhere))
                .hasMessageContaining("the text");
    }

    @Test
    void theStateOfAnotherModelIsRefusedWithTheTensor() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        tiny.run(tiny.trainer(config, settings()), config, out).run(2, () -> false);
        Gpt2Config wider = new Gpt2Config(new Sizes(290, TinyTraining.CONTEXT, 32, 48, 2), 2, 1e-5f, true, true);
        Gpt2Config deeper = new Gpt2Config(new Sizes(290, TinyTraining.CONTEXT, 24, 48, 3), 2, 1e-5f, true, true);
        assertThatThrownBy(() -> new TrainingFolder(out).state().restore(tiny.trainer(wider, settings())))
                .isInstanceOf(CheckpointException.class)
                .hasMessageStartingWith(
                        out.resolve("training-state.safetensors").toString())
                .hasMessageMatching(".* is F32 \\[.*24.*], expected F32 \\[.*32.*]: it is the state of another model");
        assertThatThrownBy(() -> new TrainingFolder(out).state().restore(tiny.trainer(deeper, settings())))
                .isInstanceOf(CheckpointException.class)
                .hasMessageMatching(".* tensor \"\\w+\\.\\w+\\.2\" is missing, expected F32 .*");
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamedAndNothingIsLeftBehind() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        Files.createDirectories(out.resolve("model.safetensors").resolve("in-the-way"));
        TrainingRun run = tiny.run(tiny.trainer(config, settings()), config, out);
        assertThatThrownBy(() -> run.run(5, () -> false))
                .isInstanceOf(TrainingException.class)
                .hasMessageContaining("the model cannot be written to " + out)
                .hasMessageEndingWith("; no state had been written yet")
                .hasMessageNotContaining("written before");
        try (Stream<Path> files = Files.list(out)) {
            assertThat(files.map(file -> file.getFileName().toString())).noneMatch(name -> name.contains("partial"));
        }
    }

    @Test
    void aTextShorterThanTheContextIsRefusedWithBothNumbers() {
        assertThatThrownBy(() -> TrainingText.of("the owl", tiny.tokenizer(), 0, TinyTraining.CONTEXT))
                .isInstanceOf(TrainingException.class)
                .hasMessageContaining("tokens for training")
                .hasMessageContaining("" + TinyTraining.CONTEXT);
        assertThatThrownBy(() -> TrainingText.of(tiny.text(), tiny.tokenizer(), 0.001, TinyTraining.CONTEXT))
                .hasMessageContaining("tokens for validation");
    }

    @Test
    void progressTellsOfValidation() throws IOException {
        ModelConfig config = TinyTraining.gpt2();
        tiny.run(tiny.trainer(config, settings()), config, folder.resolve("out"))
                .run(STEPS, () -> false);
        assertThat(tiny.progress()).hasSize(4);
        assertThat(tiny.progress().getFirst()).matches("step 5 of 20: validation loss \\d\\.\\d{4}, the best so far");
    }

    /** Trained longer, at the final learning rate, a run is as if it had never stopped. */
    @Test
    void aRunCanBeTrainedLonger() throws IOException {
        ModelConfig config = TinyTraining.gpt2();
        int longer = STEPS + 7;
        List<Float> rates = new ArrayList<>();
        Map<String, String> straight = trainLonger(config, "straight", longer, rates, longer);
        assertThat(rates).hasSize(7).containsOnly((float) (LEARNING_RATE / 10));
        assertThat(trainLonger(config, "stopped", longer, rates, STEPS + 3, longer))
                .isEqualTo(straight);
        LossHistory history =
                new TrainingFolder(folder.resolve("straight")).state().history();
        assertThat(history.training()).hasSize(longer);
        assertThat(history.validation())
                .extracting(LossHistory.Validation::step)
                .containsExactly(5, 10, 15, 20, 25, 27);
    }

    private Map<String, String> trainLonger(ModelConfig config, String name, int goal, List<Float> rates, int... stops)
            throws IOException {
        Path out = folder.resolve(name);
        tiny.run(tiny.trainer(config, settings()), config, out).run(STEPS, () -> false);
        for (int stop : stops) {
            Trainer trainer = tiny.trainer(config, settings());
            new TrainingFolder(out).state().restore(trainer);
            trainer.extendTo(goal);
            TrainingRun run = tiny.run(trainer, config, out);
            run.run(stop, () -> {
                if (trainer.steps() >= STEPS && trainer.steps() < stop) {
                    rates.add(trainer.settings().learningRateAt(trainer.steps()));
                }
                return false;
            });
            assertThat(trainer.steps()).isEqualTo(stop);
        }
        return contents(out);
    }

    @Test
    void aRunCannotBeMadeShorter() {
        Trainer trainer = tiny.trainer(TinyTraining.gpt2(), settings());
        assertThatThrownBy(() -> trainer.extendTo(STEPS - 1)).hasMessage("19 steps, expected at least 20");
        trainer.extendTo(STEPS);
        assertThat(trainer.goal()).isEqualTo(STEPS);
    }

    /** Each replaces as many bytes as it has. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            quoteCharacter = '!',
            value = {
                "step\\\":10>step\\\":-1>validation_losses",
                "step\\\":10>step\\\":99>validation_losses",
                "step\\\":15>step\\\":10>validation_losses",
                "step\\\":15>step\\\":.5>validation_losses",
                "\\\"loss\\\":>\\\"lass\\\":>validation_losses",
                "\"training_losses\">\"trainung_losses\">training_losses",
                "\"training_losses\":\"[>\"training_losses\":\"7>training_losses",
                "\"validation_losses\":\"[>\"validation_losses\":\"7>validation_losses",
                "\\\"context\\\":16>\\\"context\\\":[]>settings",
                "\\\"context\\\":16>\\\"cantext\\\":16>settings",
                "\"text\">\"tixt\">text",
            })
    void aDamagedStateIsRefused(String found, String replacement, String what) throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        tiny.run(tiny.trainer(config, settings()), config, out).run(STEPS, () -> false);
        Path state = out.resolve("training-state.safetensors");
        String bytes = Files.readString(state, StandardCharsets.ISO_8859_1);
        assertThat(bytes).contains(found);
        Files.writeString(
                state,
                bytes.replaceFirst(Pattern.quote(found), Matcher.quoteReplacement(replacement)),
                StandardCharsets.ISO_8859_1);
        assertThatThrownBy(() -> new TrainingFolder(out).state())
                .isInstanceOf(CheckpointException.class)
                .hasMessage(state + " is damaged: its \"" + what + "\" is not what a training run writes");
    }

    @Test
    void aNegativeSquareIsDamage() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        Trainer trainer = tiny.trainer(config, settings());
        TrainingRun run = tiny.run(trainer, config, out);
        run.run(2, () -> false);
        ParameterArrays squares = trainer.optimizer().square();
        squares.layer(squares.weights().getFirst(), 0)[5] = -1;
        run.run(2, () -> false);
        assertThatThrownBy(() -> new TrainingFolder(out).state().restore(tiny.trainer(config, settings())))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("is damaged: its \"square.tokenEmbedding.0[5] = -1.0\"");
    }

    @Test
    void aFolderIsOneRunsAtATime() {
        Path out = folder.resolve("locked");
        try (TrainingLock _ = TrainingLock.hold(out)) {
            assertThatThrownBy(() -> TrainingLock.hold(out))
                    .isInstanceOf(TrainingException.class)
                    .hasMessage("another training writes to " + out + ": wait for its end, or choose another folder");
        }
        assertThat(new TrainingFolder(out).isFree()).isTrue();
        TrainingLock.hold(out).close();
    }

    /** Before each step, a crash would lose at most three. */
    @Test
    void theStateIsWrittenEveryFewSteps() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        TrainingRun run = tiny.run(tiny.trainer(config, settings()), config, out);
        TrainingFolder written = new TrainingFolder(out);
        List<Integer> kept = new ArrayList<>();
        run.run(13, () -> {
            kept.add(written.holdsRun() ? written.state().steps() : 0);
            assertThat(run.savedAt()).isEqualTo(kept.getLast());
            return false;
        });
        assertThat(kept).containsExactly(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12);
        assertThat(written.state().steps()).isEqualTo(13);
        assertThat(run.savedAt()).isEqualTo(13);
    }

    /** The state of a step whose model was measured knows of it, or a resumed run would not. */
    @Test
    void theStateIsWrittenAfterTheValidationLossOfItsStep() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        TrainingRun.Saving saving = new TrainingRun.Saving(StoredType.BF16, 5, true);
        List<LossHistory.Validation> kept = new ArrayList<>();
        Trainer trainer = tiny.trainer(config, settings());
        tiny.run(trainer, config, out, saving).run(STEPS, () -> {
            if (trainer.steps() > 0 && trainer.steps() % 5 == 0) {
                TrainingState state = new TrainingFolder(out).state();
                assertThat(state.steps()).isEqualTo(trainer.steps());
                kept.add(state.history().validation().getLast());
            }
            return false;
        });
        assertThat(kept).hasSize(3).isEqualTo(trainer.history().validation().subList(0, 3));
    }

    @ParameterizedTest
    @CsvSource({"0.1, false", "0, true", "0, false"})
    void theLastModelIsKeptWhereTheBestIsNotKnownOrNotWanted(double validationShare, boolean keepsBest)
            throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.llama();
        Program program = config.program(TinyTraining.CONTEXT);
        Trainer trainer = new Trainer(
                TinyTraining.pass(InitialWeights.of(program, 1), program, new ScalarOps(), new ScalarBackwardOps()),
                TrainingText.of(tiny.text(), tiny.tokenizer(), validationShare, TinyTraining.CONTEXT),
                settings());
        TrainingRun.Saving saving = new TrainingRun.Saving(StoredType.F32, 4, keepsBest);
        tiny.run(trainer, config, out, saving).run(7, () -> false);
        assertWritten(out, trainer);
        assertThat(tiny.progress()).hasSize(validationShare > 0 ? 1 : 0);
        assertThat(new TrainingFolder(out).state().steps()).isEqualTo(7);
    }

    /** The model in the folder has the trainer's weights, bit for bit. */
    private static void assertWritten(Path out, Trainer trainer) {
        Program program = trainer.program();
        ParameterArrays written = ParameterArrays.copyOf(
                program, Checkpoint.open(out).load(program, DType.F32, new ArenaAllocator(Arena.ofAuto())));
        for (Weight weight : program.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                assertThat(written.layer(weight, layer))
                        .as(weight.name())
                        .isEqualTo(trainer.weights().layer(weight, layer));
            }
        }
    }

    /** Also after a step that would be measured, if there were a validation text. */
    @Test
    void withoutAValidationTextTheStateIsWrittenAsOften() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        Program program = config.program(TinyTraining.CONTEXT);
        Trainer trainer = new Trainer(
                TinyTraining.pass(InitialWeights.of(program, 1), program, new ScalarOps(), new ScalarBackwardOps()),
                TrainingText.of(tiny.text(), tiny.tokenizer(), 0, TinyTraining.CONTEXT),
                settings());
        TrainingRun run = tiny.run(trainer, config, out, new TrainingRun.Saving(StoredType.BF16, 5, true));
        run.run(7, () -> {
            assertThat(run.savedAt()).isEqualTo(trainer.steps() < 5 ? 0 : 5);
            return false;
        });
    }

    @Test
    void aWorseModelDoesNotReplaceTheBest() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        Trainer trainer = tiny.trainer(config, settings());
        TrainingRun run = tiny.run(trainer, config, out, new TrainingRun.Saving(StoredType.F32, 4, true));
        run.run(5, () -> false);
        assertWritten(out, trainer);
        byte[] best = Files.readAllBytes(out.resolve("model.safetensors"));
        trainer.history().addValidation(5, 0.5);
        run.run(STEPS, () -> false);
        assertThat(out.resolve("model.safetensors")).hasBinaryContent(best);
        assertThat(tiny.progress().getFirst()).endsWith(", the best so far");
        assertThat(tiny.progress().subList(1, 4)).allMatch(line -> line.matches(".*validation loss \\d\\.\\d{4}"));
    }

    @Test
    void aStateThatWasWrittenBeforeAModelCouldNotBeIsTold() throws IOException {
        Path out = folder.resolve("out");
        ModelConfig config = TinyTraining.gpt2();
        TrainingRun run = tiny.run(tiny.trainer(config, settings()), config, out);
        run.run(2, () -> false);
        Files.delete(out.resolve("model.safetensors"));
        Files.createDirectories(out.resolve("model.safetensors").resolve("in-the-way"));
        assertThatThrownBy(() -> run.run(3, () -> false))
                .isInstanceOf(TrainingException.class)
                .hasMessageEndingWith("; the state written before is kept");
        assertThat(new TrainingFolder(out).state().steps()).isEqualTo(2);
    }

    @Test
    void aFolderIsFreeWhereItHoldsNothingButTheLock() throws IOException {
        Path out = folder.resolve("out");
        assertThat(new TrainingFolder(out).isFree()).isTrue();
        Files.createDirectories(out);
        assertThat(new TrainingFolder(out).isFree()).isTrue();
        TrainingLock.hold(out).close();
        assertThat(new TrainingFolder(out).isFree()).isTrue();
        assertThat(new TrainingFolder(out).holdsRun()).isFalse();
        Path notes = Files.writeString(out.resolve("notes.txt"), "of somebody");
        assertThat(new TrainingFolder(out).isFree()).isFalse();
        assertThat(new TrainingFolder(notes).isFree()).isFalse();
    }

    @Test
    void aLockThatCannotBeMadeIsAnErrorOfOneLine() throws IOException {
        Path notes = Files.writeString(folder.resolve("notes.txt"), "of somebody");
        assertThatThrownBy(() -> TrainingLock.hold(notes))
                .isInstanceOf(TrainingException.class)
                .hasMessageStartingWith(notes + " cannot be locked for this run: ");
    }
}
