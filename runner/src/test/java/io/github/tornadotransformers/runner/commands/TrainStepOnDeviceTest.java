package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.sdk.TornadoSdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code train step -e tornado} on the device that an installed TornadoVM finds: the oracle's bits, and the losses and gradients of
 * an independent implementation in double.
 */
class TrainStepOnDeviceTest {
    /** Largest differences: of a loss to itself, of a norm to itself, of a sum to the tensor's norm. */
    private static final double LOSS_TOLERANCE = 1e-5;

    private static final double GRADIENT_TOLERANCE = 1e-4;

    /** A checkpoint of each family, as each takes its time to compile, and the ids that the golden gradients are of. */
    private static final List<String[]> MODELS = List.of(
            new String[] {"stories260K", "1,403,407,261,378,432,383,286,261,376"},
            new String[] {"tiny-random-gpt2", "52,195,212,422,211,222,218,304"});

    @TempDir
    private Path folder;

    private static String[] step(String[] model, JsonNode golden, String engine) {
        String folder = SharedData.require("models/" + model[0]).toString();
        String rate = golden.get("lr").asText();
        return new String[] {"train", "step", folder, "--prompt-ids", model[1], "--lr", rate, "--json", "-e", engine};
    }

    private static JsonNode golden(String[] model) throws IOException {
        Path file = SharedData.require("golden/grad-" + model[0] + ".json");
        return new ObjectMapper().readTree(file.toFile());
    }

    @TestFactory
    Stream<DynamicTest> theOraclesBits() throws IOException, InterruptedException {
        TornadoSdk sdk = TornadoSdk.assumedWithDevice();
        List<String> lines = new ArrayList<>();
        for (String[] model : MODELS) {
            lines.add(String.join("\t", step(model, golden(model), "tornado")));
        }
        Path commands = Files.write(folder.resolve("commands"), lines);
        Path results = folder.resolve("results");
        List<Path> classPath = Stream.of(
                        System.getProperty("java.class.path").split(System.getProperty("path.separator")))
                .map(Path::of)
                .toList();
        String output = TornadoSdk.output(sdk.launch(
                List.of(), classPath, CommandRuns.class.getName(), List.of(commands.toString(), results.toString())));
        List<String> found = Files.exists(results) ? Files.readAllLines(results) : List.of();
        return Stream.iterate(0, i -> i < MODELS.size(), i -> i + 1)
                .map(i -> DynamicTest.dynamicTest(MODELS.get(i)[0], () -> {
                    assertThat(found.size()).as(output).isGreaterThan(i);
                    requireTheOraclesBits(MODELS.get(i), new ObjectMapper().readTree(found.get(i)));
                }));
    }

    private static void requireTheOraclesBits(String[] model, JsonNode found) throws IOException {
        assertThat(found.get("exit").asInt()).as(found.get("err").asText()).isEqualTo(ExitCode.OK);
        JsonNode golden = golden(model);
        ObjectNode device =
                (ObjectNode) new ObjectMapper().readTree(found.get("out").asText());
        assertThat(device.get("engine").asText()).isEqualTo("tornado");
        JsonNode scalar = CommandRun.of(step(model, golden, "scalar")).json();
        assertThat(device.put("engine", "scalar")).isEqualTo(scalar);
        for (String loss : List.of("loss", "loss_after_step")) {
            double expected = golden.get(loss).asDouble();
            assertThat(device.get(loss).asDouble()).as(loss).isCloseTo(expected, within(LOSS_TOLERANCE * expected));
        }
        for (var tensor : golden.get("grads").properties()) {
            double l2 = tensor.getValue().get("l2").asDouble();
            Offset<Double> close = within(GRADIENT_TOLERANCE * l2);
            JsonNode gradient = device.get("gradients").get(tensor.getKey());
            assertThat(gradient.get("l2").asDouble()).as(tensor.getKey()).isCloseTo(l2, close);
            assertThat(gradient.get("sum").asDouble())
                    .as(tensor.getKey())
                    .isCloseTo(tensor.getValue().get("sum").asDouble(), close);
        }
    }
}
