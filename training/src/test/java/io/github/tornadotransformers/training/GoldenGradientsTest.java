package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.ScalarOps;
import io.github.tornadotransformers.host.VectorBackwardOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLoader;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Losses and gradients against an independent float64 implementation. Its files do not say which ids they are of; these are
 * the ones that give their losses: "Once upon a time, there was a little", "The capital of F", and ids without a text.
 */
class GoldenGradientsTest {
    /** Largest differences: of a loss to itself, of a norm to itself, of a sum or an element to the tensor's norm. */
    private static final double LOSS_TOLERANCE = 1e-5;

    private static final double GRADIENT_TOLERANCE = 1e-4;

    private static final Model STORIES =
            new Model("stories260K", "model.", List.of(1, 403, 407, 261, 378, 432, 383, 286, 261, 376));
    private static final Model GPT2 =
            new Model("tiny-random-gpt2", "transformer.", List.of(52, 195, 212, 422, 211, 222, 218, 304));
    private static final Model LLAMA = new Model("odd-llama", "model.", List.of(5, 17, 99, 3, 42, 250, 7, 7, 123));

    record Model(String folder, String prefix, List<Integer> ids) {
        String fullName(String tensorName) {
            return tensorName.startsWith("lm_head") ? tensorName : prefix + tensorName;
        }

        @Override
        public String toString() {
            return folder;
        }
    }

    static Stream<Model> models() {
        return Stream.of(STORIES, GPT2, LLAMA);
    }

    @ParameterizedTest
    @MethodSource("models")
    void scalarOpsGiveTheReferenceGradients(Model model) throws IOException {
        requireReferenceGradients(model, new ScalarOps(), new ScalarBackwardOps());
    }

    @ParameterizedTest
    @MethodSource("models")
    void vectorOpsGiveTheReferenceGradients(Model model) throws IOException {
        try (VectorOps ops = new VectorOps(2)) {
            requireReferenceGradients(model, ops, new VectorBackwardOps(ops));
        }
    }

    private static void requireReferenceGradients(Model model, HostOps ops, BackwardOps backwardOps)
            throws IOException {
        Path file = SharedData.require("golden/grad-" + model.folder + ".json");
        JsonNode golden = new ObjectMapper().readTree(file.toFile());
        Checkpoint checkpoint = Checkpoint.open(SharedData.require("models/" + model.folder));
        int[] ids = model.ids.stream().mapToInt(Integer::intValue).toArray();
        int[] tokens = Arrays.copyOf(ids, ids.length - 1);
        int[] targets = Arrays.copyOfRange(ids, 1, ids.length);
        Program program = checkpoint.config().program(tokens.length);
        Weights loaded = WeightLoader.load(checkpoint, program, DType.F32, new ArenaAllocator(Arena.ofAuto()));
        ParameterArrays weights = ParameterArrays.copyOf(program, loaded);
        ParameterArrays gradients = new ParameterArrays(program);
        TrainingPass pass = new TrainingPass(program, weights, gradients, ops, backwardOps);

        double loss = pass.lossAndGradients(tokens, targets, 1f / tokens.length) / tokens.length;
        assertThat(loss).as("loss").isCloseTo(golden.get("loss").doubleValue(), relative(golden.get("loss")));
        requireGradients(CheckpointTensor.of(program, model::fullName), gradients, golden.get("grads"));

        weights.add(-golden.get("lr").floatValue(), gradients);
        double after = pass.loss(tokens, targets) / tokens.length;
        JsonNode expected = golden.get("loss_after_step");
        assertThat(after).as("loss after the step").isCloseTo(expected.doubleValue(), relative(expected));
    }

    private static Offset<Double> relative(JsonNode loss) {
        return within(LOSS_TOLERANCE * loss.doubleValue());
    }

    private static void requireGradients(List<CheckpointTensor> tensors, ParameterArrays gradients, JsonNode expected) {
        Set<String> names = new HashSet<>();
        for (CheckpointTensor tensor : tensors) {
            names.add(tensor.name());
            JsonNode golden = expected.get(tensor.name());
            assertThat(golden).as(tensor.name()).isNotNull();
            double l2 = golden.get("l2").doubleValue();
            CheckpointTensor.Moments moments = tensor.moments(gradients);
            assertThat(moments.l2()).as("norm of " + tensor.name()).isCloseTo(l2, within(GRADIENT_TOLERANCE * l2));
            assertThat(moments.sum())
                    .as("sum of " + tensor.name())
                    .isCloseTo(golden.get("sum").doubleValue(), within(GRADIENT_TOLERANCE * l2));
            assertThat(golden.get("shape"))
                    .as(tensor.name())
                    .hasSize(tensor.shape().size());
            float[] first = new float[golden.get("first8").size()];
            tensor.read(gradients, 0, first, first.length);
            for (int i = 0; i < first.length; i++) {
                assertThat((double) first[i])
                        .as("element " + i + " of " + tensor.name())
                        .isCloseTo(golden.get("first8").get(i).doubleValue(), within(GRADIENT_TOLERANCE * l2));
            }
        }
        assertThat(expected.fieldNames()).toIterable().containsExactlyInAnyOrderElementsOf(names);
    }
}
