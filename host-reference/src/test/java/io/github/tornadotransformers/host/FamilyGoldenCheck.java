package io.github.tornadotransformers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.FamilyGolden;
import io.github.tornadotransformers.testsupport.Float64Model;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** Holds a checkpoint as transformers saved it, on every engine and in every way to run it, to what transformers answered. */
final class FamilyGoldenCheck {
    /** Of a float32 engine, relative to 1 + the value; the largest found in the committed goldens is 1.1e-5. */
    private static final double TOLERANCE = 5e-5;

    /** Of two implementations in float64, one of which is stored with ten digits. */
    private static final double TOLERANCE_OF_DOUBLES = 1e-8;

    private final FamilyGolden golden;
    private final Checkpoint checkpoint;
    private final HostModel model;

    FamilyGoldenCheck(FamilyGolden golden, FamilyGolden.Layout layout, Path folder) {
        this.golden = golden;
        golden.write(folder, layout);
        this.checkpoint = Checkpoint.open(folder);
        this.model = HostModel.load(checkpoint, golden.contextLength());
    }

    /** The engines' ids and logits, token by token with the cache. */
    void idsAndLogits() {
        assertThat(checkpoint.notices()).isEmpty();
        List<float[]> logits = cached(ScalarOps::new);
        for (int step = 0; step < logits.size(); step++) {
            String what = golden + ", step " + step;
            Bits.assertClose(what, logits.get(step), golden.logits(step), TOLERANCE, TOLERANCE);
            assertThat(HostModel.argmax(logits.get(step))).as(what).isEqualTo(golden.ids()[step]);
        }
    }

    /** The same bits, whatever runs them in whatever pieces. */
    void everyEngineGivesTheSameBits() {
        List<float[]> expected = cached(ScalarOps::new);
        List<float[]> vectors = cached(() -> new VectorOps(2));
        int last = expected.size() - 1;
        for (int step = 0; step <= last; step++) {
            Bits.assertSame(golden + ", vectors, step " + step, vectors.get(step), expected.get(step));
        }
        for (int step : new int[] {0, last}) {
            for (int chunkRows : new int[] {Integer.MAX_VALUE, 5}) {
                String what = golden + ", step " + step + ", chunks of " + chunkRows;
                try (HostForwardPass scalar = model.open(ScalarOps::new, chunkRows);
                        HostForwardPass vector = model.open(() -> new VectorOps(2), chunkRows)) {
                    Bits.assertSame(what, scalar.forward(text(step), 0), expected.get(step));
                    Bits.assertSame(what + ", vectors", vector.forward(text(step), 0), expected.get(step));
                }
            }
        }
    }

    /** The judge of other tests: it must give what transformers gives, to the last digits. */
    void float64ModelAgrees() {
        Float64Model judge = Float64Model.of(checkpoint, golden.contextLength());
        for (int step = 0; step < golden.ids().length; step++) {
            double[] expected = golden.logits(step);
            int[] text = text(step);
            double[] actual = judge.run(text).logits()[text.length - 1];
            for (int i = 0; i < expected.length; i++) {
                assertThat(actual[i])
                        .as("%s, step %d, logit %d", golden, step, i)
                        .isCloseTo(expected[i], within(TOLERANCE_OF_DOUBLES * (1 + Math.abs(expected[i]))));
            }
        }
    }

    /** The prompt with so many of the ids. */
    private int[] text(int ids) {
        int[] prompt = golden.prompt();
        int[] text = Arrays.copyOf(prompt, prompt.length + ids);
        System.arraycopy(golden.ids(), 0, text, prompt.length, ids);
        return text;
    }

    private List<float[]> cached(Supplier<HostOps> ops) {
        List<float[]> logits = new ArrayList<>();
        try (HostForwardPass pass = model.open(ops)) {
            int known = 0;
            for (int step = 0; step < golden.ids().length; step++) {
                int[] text = text(step);
                logits.add(pass.forward(Arrays.copyOfRange(text, known, text.length), known)
                        .clone());
                known = text.length;
            }
        }
        return logits;
    }
}
