package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.llama.LlamaFamily;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WarmingOpsTest {
    private final RandomData data = new RandomData(11);
    private final ModelConfig config = RandomModels.config(data);
    private final Program program = config.program(config.contextLength());
    private final Weights weights = RandomModels.weights(program, DType.BF16, WeightLayout.PANELS, data);

    @Test
    void theChangeInTheMiddleOfATextKeepsEveryBit() {
        int[] tokens = data.ints(program.contextLength(), config.vocabSize());
        WarmingOps ops = new WarmingOps(new VectorOps(2), _ -> {});
        try (HostForwardPass warming = new HostForwardPass(program, weights, ops);
                HostForwardPass scalar = new HostForwardPass(program, weights, new ScalarOps())) {
            for (int position = 0; position < tokens.length; position++) {
                if (position == tokens.length / 2) {
                    assertThat(ops.isWarm()).isFalse();
                    ops.warmUp(this::miniature, DType.BF16);
                    assertThat(ops.isWarm()).isTrue();
                }
                int[] token = {tokens[position]};
                Bits.assertSame(
                        "position " + position,
                        warming.forward(token, position).clone(),
                        scalar.forward(token, position));
            }
        }
    }

    @Test
    void plainLoopsRunUntilVectorsAreWarm() {
        RecordingOps vector = new RecordingOps();
        try (WarmingOps ops = new WarmingOps(vector, _ -> {})) {
            multiply(ops, 32, 32);
            assertThat(vector.calls).isZero();
            ops.warmUp(this::miniature, DType.BF16);
            multiply(ops, 32, 32);
            assertThat(vector.calls).isEqualTo(1);
        }
    }

    @Test
    void largeProductsGoToVectorsAtOnce() {
        RecordingOps vector = new RecordingOps();
        try (WarmingOps ops = new WarmingOps(vector, _ -> {})) {
            multiply(ops, 8192, 8192);
            assertThat(vector.calls).isEqualTo(1);
        }
    }

    @Test
    void theWarmingBeginsOnceWhenPlainLoopsHaveTakenAsLong() {
        List<WarmingOps> begun = new ArrayList<>();
        try (WarmingOps ops = new WarmingOps(new RecordingOps(), begun::add)) {
            for (int i = 0; i < 255; i++) {
                multiply(ops, 2048, 1024);
            }
            assertThat(begun).isEmpty();
            multiply(ops, 2048, 1024);
            multiply(ops, 2048, 1024);
            assertThat(begun).containsExactly(ops);
        }
    }

    @Test
    void aLargeLayerBeginsTheWarming() {
        List<WarmingOps> begun = new ArrayList<>();
        try (WarmingOps ops = new WarmingOps(new RecordingOps(), each -> {
            begun.add(each);
            each.warmUp(this::miniature, DType.BF16);
        })) {
            multiply(ops, 4096, 2048);
            assertThat(begun).containsExactly(ops);
        }
    }

    @Test
    void aLargeLayerWaitsForVectors() throws InterruptedException {
        RecordingOps vector = new RecordingOps();
        try (WarmingOps ops = new WarmingOps(vector, _ -> {})) {
            Thread layer = Thread.ofPlatform().start(() -> multiply(ops, 4096, 2048));
            layer.join(Duration.ofMillis(50));
            assertThat(layer.isAlive()).isTrue();
            ops.warmUp(this::miniature, DType.BF16);
            layer.join();
            assertThat(vector.calls).isEqualTo(1);
        }
    }

    @Test
    void nobodyWaitsForAWarmingThatFailed() {
        RecordingOps vector = new RecordingOps();
        try (WarmingOps ops = new WarmingOps(vector, _ -> {})) {
            assertThatThrownBy(() -> ops.warmUp(
                            () -> {
                                throw new IllegalStateException("no miniature");
                            },
                            DType.BF16))
                    .hasMessage("no miniature");
            assertThat(ops.isWarm()).isTrue();
        }
    }

    @Test
    void aRowOfALargeLayerTakesTheLoopsForSeveralUntilItsOwnAreWarm() {
        HostMatrix weight = RandomMatrix.of(DType.BF16, 4096, 2048, data);
        float[] x = data.floats(4096);
        float[] expected = data.floats(2048);
        float[] actual = expected.clone();
        new ScalarOps().linear(x, weight, null, Activation.SILU, Residual.ADD, 1, expected);
        RecordingOps vector = new RecordingOps(true);
        try (WarmingOps ops = new WarmingOps(vector, _ -> {})) {
            ops.settle(WarmingOps.Pass.ROWS);
            ops.linear(x, weight, null, Activation.SILU, Residual.ADD, 1, actual);
            assertThat(vector.rows).isEqualTo(3);
            Bits.assertSame("a row among three", actual, expected);
            ops.settle(WarmingOps.Pass.TOKEN);
            multiply(ops, 4096, 2048);
            assertThat(vector.rows).isEqualTo(1);
        }
    }

    @Test
    void smallModelsAreNotWarmedWhileTheyLoad() {
        try (WarmingOps ops = WarmingOps.of(new RandomModel(config, 1), DType.BF16, 1)) {
            assertThat(isWarming()).isFalse();
            assertThat(ops.isWarm()).isFalse();
        }
    }

    @Test
    void closingEndsTheWarmingOfALargeModelWhateverItDoes() throws InterruptedException {
        WarmingOps ops = WarmingOps.of(new RandomModel(large(), 1), DType.BF16, 1);
        assertThat(isWarming()).isTrue();
        ops.close();
        for (int i = 0; i < 1000 && isWarming(); i++) {
            Thread.sleep(10);
        }
        assertThat(isWarming()).isFalse();
    }

    private RandomModel miniature() {
        return new RandomModel(config.miniature(), 1);
    }

    private static ModelConfig large() {
        return new LlamaFamily().published().get("stories15M");
    }

    private static boolean isWarming() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("warming"));
    }

    private static void multiply(HostOps ops, int inputs, int outputs) {
        HostMatrix weight = RandomMatrix.of(DType.INT8, inputs, outputs, new RandomData(1));
        ops.linear(new float[inputs], weight, null, Activation.NONE, Residual.NONE, 1, new float[outputs]);
    }

    /** Counts products, and computes none unless it is to. */
    private static final class RecordingOps extends ForwardingOps {
        private final boolean works;
        private int calls;
        private int rows;

        RecordingOps() {
            this(false);
        }

        RecordingOps(boolean works) {
            super(new ScalarOps());
            this.works = works;
        }

        @Override
        public void linear(
                float[] x,
                HostMatrix weight,
                float[] bias,
                Activation activation,
                Residual residual,
                int rows,
                float[] out) {
            calls++;
            this.rows = rows;
            if (works) {
                super.linear(x, weight, bias, activation, residual, rows, out);
            }
        }
    }
}
