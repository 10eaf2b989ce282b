package io.github.tornadotransformers.models.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * One step of a forward pass. The interface is sealed so that an interpreter or a task-graph builder that switches over it
 * without {@code default} is rejected by the compiler until it knows every Op. What is asked of an Op, it answers itself.
 *
 * <p>Shapes: a buffer is {@code [rows][width]}; {@code r} is a row, and {@code position(r)} is the place of its token in
 * the text. What each Op computes, and in which order, is defined by the arithmetic contract and by {@code ScalarOps}.
 */
public sealed interface Op {
    /** Unique within its block; what a trace, a task and an error message call this Op. */
    String name();

    /** The buffer this Op writes, or adds to. */
    Buffer output();

    /** The loop that runs it: what engines, benchmarks and {@code verify --kernels} call it. */
    String loop();

    /** What it does to what its output held. */
    Effect effect();

    /** The buffer that it reads besides its output, if there is one. */
    default Optional<Buffer> reads() {
        return Optional.empty();
    }

    /** Its trained tensors. */
    default List<Weight> weights() {
        return List.of();
    }

    /** The same Op with other weights. */
    default Op withWeights(UnaryOperator<Weight> change) {
        return this;
    }

    /** The attention whose cache or scores it reads or writes, if it does. */
    default Optional<AttentionShape> attention() {
        return Optional.empty();
    }

    /** Why its gradient is not implemented; empty where it is. */
    default Optional<String> whyNotLearned() {
        return Optional.empty();
    }

    /** The reason, if it holds. */
    private static Optional<String> reason(boolean holds, String words) {
        return holds ? Optional.of(words) : Optional.empty();
    }

    /** {@code output[r][i] = table[i][token(r)] * scale}; the table is {@code [hiddenSize][vocabSize]}, as the head reads it. */
    record TokenEmbedding(String name, Weight table, float scale, Buffer output) implements Op {
        @Override
        public String loop() {
            return "tokenEmbedding";
        }

        @Override
        public Effect effect() {
            return Effect.OVERWRITES;
        }

        @Override
        public List<Weight> weights() {
            return List.of(table);
        }

        @Override
        public Op withWeights(UnaryOperator<Weight> change) {
            return new TokenEmbedding(name, change.apply(table), scale, output);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return reason(scale != 1f, "scales embeddings");
        }
    }

    /** {@code output[r][i] += table[position(r)][i]}. */
    record PositionEmbedding(String name, Weight table, Buffer output) implements Op {
        @Override
        public String loop() {
            return "positionEmbedding";
        }

        @Override
        public Effect effect() {
            return Effect.ADDS;
        }

        @Override
        public List<Weight> weights() {
            return List.of(table);
        }

        @Override
        public Op withWeights(UnaryOperator<Weight> change) {
            return new PositionEmbedding(name, change.apply(table), output);
        }
    }

    /** {@code output[r][i] = (x - mean) / sqrt(variance + epsilon) * weight[i] + bias[i]}, arXiv:1607.06450. */
    record LayerNorm(String name, Buffer input, Weight weight, Weight bias, float epsilon, Buffer output)
            implements Op {
        @Override
        public String loop() {
            return "layerNorm";
        }

        @Override
        public Effect effect() {
            return Effect.OVERWRITES;
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(input);
        }

        @Override
        public List<Weight> weights() {
            return List.of(weight, bias);
        }

        @Override
        public Op withWeights(UnaryOperator<Weight> change) {
            return new LayerNorm(name, input, change.apply(weight), change.apply(bias), epsilon, output);
        }
    }

    /**
     * For every group of columns {@code y[i] = weight[i] * x[i] / sqrt(mean(x^2) + epsilon)}, arXiv:1910.07467; the groups
     * share the weight. {@code output = y}, or {@code output += y} where this norm closes a residual branch. Where input and
     * output are the same buffer, it works in place, and columns outside the groups stay.
     *
     * @param groups of both buffers' columns
     */
    record RmsNorm(
            String name, Buffer input, Groups groups, Weight weight, float epsilon, Residual residual, Buffer output)
            implements Op {
        public RmsNorm {
            if (isInPlace(input, output) ? residual.adds() : !groups.coverTheRow()) {
                throw new IllegalArgumentException(name + " works in place on a part of a row, or on whole rows");
            }
        }

        /** Of whole rows, to another buffer. */
        public RmsNorm(String name, Buffer input, Weight weight, float epsilon, Buffer output) {
            this(name, input, Groups.wholeRow(input.width()), weight, epsilon, Residual.NONE, output);
        }

        private static boolean isInPlace(Buffer input, Buffer output) {
            return input.equals(output);
        }

        public boolean isInPlace() {
            return isInPlace(input, output);
        }

        @Override
        public String loop() {
            return "rmsNorm";
        }

        @Override
        public Effect effect() {
            return isInPlace() ? Effect.IN_PLACE : residual.effect();
        }

        @Override
        public Optional<Buffer> reads() {
            return isInPlace() ? Optional.empty() : Optional.of(input);
        }

        @Override
        public List<Weight> weights() {
            return List.of(weight);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return reason(isInPlace() || residual.adds(), "normalizes heads, or what a branch adds");
        }

        @Override
        public Op withWeights(UnaryOperator<Weight> change) {
            return new RmsNorm(name, input, groups, change.apply(weight), epsilon, residual, output);
        }
    }

