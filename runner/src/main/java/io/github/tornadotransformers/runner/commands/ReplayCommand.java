package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.engine.Receipt;
import io.github.tornadotransformers.engine.Replay;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs answers again and says whether they are the same. */
@Command(
        name = "replay",
        customSynopsis = "transformers replay [FILE|-] [OPTION]...",
        description = {
            "Run answers again from their receipts, on any engine, and say for each whether the logits of every step are equal bit"
                    + " for bit, or where they part.",
            "",
            "A file is what `generate --receipt` writes, or lines of `batch --receipts`. Exit code 0: all are equal."
        },
        sortOptions = false)
final class ReplayCommand implements Callable<Integer> {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String RECEIPT = "receipt";

    private final Console console;

    @Parameters(arity = "0..1", paramLabel = "FILE", description = "receipts; - or none: standard input")
    String file;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description = "the model, where it is not to be found under the receipt's name")
    String model;

    @ArgGroup(validate = false, heading = "%nHow the model runs; its types and its context are the receipt's:%n")
    EngineOptions engine = new EngineOptions();

    @Option(names = "--json", description = "print a JSON object for each receipt: id, equal, steps, difference")
    boolean json;

    @Option(
            names = {"-q", "--quiet"},
            description = "print the result only")
    boolean quiet;

    @Mixin
    CommonOptions common;

    ReplayCommand(Console console) {
        this.console = console;
    }

    /** What has to be loaded for a receipt. */
    private record Setting(String model, DType dtype, KvType kvType, int context) {}

    /**
     * A receipt of the file.
     *
     * @param id of the answer that it came with; null where it came alone
     */
    private record Numbered(JsonNode id, Receipt receipt) {}

    @Override
    public Integer call() {
        requireSensibleCall();
        List<Numbered> all = receipts(new TextInput(console).file(file == null ? TextInput.STANDARD_INPUT : file));
        Map<Setting, List<Numbered>> bySetting = new LinkedHashMap<>();
        for (Numbered each : all) {
            Receipt receipt = each.receipt;
            Setting setting = new Setting(
                    model == null ? receipt.model() : model, receipt.dtype(), receipt.kvType(), receipt.context());
            bySetting.computeIfAbsent(setting, _ -> new ArrayList<>()).add(each);
        }
        boolean areEqual = true;
        for (Map.Entry<Setting, List<Numbered>> each : bySetting.entrySet()) {
            areEqual &= replay(each.getKey(), each.getValue());
        }
        return areEqual ? ExitCode.OK : ExitCode.FAILURE;
    }

    private void requireSensibleCall() {
        if (engine.dtype != null || engine.kvDType != null || engine.context != null) {
            throw Failure.usage("--dtype, --kv-dtype and --context are the receipt's, expected none of them");
        }
        requireExact(engine);
    }

    /** Elsewhere, too, where receipts are made. */
    static void requireExact(EngineOptions engine) {
        if (engine.math == MathMode.FAST && engine.engine.onDevice()) {
            throw Failure.usage(
                    "--math fast may give other bits on every device, and a receipt none: expected --math strict");
        }
    }

    private List<Numbered> receipts(String text) {
        String name = file == null || file.equals(TextInput.STANDARD_INPUT) ? "standard input" : file;
        List<Numbered> receipts = new ArrayList<>();
        List<String> lines = text.lines().toList();
        for (int number = 1; number <= lines.size(); number++) {
            String line = lines.get(number - 1);
            if (!line.isBlank()) {
                try {
                    receipts.add(receipt(MAPPER.readTree(line)));
                } catch (JsonProcessingException e) {
                    throw Failure.of(name + ", line " + number + ", is no JSON", e);
                } catch (InvalidRequest e) {
                    throw Failure.of(name + ", line " + number + ": " + e.getMessage(), e);
                }
            }
        }
        if (receipts.isEmpty()) {
            throw Failure.of(name + " is empty, expected receipts");
        }
        return receipts;
    }

    /** An answer has its receipt in it. */
    private static Numbered receipt(JsonNode object) {
        return object.path(RECEIPT).isObject()
                ? new Numbered(object.get("id"), Receipt.parse(object.get(RECEIPT)))
                : new Numbered(null, Receipt.parse(object));
    }

    private boolean replay(Setting setting, List<Numbered> receipts) {
        EngineSettings settings = engine.settings(console, this::say)
                .withDType(setting.dtype)
                .withKvType(setting.kvType)
                .withContext(setting.context)
                .withCompileListener(new CompileStatus(quiet ? StatusLine.none() : console.status()));
        Checkpoint checkpoint = Checkpoint.open(new ModelCache(console).checkpoint(setting.model));
        Optional<Tokenizer> tokenizer = Tokenizer.loadIfPresent(checkpoint.path());
        String hash = checkpoint.hash();
        boolean areEqual = true;
        try (EngineSession session = Engines.openQuickly(checkpoint, settings)) {
            say(setting.model + ": " + EnumConverter.spelled(session.dtype()) + ", on engine " + session.engine() + " ("
                    + session.device() + ")");
            for (Numbered each : receipts) {
                if (!hash.equals(each.receipt.modelHash())) {
                    say("the model has SHA-256 " + hash + ", the receipt's " + each.receipt.modelHash()
                            + ": they are not the same, or not stored alike");
                }
                Optional<String> difference = difference(each.receipt, session, tokenizer);
                areEqual &= difference.isEmpty();
                print(each, difference);
            }
        }
        return areEqual;
    }

    /** A receipt that does not fit the model is no wrong call. */
    private static Optional<String> difference(Receipt receipt, EngineSession session, Optional<Tokenizer> tokenizer) {
        try {
            return Replay.difference(receipt, session, tokenizer);
        } catch (InvalidRequest e) {
            throw Failure.of(OptionNames.message(e), e);
        }
    }

    private void print(Numbered receipt, Optional<String> difference) {
        int steps = receipt.receipt.logits().size();
        if (json) {
            ObjectNode object = Json.object();
            object.set("id", receipt.id);
            console.out()
                    .println(object.put("equal", difference.isEmpty())
                            .put("steps", steps)
                            .put("difference", difference.orElse(null))
                            .toString());
        } else {
            String name = receipt.id == null ? "" : receipt.id.asText() + ": ";
            console.out()
                    .println(name
                            + difference
                                    .map(where -> "parts at " + where)
                                    .orElse("equal, " + steps + (steps == 1 ? " step" : " steps")));
        }
    }

    private void say(String line) {
        if (!quiet) {
            console.err().println(line);
        }
    }
}
