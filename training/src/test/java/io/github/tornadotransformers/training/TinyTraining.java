package io.github.tornadotransformers.training;

import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.checkpoint.CheckpointWriter;
import io.github.tornadotransformers.models.checkpoint.StoredType;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.training.tokenizer.BytePairEncoding;
import io.github.tornadotransformers.training.tokenizer.BytePairTrainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** A text of a few hundred lines from a small vocabulary, a tokenizer for it, and models that learn it in seconds. */
final class TinyTraining {
    static final int CONTEXT = 16;
    private static final int VOCAB = 290;
    private static final String[] WORDS = {
        "the", "owl", "sleeps", "by", "day", "and", "hunts", "at", "night", "over", "a", "quiet", "field"
    };

    private final String text;
    private final Tokenizer tokenizer;
    private final List<String> progress = new ArrayList<>();

    TinyTraining(Path folder) throws IOException {
        text = text(new RandomData(7));
        BytePairEncoding encoding = BytePairTrainer.train(text, VOCAB);
        Files.createDirectories(folder);
        CheckpointWriter.writeJson(folder.resolve("tokenizer.json"), encoding.toTokenizerJson());
        CheckpointWriter.writeJson(folder.resolve("tokenizer_config.json"), BytePairEncoding.toTokenizerConfigJson());
        tokenizer = Tokenizer.load(folder);
    }

    private static String text(RandomData data) {
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < 300; line++) {
            for (int word = 0; word < 8; word++) {
                text.append(word == 0 ? "" : " ").append(WORDS[(line * word + data.between(0, 2)) % WORDS.length]);
            }
            text.append(line % 5 == 4 ? "\n\n" : "\n");
        }
        return text.toString();
    }

    static Gpt2Config gpt2() {
        return new Gpt2Config(new Sizes(VOCAB, CONTEXT, 24, 48, 2), 2, 1e-5f, true, true);
    }

    static LlamaConfig llama() {
        return new LlamaConfig(
                new Sizes(VOCAB, CONTEXT, 24, 40, 2),
                new Heads(4, 2, 6),
                new Rope(10000, 6, new RopeScaling.None()),
                1e-5f,
                false,
                false,
                false);
    }

    static TrainingSettings settings(int steps, double learningRate) {
        return new TrainingSettings(
                steps, CONTEXT, 3, learningRate, learningRate / 10, 4, 0.1, 0.9, 0.99, 1e-8, 1, 5, 1);
    }

    Tokenizer tokenizer() {
        return tokenizer;
    }

    String text() {
        return text;
    }

    TrainingText parts() {
        return TrainingText.of(text, tokenizer, 0.1, CONTEXT);
    }

    /** What the runs said. */
    List<String> progress() {
        return progress;
    }

    Trainer trainer(ModelConfig config, TrainingSettings settings) {
        return trainer(config, settings, new ScalarOps(), new ScalarBackwardOps());
    }

    Trainer trainer(ModelConfig config, TrainingSettings settings, HostOps ops, BackwardOps backwardOps) {
        Program program = config.program(settings.context());
        ParameterArrays weights = InitialWeights.of(program, settings.seed());
        return new Trainer(pass(weights, program, ops, backwardOps), parts(), settings);
    }

    static GradientPass pass(ParameterArrays weights, Program program, HostOps ops, BackwardOps backwardOps) {
        return new TrainingPass(program, weights, new ParameterArrays(program), ops, backwardOps);
    }

    /** A run that keeps its best model in a folder. */
    TrainingRun run(Trainer trainer, ModelConfig config, Path folder) throws IOException {
        return run(trainer, config, folder, new TrainingRun.Saving(StoredType.BF16, 4, true));
    }

    TrainingRun run(Trainer trainer, ModelConfig config, Path folder, TrainingRun.Saving saving) throws IOException {
        Files.createDirectories(folder);
        CheckpointWriter.writeConfig(folder, config, saving.type(), OptionalInt.empty(), List.of());
        return new TrainingRun(trainer, config, new TrainingFolder(folder), saving, progress::add);
    }
}