    /**
     * {@code y[r][c] = activation(sum_k input[r][k] weight[k][c] + bias[c])}; {@code output = y}, or
     * {@code output += scale * y} where this Op closes a residual branch.
     */
    record Linear(
            String name,
            Buffer input,
            Weight weight,
            Optional<Weight> bias,
            Activation activation,
            Residual residual,
            Buffer output)
            implements Op {
        @Override
        public String loop() {
            return "linear";
        }

        @Override
        public Effect effect() {
            return residual.effect();
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(input);
        }

        @Override
        public List<Weight> weights() {
            List<Weight> weights = new ArrayList<>(List.of(weight));
            bias.ifPresent(weights::add);
            return List.copyOf(weights);
        }

        @Override
        public Op withWeights(UnaryOperator<Weight> change) {
            return new Linear(name, input, change.apply(weight), bias.map(change), activation, residual, output);
        }

        public boolean addsToOutput() {
            return residual.adds();
        }

        /** The sum and bias alone. */
        public Linear withoutActivation() {
            return new Linear(name, input, weight, bias, Activation.NONE, residual, output);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return reason(residual.scale() != 1f, "scales what it adds to the residual stream")
                    .or(() -> reason(residual.adds() && activation != Activation.NONE, "activates what it adds"))
                    .or(() -> reason(
                            activation != Activation.NONE && activation != Activation.GELU_TANH,
                            "has an activation without a gradient"));
        }
    }

    /** Rotates the query and key heads of {@code output = qkv} in place by the row's position: the table's pairs of each. */
    record Rotary(String name, AttentionShape shape, RotaryTable table, Buffer output) implements Op {
        public Rotary {
            if (2 * table.pairs() > shape.headDim()) {
                throw new IllegalArgumentException(
                        name + " rotates " + table.pairs() + " pairs of a head of " + shape.headDim());
            }
        }

        /** Whether every element of a head belongs to a pair. */
        public boolean rotatesWholeHeads() {
            return 2 * table.pairs() == shape.headDim();
        }

        @Override
        public String loop() {
            return "rotary";
        }

        @Override
        public Effect effect() {
            return Effect.IN_PLACE;
        }

        @Override
        public Optional<AttentionShape> attention() {
            return Optional.of(shape);
        }
    }

    /** Stores the row's keys and values in the layer's cache, at the row's position. Writes no buffer of its own. */
    record CacheAppend(String name, AttentionShape shape, Buffer qkv) implements Op {
        @Override
        public Buffer output() {
            return qkv;
        }

        @Override
        public String loop() {
            return "cacheAppend";
        }

        @Override
        public Effect effect() {
            return Effect.STORES;
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(qkv);
        }

        @Override
        public Optional<AttentionShape> attention() {
            return Optional.of(shape);
        }
    }

    /** {@code output[r][h][t] = scaling(sum_d query[r][h][d] key[t][d])} for every position t that the row's query sees. */
    record AttentionScores(String name, AttentionShape shape, Scaling scaling, Buffer qkv, Buffer output)
            implements Op {
        @Override
        public String loop() {
            return "attentionScores";
        }

        @Override
        public Effect effect() {
            return Effect.OVERWRITES;
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(qkv);
        }

        @Override
        public Optional<AttentionShape> attention() {
            return Optional.of(shape);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return reason(scaling.isCapped(), "caps scores").or(shape::whyNotLearned);
        }
    }

    /** Softmax of {@code output[r][h]} over the positions that the row's query sees, in place. */
    record Softmax(String name, AttentionShape shape, Buffer output) implements Op {
        @Override
        public String loop() {
            return "softmax";
        }

        @Override
        public Effect effect() {
            return Effect.IN_PLACE;
        }

        @Override
        public Optional<AttentionShape> attention() {
            return Optional.of(shape);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return shape.whyNotLearned();
        }
    }

    /** {@code output[r][h][d] = sum_t probabilities[r][h][t] value[t][d]} over the positions t that the row's query sees. */
    record AttentionOutput(String name, AttentionShape shape, Buffer probabilities, Buffer output) implements Op {
        @Override
        public String loop() {
            return "attentionOutput";
        }

        @Override
        public Effect effect() {
            return Effect.OVERWRITES;
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(probabilities);
        }

        @Override
        public Optional<AttentionShape> attention() {
            return Optional.of(shape);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return shape.whyNotLearned();
        }
    }

    /** {@code output[r][i] = activation(gateUp[r][i]) * gateUp[r][width + i]}, arXiv:2002.05202. */
    record GatedMlp(String name, Activation activation, Buffer gateUp, Buffer output) implements Op {
        public GatedMlp {
            if (gateUp.width() != 2 * output.width()) {
                throw new IllegalArgumentException(
                        name + " makes " + output.width() + " of " + gateUp.width() + ", expected half as many");
            }
        }

        @Override
        public String loop() {
            return "gatedMlp";
        }

        @Override
        public Effect effect() {
            return Effect.OVERWRITES;
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(gateUp);
        }

        @Override
        public Optional<String> whyNotLearned() {
            return reason(activation != Activation.SILU, "has a gate without a gradient");
        }
    }

    /** {@code output[r][i] = scaling(output[r][i])}, in place: of logits. */
    record Scale(String name, Scaling scaling, Buffer output) implements Op {
        @Override
        public String loop() {
            return "scale";
        }

        @Override
        public Effect effect() {
            return Effect.IN_PLACE;
        }

        @Override
        public Optional<String> whyNotLearned() {
            return Optional.of("scales logits");
        }
    }

    /** Copies the rows whose logits are wanted. */
    record SelectRows(String name, Buffer input, Buffer output) implements Op {
        @Override
        public String loop() {
            return "selectRows";
        }

        @Override
        public Effect effect() {
            return Effect.OVERWRITES;
        }

        @Override
        public Optional<Buffer> reads() {
            return Optional.of(input);
        }
    }
}
