package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.emulator.OnEmulator;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;
import io.github.tornadotransformers.taskgraphs.devices.TornadoDevices;
import io.github.tornadotransformers.testsupport.Generations;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The device engine, on the emulator, generates what independent implementations did, with weights loaded in place. */
@OnEmulator
class GoldenIdsTest {
    private static JsonNode golden(String name) throws IOException {
        return new ObjectMapper()
                .readTree(SharedData.require("golden/" + name + ".json").toFile());
    }

    private static int[] ints(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .mapToInt(JsonNode::intValue)
                .toArray();
    }

    private static int[] generate(String model, int[] prompt, int tokens, GraphMode graph, int rows) {
        Checkpoint checkpoint = Checkpoint.open(SharedData.require("models/" + model));
        Program program = checkpoint.config().program(checkpoint.config().contextLength());
        DType dtype = checkpoint.storedDType();
        DeviceOptions options = DeviceOptions.of(
                        TornadoDevices.choose(Optional.empty(), Optional.empty(), MathMode.STRICT))
                .withGraph(graph)
                .withPrefillRows(rows);
        try (TornadoForwardPass engine =
                TornadoForwardPass.open(program, dtype, memory -> checkpoint.load(program, dtype, memory), options)) {
            return Generations.greedy(engine, prompt, GenerationOptions.ofTokens(tokens))
                    .ids();
        }
    }

    @ParameterizedTest
    @CsvSource({"LAYERED, 1, 1", "FUSED, 1, 1", "LAYERED, 16, 60", "FUSED, 4, 9"})
    void stories260K(GraphMode graph, int rows, int promptLength) throws IOException {
        int[] ids = ints(golden("stories260K-200").get("greedy_ids"));
        int[] prompt = Arrays.copyOf(ids, promptLength);
        assertThat(generate("stories260K", prompt, ids.length - promptLength, graph, rows))
                .containsExactly(Arrays.copyOfRange(ids, promptLength, ids.length));
    }

    @ParameterizedTest
    @CsvSource({
        "tiny-random-gpt2, LAYERED, 1",
        "tiny-random-gpt2, FUSED, 4",
        "odd-llama, LAYERED, 4",
        "odd-llama, FUSED, 1"
    })
    void tenSteps(String model, GraphMode graph, int rows) throws IOException {
        JsonNode steps = golden(model).get("steps");
        int[] next = StreamSupport.stream(steps.spliterator(), false)
                .mapToInt(step -> step.get("next").intValue())
                .toArray();
        assertThat(generate(model, ints(steps.get(0).get("ids")), next.length, graph, rows))
                .containsExactly(next);
    }
}
