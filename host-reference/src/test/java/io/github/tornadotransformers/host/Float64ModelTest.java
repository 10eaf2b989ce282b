package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.testsupport.Float64Model;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The judge is judged: two independent implementations in double agree to their last digits. */
class Float64ModelTest {
    @ParameterizedTest
    @ValueSource(strings = {"stories260K", "tiny-random-gpt2", "odd-llama"})
    void agreesWithStoredTraces(String name) {
        JsonNode step = SharedGolden.json(name).get("steps").get(0);
        Checkpoint checkpoint = Checkpoint.open(SharedGolden.model(name));
        Float64Model model = Float64Model.of(checkpoint, checkpoint.config().contextLength());
        Float64Model.Result result = model.run(SharedGolden.ints(step.get("ids")));

        assertClose("logits", result.logits()[result.logits().length - 1], step.get("last_row_logits"));
        JsonNode trace = step.get("all_rows_trace");
        assertThat(result.trace()).hasSize(trace.size());
        for (int point = 0; point < trace.size(); point++) {
            double[][] rows = result.trace().get(point);
            double[] flat = Arrays.stream(rows).flatMapToDouble(Arrays::stream).toArray();
            assertClose("trace point " + point, flat, trace.get(point));
        }
    }

    private static void assertClose(String what, double[] actual, JsonNode expected) {
        double[] values = SharedGolden.doubles(expected);
        assertThat(actual).hasSameSizeAs(values);
        for (int i = 0; i < values.length; i++) {
            assertThat(actual[i])
                    .as("%s at %d", what, i)
                    .isCloseTo(values[i], within(2e-8 + 2e-8 * Math.abs(values[i])));
        }
    }
}
