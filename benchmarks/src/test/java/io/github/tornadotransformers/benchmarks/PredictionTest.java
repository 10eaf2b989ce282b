package io.github.tornadotransformers.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class PredictionTest {
    private static final ModelConfig TINY_LLAMA =
            ModelPresets.named("tinyllama-1.1B").orElseThrow();
    private static final Path PAGE = Path.of("..", "docs", "SCALING.md");

    @Test
    void decodingTakesTheTimeOfReadingWeightsAndCache() {
        Machine machine = machine(100e9, 1e18);
        long weights = 4L * (1_100_048_384L - 32_000L * 2048 + 2048);
        // 22 layers, keys and values of 256 floats: all positions so far read, one written, over positions 0 to 127.
        double cache = 22 * 2 * 256 * 4 * ((1 + 128) / 2.0 + 1);

        assertThat(prediction(machine, DType.F32).decodeTokensPerSecond())
                .isCloseTo(100e9 / (weights + cache), within(1e-6));
    }

    @Test
    void prefillTakesTheTimeOfItsArithmetic() {
        Machine machine = machine(1e18, 100e9);
        double perToken = 100e9 / prediction(machine, DType.F32).prefillTokensPerSecond();

        assertThat(perToken).isCloseTo(2.0 * (1_100_048_384L - 2 * 32_000L * 2048), within(0.05 * perToken));
    }

    @Test
    void theTypeChangesBytesAndNotOperations() {
        Machine machine = machine(100e9, 1e12);
        Prediction full = prediction(machine, DType.F32);
        Prediction half = prediction(machine, DType.BF16);

        assertThat(half.decodeTokensPerSecond() / full.decodeTokensPerSecond()).isBetween(1.99, 2.0);
        assertThat(half.prefillTokensPerSecond()).isEqualTo(full.prefillTokensPerSecond());
    }

    @Test
    void aModelFitsWhereWeightsAndCacheDo() {
        long needed = ProgramCost.modelBytes(TINY_LLAMA.program(512), MatrixBytes.of(DType.F32))
                + TINY_LLAMA.program(512).cacheBytes();

        assertThat(prediction(new Machine("m", needed, machine(1, 1).limits(), ""), DType.F32)
                        .fits())
                .isTrue();
        assertThat(prediction(new Machine("m", needed - 1, machine(1, 1).limits(), ""), DType.F32)
                        .fits())
                .isFalse();
    }

    @Test
    void thePageShowsThePredictions() throws IOException {
        String page = Files.readString(PAGE);

        assertThat(page).contains(MarkdownReport.predictions(Prediction.all(Machine.published())));
        assertThat(Machine.published()).allSatisfy(machine -> assertThat(page).contains(machine.source()));
    }

    private static Prediction prediction(Machine machine, DType dtype) {
        return Prediction.of(machine, "tinyllama-1.1B", TINY_LLAMA, dtype);
    }

    private static Machine machine(double bytes, double operations) {
        return new Machine("m", Long.MAX_VALUE, new Limits(1, bytes, operations), "");
    }

    @Test
    void everyModelIsPredictedInEveryTypeOnEveryMachine() {
        List<Prediction> all = Prediction.all(Machine.published());

        assertThat(all).hasSize(3 * 4 * 3);
    }
}
