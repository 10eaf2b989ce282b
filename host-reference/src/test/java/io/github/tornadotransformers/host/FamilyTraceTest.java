package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.Float64Model;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Random models of every family against an independent implementation in double: embeddings, residuals and logits of ten steps. */
class FamilyTraceTest {
    private static final int STEPS = 10;
    private static final int SEEDS = 12;
    private static final double TOLERANCE = 3e-4;
    /** One for all: a config's hash is another in each JVM, and its ids would be. */
    private static final long ID_SEED = 22;

    @TempDir
    private Path folder;

    static Stream<Arguments> examples() {
        return ModelFamilies.all().stream()
                .flatMap(family -> family.examples().stream().map(config -> Arguments.of(family.modelType(), config)));
    }

    static Stream<Arguments> randomModels() {
        return ModelFamilies.all().stream()
                .flatMap(family -> IntStream.range(0, SEEDS)
                        .mapToObj(seed -> Arguments.of(family.modelType(), random(family, seed))));
    }

    private static ModelConfig random(ModelFamily<?> family, long seed) {
        return RandomConfigs.of(family, new RandomData(seed));
    }

    @ParameterizedTest(name = "{0} {index}")
    @MethodSource({"examples", "randomModels"})
    void tenStepsAreThoseOfTheFloat64Model(String family, ModelConfig config) {
        int context = config.contextLength();
        Checkpoint checkpoint = TestCheckpoints.write(folder, config, 21);
        Float64Model judge = Float64Model.of(checkpoint, context);
        HostModel model = HostModel.load(checkpoint, context);
        int prompt = Math.clamp(context - STEPS + 1, 1, 14);
        int steps = Math.min(STEPS, context - prompt + 1);
        int[] ids = new RandomData(ID_SEED).ints(prompt + steps, config.vocabSize());
        try (HostForwardPass pass = model.open(ScalarOps::new)) {
            Trace trace = new Trace(model.program());
            pass.trace(trace::add);
            for (int step = 0; step < steps; step++) {
                int first = step == 0 ? 0 : prompt + step - 1;
                int end = prompt + step;
                trace.points.clear();
                float[] logits = pass.forward(Arrays.copyOfRange(ids, first, end), first);
                compare(config + ", step " + step, judge.run(Arrays.copyOf(ids, end)), trace.points, logits, first);
            }
        }
    }

    private static void compare(
            String what, Float64Model.Result expected, List<float[]> points, float[] logits, int firstRow) {
        assertThat(points).as(what).hasSameSizeAs(expected.trace());
        for (int point = 0; point < points.size(); point++) {
            double[] rows = Arrays.stream(expected.trace().get(point))
                    .skip(firstRow)
                    .flatMapToDouble(Arrays::stream)
                    .toArray();
            assertThat(points.get(point)).hasSize(rows.length);
            Bits.assertClose(what + ", point " + point, points.get(point), rows, TOLERANCE, TOLERANCE);
        }
        double[][] all = expected.logits();
        Bits.assertClose(what + ", logits", logits, all[all.length - 1], TOLERANCE, TOLERANCE);
    }

    /** Copies of the embeddings and of the residual after each branch. */
    private static final class Trace {
        private final Program program;
        private final List<float[]> points = new ArrayList<>();

        Trace(Program program) {
            this.program = program;
        }

        void add(int layer, Op op, int firstPosition, int rows, float[] output) {
            if (program.isTracePoint(op) && op.output().equals(program.residual())) {
                points.add(Arrays.copyOf(output, rows * op.output().width()));
            }
        }
    }
}
