package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.host.ForwardingOps;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostInterpreter;
import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import io.github.tornadotransformers.testsupport.RandomModels;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A sequence that others run beside, against itself alone. */
class BesideOthersTest {
    private static final int CONTEXT = 200;

    private final RandomData data = new RandomData(21);
    private final Program program = RandomConfigs.of(data, CONTEXT).program(CONTEXT);
    private final Weights weights = RandomModels.weights(program, DType.F32, data);

    /** An engine on which the last bit of a row depends on how many rows there are. */
    private static final class Meddling extends ForwardingOps {
        Meddling() {
            super(new ScalarOps());
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
            super.linear(x, weight, bias, activation, residual, rows, out);
            if (rows == 5) {
                out[0] = Math.nextUp(out[0]);
            }
        }
    }

    private Comparison compared(HostOps ops) {
        long cacheBytes = 9 * HostInterpreter.cacheBytes(program, KvType.F32, CONTEXT);
        try (HostForwardPass alone = new HostForwardPass(program, weights, new ScalarOps());
                HostInterpreter engine = new HostInterpreter(program, weights, ops, KvType.F32, cacheBytes);
                BesideOthers beside = new BesideOthers(engine, 3, 5)) {
            EngineCheck check = new EngineCheck(
                    new EngineCheck.Subject("alone", alone, Tolerance.EXACT),
                    List.of(new EngineCheck.Subject("beside", beside, Tolerance.EXACT)),
                    true);
            return check.run(data.ints(70, program.vocabSize()), 40).getFirst();
        }
    }

    @Test
    void getsWhatItGetsAlone() {
        Comparison comparison = compared(new VectorOps(2));
        assertThat(comparison.first()).isEmpty();
        assertThat(comparison.points()).hasSizeGreaterThan(10);
    }

    @Test
    void whatDependsOnOthersIsFound() {
        assertThat(compared(new Meddling()).agrees()).isFalse();
    }
}
