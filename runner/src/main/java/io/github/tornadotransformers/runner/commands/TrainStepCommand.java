package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.training.CheckpointTensor;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what one step of training would do. */
@Command(
        name = "step",
        customSynopsis = "transformers train step CHECKPOINT [--prompt TEXT|--prompt-ids IDS] [OPTION]...",
        description = {
            "Show the loss of a text, the gradient of every tensor of the checkpoint, and the loss after one step against"
                    + " it. Nothing is written.",
            "",
            "The loss is the mean negative log-likelihood, in nats, of every token but the first; gradients are shown as"
                    + " the sum and the L2 norm of their elements."
        },
        sortOptions = false)
final class TrainStepCommand implements Callable<Integer> {
    /** Weights and gradients. */
    private static final int STEP_COPIES = 2;

    private final Console console;

    @Parameters(paramLabel = "CHECKPOINT", description = "a checkpoint's folder, or a name")
    String model;

    @Option(
            names = "--prompt",
            paramLabel = "TEXT",
            description = "the text to learn; - or none: standard input, as it is")
    String prompt;

    @Mixin
    TextFile file;

    @Option(
            names = "--prompt-ids",
            paramLabel = "5,17,99",
            split = ",",
            hideParamSyntax = true,
            description = "token ids instead of a text; needs no tokenizer")
    int[] promptIds;

    @Option(names = "--lr", paramLabel = "X", description = "learning rate of the step (default: ${DEFAULT-VALUE})")
    float learningRate = 1e-4f;

    @Option(names = "--json", description = "print one JSON object: loss, gradients, loss_after_step")
    boolean json;

    @ArgGroup(validate = false, heading = "%nWhat computes:%n")
    TrainingEngine engine = new TrainingEngine();

    @Mixin
    CommonOptions common;

    TrainStepCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        requireSensibleCall();
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(model));
        int[] ids = promptIds == null ? Tokenizer.load(checkpoint.path()).encodePrompt(text()) : promptIds;
        ModelConfig config = checkpoint.config();
        if (ids.length < 2 || ids.length - 1 > config.contextLength()) {
            throw Failure.usage("the prompt has " + ids.length + " tokens, expected 2 to "
                    + (config.contextLength() + 1L) + ": one to begin with, and the model's context to predict");
        }
        Program program = config.program(ids.length - 1);
        engine.requireMemory(program, STEP_COPIES);
        try (GradientPass pass = engine.open(program, weights(checkpoint, program), console.status())) {
            print(step(pass, ids, ModelFamilies.of(config)));
        }
        return ExitCode.OK;
    }

    private void requireSensibleCall() {
        if (promptIds != null) {
            file.requireNoText("--prompt", prompt);
        }
        if (!(learningRate >= 0) || Float.isInfinite(learningRate)) {
            throw Failure.usage("--lr is " + learningRate + ", expected a number of at least 0");
        }
        engine.settings();
    }

    private String text() {
        TextInput texts = new TextInput(console);
        return texts.given("--prompt", prompt, file)
                .or(texts::piped)
                .orElseThrow(() -> Failure.usage(
                        "no text is given: expected one of --prompt and --prompt-ids, or --file, or a pipe"));
    }

    private static ParameterArrays weights(Checkpoint checkpoint, Program program) {
        try (Arena arena = Arena.ofShared()) {
            return ParameterArrays.copyOf(program, checkpoint.load(program, DType.F32, new ArenaAllocator(arena)));
        }
    }

    /** What a step showed. */
    private record Result(
            int tokens, double loss, SequencedMap<String, CheckpointTensor.Moments> gradients, double lossAfter) {}

    private Result step(GradientPass pass, int[] ids, ModelFamily<?> family) {
        int[] tokens = Arrays.copyOf(ids, ids.length - 1);
        int[] targets = Arrays.copyOfRange(ids, 1, ids.length);
        pass.begin();
        double loss = pass.lossAndGradients(tokens, targets, 1f / tokens.length) / tokens.length;
        pass.readGradients();
        SequencedMap<String, CheckpointTensor.Moments> moments = new LinkedHashMap<>();
        for (CheckpointTensor tensor : CheckpointTensor.of(pass.program(), family::fullName)) {
            moments.put(tensor.name(), tensor.moments(pass.gradients()));
        }
        pass.descend(learningRate);
        return new Result(ids.length, loss, moments, pass.loss(tokens, targets) / tokens.length);
    }

    private void print(Result result) {
        if (json) {
            console.out().println(toJson(result).toString());
            return;
        }
        StringBuilder lines = new StringBuilder();
        lines.append(String.format(Locale.ROOT, "loss %.8f%n", result.loss()));
        lines.append(String.format(Locale.ROOT, "%-52s %15s %15s%n", "gradient", "sum", "L2 norm"));
        for (Map.Entry<String, CheckpointTensor.Moments> entry :
                result.gradients().entrySet()) {
            lines.append(String.format(
                    Locale.ROOT,
                    "%-52s %15.6e %15.6e%n",
                    entry.getKey(),
                    entry.getValue().sum(),
                    entry.getValue().l2()));
        }
        lines.append(String.format(Locale.ROOT, "loss after a step of %s: %.8f", learningRate, result.lossAfter()));
        console.out().println(lines.toString());
    }

    private ObjectNode toJson(Result result) {
        ObjectNode object = Json.object()
                .put("model", model)
                .put("engine", engine.engine.toString())
                .put("tokens", result.tokens())
                .put("lr", learningRate)
                .put("loss", result.loss());
        ObjectNode gradients = object.putObject("gradients");
        result.gradients()
                .forEach((name, moments) ->
                        gradients.putObject(name).put("sum", moments.sum()).put("l2", moments.l2()));
        return object.put("loss_after_step", result.lossAfter());
    }
}
