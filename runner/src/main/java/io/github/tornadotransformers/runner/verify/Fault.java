package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.host.BatchRows;
import io.github.tornadotransformers.host.ForwardingOps;
import io.github.tornadotransformers.host.HostForwardPass;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightData;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.Scaling;
import io.github.tornadotransformers.models.program.Weight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A mistake put into the host engine on purpose, to show that {@code verify} finds its kind: {@code ulp:LAYER:OP} (one
 * element of an Op's last row, by one ulp; layer -1 outside the block), {@code swapped-layers} (0 and 1),
 * {@code no-causal-mask}, {@code interleaved-rotary} (pairs (2i, 2i+1) instead of (i, i + headDim/2)).
 */
public sealed interface Fault {
    Pattern ULP = Pattern.compile("ulp:(-1|\\d{1,4}):(\\w+)");

    /** A forward pass that has the fault; {@code weights} are left as they are. */
    ForwardPass open(Program program, Weights weights);

    /** @throws InvalidRequest if the text names no fault */
    static Fault parse(String text) {
        Matcher ulp = ULP.matcher(text);
        if (ulp.matches()) {
            return new OneUlp(Integer.parseInt(ulp.group(1)), ulp.group(2));
        }
        return switch (text) {
            case "swapped-layers" -> new SwappedLayers();
            case "no-causal-mask" -> new NoCausalMask();
            case "interleaved-rotary" -> new InterleavedRotary();
            default ->
                throw new InvalidRequest("no fault is called '" + text
                        + "': ulp:LAYER:OP, swapped-layers, no-causal-mask, interleaved-rotary");
        };
    }

    /** The first element of the last row that the Op writes is the next larger float. */
    record OneUlp(int layer, String op) implements Fault {
        @Override
        public ForwardPass open(Program program, Weights weights) {
            if (program.ops().stream().noneMatch(each -> each.name().equals(op))) {
                throw new InvalidRequest("the program has no Op '" + op + "', but "
                        + program.ops().stream().map(Op::name).toList());
            }
            return new PerturbedPass(new HostForwardPass(program, weights, new ScalarOps()), this);
        }
    }

    /** A listener gets the engine's own array, so it can change what the next Op reads. */
    final class PerturbedPass implements ForwardPass {
        private final ForwardPass pass;
        private final OneUlp fault;

        private PerturbedPass(ForwardPass pass, OneUlp fault) {
            this.pass = pass;
            this.fault = fault;
            trace(TraceListener.NONE);
        }

        @Override
        public Program program() {
            return pass.program();
        }

        @Override
        public float[] forward(int[] tokens, int firstPosition) {
            return pass.forward(tokens, firstPosition);
        }

        @Override
        public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
            pass.forwardAll(tokens, firstPosition, sink);
        }

        @Override
        public void trace(TraceListener listener) {
            pass.trace((layer, op, firstPosition, rows, output) -> {
                if (layer == fault.layer && op.name().equals(fault.op)) {
                    int lastRow = (rows - 1) * op.output().width();
                    output[lastRow] = Math.nextUp(output[lastRow]);
                }
                listener.opFinished(layer, op, firstPosition, rows, output);
            });
        }

        @Override
        public void close() {
            pass.close();
        }
    }

    /** The weights of layers 0 and 1 in each other's place. */
    record SwappedLayers() implements Fault {
        @Override
        public ForwardPass open(Program program, Weights weights) {
            if (program.layers() < 2) {
                throw new InvalidRequest("swapped-layers needs a model of two layers or more");
            }
            Map<Weight, WeightData> swapped = new HashMap<>();
            for (Weight weight : program.weights()) {
                swapped.put(weight, swapped(weights.get(weight)));
            }
            return new HostForwardPass(program, new Weights(swapped), new ScalarOps());
        }

        private static WeightData swapped(WeightData data) {
            if (data.weight().layers() < 2) {
                return data;
            }
            WeightData copy = new WeightData(
                    data.weight(), data.dtype(), data.layout(), copy(data.elements()), copy(data.scales()));
            copy.layer(0).copyFrom(data.layer(1));
            copy.layer(1).copyFrom(data.layer(0));
            if (data.dtype() == DType.INT8) {
                copy.layerScales(0).copyFrom(data.layerScales(1));
                copy.layerScales(1).copyFrom(data.layerScales(0));
            }
            return copy;
        }

        private static List<MemorySegment> copy(List<MemorySegment> parts) {
            return parts.stream()
                    .map(part ->
                            Arena.ofAuto().allocate(part.byteSize(), Long.BYTES).copyFrom(part))
                    .toList();
        }
    }

    /** Every row attends to all positions of its batch, later ones too. */
    record NoCausalMask() implements Fault {
        @Override
        public ForwardPass open(Program program, Weights weights) {
            return new HostForwardPass(program, weights, new Unmasked(new ScalarOps()));
        }

        private static final class Unmasked extends ForwardingOps {
            Unmasked(HostOps delegate) {
                super(delegate);
            }

            @Override
            public void attentionScores(
                    AttentionShape shape, Scaling scaling, BatchRows rows, float[] qkv, float[] scores) {
                float[] row = new float[shape.scoresWidth()];
                for (int r = 0; r < rows.count(); r++) {
                    float[] query = row(qkv, r, shape.fusedWidth());
                    super.attentionScores(shape, scaling, last(rows), query, row);
                    System.arraycopy(row, 0, scores, r * row.length, row.length);
                }
            }

            @Override
            public void softmax(AttentionShape shape, BatchRows rows, float[] scores) {
                for (int r = 0; r < rows.count(); r++) {
                    float[] row = row(scores, r, shape.scoresWidth());
                    super.softmax(shape, last(rows), row);
                    System.arraycopy(row, 0, scores, r * row.length, row.length);
                }
            }

            @Override
            public void attentionOutput(AttentionShape shape, BatchRows rows, float[] probabilities, float[] out) {
                float[] attended = new float[shape.queryWidth()];
                for (int r = 0; r < rows.count(); r++) {
                    float[] row = row(probabilities, r, shape.scoresWidth());
                    super.attentionOutput(shape, last(rows), row, attended);
                    System.arraycopy(attended, 0, out, r * attended.length, attended.length);
                }
            }

            /** The last row of the only sequence, which sees them all. */
            private static BatchRows last(BatchRows rows) {
                return BatchRows.of(rows.end() - 1, 1, rows.spans().getFirst().cache());
            }

            private static float[] row(float[] array, int row, int width) {
                return Arrays.copyOfRange(array, row * width, (row + 1) * width);
            }
        }
    }

    /** Pairs neighbours, as the original Llama code does with differently ordered weights. */
    record InterleavedRotary() implements Fault {
        @Override
        public ForwardPass open(Program program, Weights weights) {
            return new HostForwardPass(program, weights, new Interleaved(new ScalarOps()));
        }

        private static final class Interleaved extends ForwardingOps {
            Interleaved(HostOps delegate) {
                super(delegate);
            }

            @Override
            public void rotary(AttentionShape shape, RotaryTable table, BatchRows rows, float[] qkv) {
                RotaryTable.Angles angles = table.upTo(rows.end());
                for (int r = 0; r < rows.count(); r++) {
                    int row = r * shape.fusedWidth();
                    for (int i = 0; i < (shape.heads() + shape.kvHeads()) * table.pairs(); i++) {
                        int angle = rows.position(r) * table.pairs() + i % table.pairs();
                        rotate(qkv, row + 2 * i, angles.cosines()[angle], angles.sines()[angle]);
                    }
                }
            }

            private static void rotate(float[] x, int at, float cosine, float sine) {
                float left = x[at];
                float right = x[at + 1];
                x[at] = left * cosine - right * sine;
                x[at + 1] = right * cosine + left * sine;
            }
        }
    }
}
