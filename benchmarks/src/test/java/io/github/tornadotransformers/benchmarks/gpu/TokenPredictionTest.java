package io.github.tornadotransformers.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.benchmarks.MatrixBytes;
import io.github.tornadotransformers.benchmarks.ProgramCost;
import io.github.tornadotransformers.benchmarks.gpu.TokenPrediction.Shape;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TokenPredictionTest {
    private static final Gpu H200 = Gpu.named("h200").orElseThrow();

    static List<String> models() {
        return ModelPresets.names();
    }

    @ParameterizedTest
    @MethodSource("models")
    void everyKernelOfEveryFamilyIsKnown(String model) {
        for (Shape shape : Shape.values()) {
            for (DType dtype : DType.OF_MATRICES) {
                for (int context : new int[] {64, Math.min(5000, config(model).contextLength())}) {
                    TokenPrediction token = of(model, dtype, Backend.CUDA, shape, context, context - 1);

                    assertThat(token.tokensPerSecond()).isPositive().isFinite();
                    assertThat(token.kernels()).allMatch(kernel -> kernel.share(H200) < 1);
                }
            }
        }
    }

    /** All matrices in blocks, but for rows that are no whole groups: 11,008 inputs are 43 groups of 256. */
    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void blocksAreKnownAndTheirBytesAreThoseOfWeightsAndCache(BlockFormat format) {
        int position = 63;
        RandomModel model = new RandomModel(config("llama2-7B"), 1, List.of(format));
        Program program = model.config().program(position + 1);
        ProgramCost cost = new BenchTest(BenchTest.Phase.DECODE, 1, position)
                .cost(program, MatrixBytes.of(model, program, DType.STORED));
        for (Backend backend : List.of(Backend.CUDA, Backend.PTX)) {
            TokenPrediction groups = stored(model, backend, Shape.GROUPS);
            TokenPrediction loops = stored(model, backend, Shape.LOOPS);

            assertThat(groups.memoryBytes()).isCloseTo(cost.bytes(), withinPercentage(1));
            assertThat(loops.memoryBytes()).isCloseTo(cost.bytes(), withinPercentage(1));
            assertThat(groups.kernels()).allMatch(kernel -> kernel.share(H200) < 1);
            assertThat(groups.seconds()).isLessThan(loops.seconds());
        }
    }

    /** Q4_K: 4096 inputs are 32 slices of 128; a group has all of 16 of 4096 columns, an item 128 weights. */
    @Test
    void aProductOfBlocksIsAsCountedByHand() {
        RandomModel model = new RandomModel(config("llama2-7B"), 1, List.of(BlockFormat.Q4_K));
        PredictedKernel product = kernel(stored(model, Backend.CUDA, Shape.GROUPS), "oProj");

        assertThat(product.kernel()).isEqualTo("LinearRowKernels.product");
        assertThat(product.launches()).isEqualTo(32);
        assertThat(product.items()).isEqualTo(32 * 4096);
        // 256 weights take 144 bytes in a file, where scale and minimum are float16; here they are float32, and eight
        // bits each for a block's.
        assertThat(product.memoryBytes()).isEqualTo(32L * 4096 * 16 * (128 + 8 + 16));
        assertThat(product.inFlight()).isEqualTo(14);
        // 40 once, and 5 for each of eight inputs and for what it adds to.
        assertThat(product.instructions()).isCloseTo(32.0 * 32 * 4096 * (6.3 * 128 + 85), withinPercentage(1e-6));
    }

    private static TokenPrediction stored(RandomModel model, Backend backend, Shape shape) {
        return TokenPrediction.of("blocks", model, DType.STORED, H200, backend, shape, 64, 63);
    }

    /** What is read is what {@code bench} says that a token must read, which is counted Op by Op. */
    @ParameterizedTest
    @MethodSource("models")
    void bytesAreThoseOfWeightsAndCache(String model) {
        int position = 63;
        for (DType dtype : DType.OF_MATRICES) {
            ProgramCost cost = new BenchTest(BenchTest.Phase.DECODE, 1, position)
                    .cost(config(model).program(position + 1), MatrixBytes.of(dtype));

            assertThat(of(model, dtype, Backend.CUDA, Shape.GROUPS, position + 1, position)
                            .memoryBytes())
                    .isCloseTo(cost.bytes(), withinPercentage(1));
        }
    }

    /** Llama 2 7B: 32 layers, hidden 4096, 32 heads of 128, so that queries, keys and values are 12,288 columns. */
    @Test
    void aProductOfALargeModelIsAsCountedByHand() {
        PredictedKernel product = kernel(llama2(Backend.CUDA, Shape.GROUPS), "oProj");

        assertThat(product.kernel()).isEqualTo("LinearRowKernels.product");
        assertThat(product.launches()).isEqualTo(32);
        // 4096 inputs are 32 slices, of 2048 words each.
        assertThat(product.items()).isEqualTo(32 * 2048);
        assertThat(product.memoryBytes()).isEqualTo(32L * 4096 * 4096 * 2);
        assertThat(product.inFlight()).isEqualTo(32);
        // 3.9 instructions a weight and 256 weights an item; 40 once, and 5 for each of eight inputs and for what it
        // adds to.
        assertThat(product.instructions()).isCloseTo(32.0 * 32 * 2048 * (3.9 * 256 + 85), withinPercentage(1e-6));
        // 33.6 MB at 90 % of 4.8 TB/s are 7.77 us, a launch 1.3 us; 263 cycles of 1.755 GHz bring the input, and the 32
        // slices' sums take 256.
        assertThat(product.seconds() / 32 * 1e6).isCloseTo(1.3 + 7.767 + 0.150 + 0.146, withinPercentage(0.1));
    }

    /** Before a product is what its norm takes: two sums of a slice, and a quotient and a root. */
    @Test
    void aProductWaitsForItsNorm() {
        TokenPrediction token = of("gpt2-124M", DType.F32, Backend.CUDA, Shape.GROUPS, 1024, 0);

        assertThat(token.kernels()).extracting(PredictedKernel::task).doesNotContain("attentionNorm", "mlpNorm");
        double seconds = kernel(token, "upProj").seconds() / 12;
        assertThat(seconds).isGreaterThan((2 * 128 * 8 + 2 * 20 * 4) / 1.755e9 + 1.3e-6);
    }

    @Test
    void anItemHasAColumnWhereRowsAreNotWholeWords() {
        TokenPrediction token = of("gpt2-124M", DType.BF16, Backend.CUDA, Shape.GROUPS, 1024, 0);
        PredictedKernel head = kernel(token, "lmHeadSlices");

        assertThat(head.kernel()).isEqualTo("LinearGroupKernels.sliceSumsOfElements");
        // Six slices, and 393 groups of 128 for the columns.
        assertThat(head.items()).isEqualTo(6 * 393 * 128);
        assertThat(head.instructions()).isCloseTo(6.0 * 50_257 * (10.4 * 128 + 45), withinPercentage(1e-6));
    }

    @Test
    void aLoopHasAnItemForEachColumnAndTheCountOfLoops() {
        PredictedKernel product = kernel(llama2(Backend.CUDA, Shape.LOOPS), "qkvProjSlices");

        assertThat(product.kernel()).isEqualTo("LinearKernels.sliceSums");
        assertThat(product.items()).isEqualTo(32 * 12_288);
        assertThat(product.inFlight()).isEqualTo(4);
        assertThat(product.instructions()).isCloseTo(32.0 * 32 * 12_288 * (20.8 * 128 + 40), withinPercentage(1e-6));
        // 3072 groups on 132 processors: 24 on one, of 2702.4 instructions each.
        assertThat(product.seconds() / 32 * 1e6)
                .isCloseTo(2 + 24 * 2702.4 / 1755 + 2 * 478.8 / 1755, withinPercentage(0.1));
    }

    @Test
    void aBackendCompilesItsOwnCode() {
        assertThat(kernel(llama2(Backend.PTX, Shape.GROUPS), "oProj").instructions())
                .isCloseTo(32.0 * 32 * 2048 * (15.0 * 256 + 85), withinPercentage(1e-6));
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void attentionReadsThePositionsThatItSees(Shape shape) {
        TokenPrediction token = of("tinyllama-1.1B", DType.BF16, Backend.CUDA, shape, 512, 299);
        // 22 layers, 300 positions, 4 key heads of 64, float32; 32 query heads take them from the cache.
        long keys = 22L * 300 * 4 * 64 * 4;

        assertThat(kernel(token, "attentionScores").memoryBytes()).isEqualTo(keys);
        assertThat(kernel(token, "attentionOutputSlices").memoryBytes()).isEqualTo(keys);
        // Groups of 128: eight heads share keys, by fours, in four pages.
        assertThat(kernel(token, "attentionScores").items())
                .isEqualTo(shape == Shape.GROUPS ? 4 * 2 * 4 * 128 : 32 * 512);
    }

    /** What all items of all groups did again, such as adding up a row's totals, would outgrow the reading of keys and values. */
    @Test
    void attentionGrowsWithTheContextAndNotWithItsSquare() {
        double few = attentionSeconds(16_384);
        double many = attentionSeconds(32_768);

        assertThat(many / few).isBetween(1.8, 2.2);
    }

    private static double attentionSeconds(int positions) {
        return of("mistral-7B", DType.BF16, Backend.CUDA, Shape.GROUPS, positions, positions - 1).kernels().stream()
                .filter(kernel -> kernel.task().startsWith("attention"))
                .filter(kernel -> !kernel.task().contains("Norm"))
                .mapToDouble(kernel -> kernel.seconds() - kernel.launchSeconds())
                .sum();
    }

    @Test
    void aWindowHidesWhatIsBeforeIt() {
        TokenPrediction token = of("gemma3-1B", DType.BF16, Backend.CUDA, Shape.GROUPS, 2048, 1999);
        IntToLongFunction keys = seen -> seen * 256L * 4;

        // 26 layers with one key head of 256; every sixth sees everything, the others 512 positions.
        assertThat(kernel(token, "attentionScores").memoryBytes())
                .isEqualTo(4 * keys.applyAsLong(2000) + 22 * keys.applyAsLong(512));
    }

    @Test
    void groupsAreFasterThanLoops() {
        for (String model : List.of("gpt2-124M", "tinyllama-1.1B", "llama2-7B")) {
            for (DType dtype : DType.OF_MATRICES) {
                assertThat(of(model, dtype, Backend.CUDA, Shape.GROUPS, 128, 64).seconds())
                        .isLessThan(of(model, dtype, Backend.CUDA, Shape.LOOPS, 128, 64)
                                .seconds());
            }
        }
    }

    /** 69 billion weights: 276 GB as float32, 138 as bf16 beside a small cache; an H200 has 141. */
    @Test
    void aModelFitsOrNot() {
        assertThat(of("llama2-70B", DType.F32, Backend.CUDA, Shape.GROUPS, 128, 64)
                        .fits())
                .isFalse();
        assertThat(of("llama2-70B", DType.BF16, Backend.CUDA, Shape.GROUPS, 128, 64)
                        .fits())
                .isTrue();
    }

    @Test
    void aTokenIsItsKernels() {
        TokenPrediction token = llama2(Backend.CUDA, Shape.GROUPS);

        assertThat(token.seconds())
                .isCloseTo(
                        token.kernels().stream()
                                .mapToDouble(PredictedKernel::seconds)
                                .sum(),
                        withinPercentage(1e-9));
        assertThat(token.launchSeconds()).isCloseTo(token.launches() * 1.3e-6, withinPercentage(1e-6));
        assertThat(token.graphs()).isEqualTo(1 + 32 + 1);
        assertThat(token.share()).isCloseTo(token.memoryBytes() / token.seconds() / 4.8e12, withinPercentage(1e-6));
    }

    /** CUDA and PTX replay graphs; OpenCL launches kernels by themselves, as CUDA would without. */
    @Test
    void aReplayedLaunchTakesLess() {
        TokenPrediction replayed = llama2(Backend.CUDA, Shape.GROUPS);
        TokenPrediction streamed = llama2(Backend.OPENCL, Shape.GROUPS);

        assertThat(streamed.launchSeconds()).isCloseTo(streamed.launches() * 2e-6, withinPercentage(1e-6));
        assertThat(streamed.tokensPerSecond())
                .isCloseTo(streamed.streamedTokensPerSecond(), withinPercentage(1e-6))
                .isLessThan(replayed.tokensPerSecond());
        assertThat(replayed.streamedTokensPerSecond())
                .isCloseTo(1 / (replayed.seconds() + replayed.launches() * (2e-6 - 1.3e-6)), withinPercentage(1e-6));
        assertThat(llama2(Backend.CUDA, Shape.LOOPS).launchSeconds())
                .isCloseTo(llama2(Backend.CUDA, Shape.LOOPS).launches() * 2e-6, withinPercentage(1e-6));
    }

    @Test
    void decodingKeepsUpWithTheMemory() {
        assertThat(of("gpt2-124M", DType.F32, Backend.CUDA, Shape.GROUPS, 128, 64)
                        .tokensPerSecond())
                .isGreaterThan(1700);
        assertThat(llama2(Backend.CUDA, Shape.GROUPS).share()).isGreaterThan(0.65);
    }

    private static TokenPrediction llama2(Backend backend, Shape shape) {
        return of("llama2-7B", DType.BF16, backend, shape, 128, 64);
    }

    private static PredictedKernel kernel(TokenPrediction token, String task) {
        Optional<PredictedKernel> found = token.kernels().stream()
                .filter(kernel -> kernel.task().equals(task))
                .findFirst();
        assertThat(found).as(task).isPresent();
        return found.orElseThrow();
    }

    private static TokenPrediction of(
            String model, DType dtype, Backend backend, Shape shape, int context, int position) {
        return TokenPrediction.of(
                model, new RandomModel(config(model), 1), dtype, H200, backend, shape, context, position);
    }

    private static ModelConfig config(String model) {
        return ModelPresets.named(model).orElseThrow();
    }
}
