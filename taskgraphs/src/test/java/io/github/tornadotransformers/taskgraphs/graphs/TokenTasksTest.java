package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.Backend;
import io.github.tornadotransformers.taskgraphs.devices.DeviceId;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo.Kind;
import io.github.tornadotransformers.taskgraphs.memory.MatrixTypes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TokenTasksTest {
    private static final Program GPT2 =
            ModelPresets.named("gpt2-124M").orElseThrow().program(1024);

    @Test
    void aTokenRunsEveryLayerAndTheRestOnce() {
        Map<DeviceGraph, Integer> graphs = TokenTasks.of(GPT2, MatrixTypes.of(DType.F32), options(Kind.GPU));

        assertThat(graphs.keySet()).extracting(DeviceGraph::name).containsExactly("embedding", "block", "head");
        assertThat(graphs.values()).containsExactly(1, 12, 1);
    }

    @Test
    void aTaskKnowsItsKernelAndItsScalarsByName() {
        DeviceTask product = task("qkvProjSums", Kind.GPU);

        assertThat(product.kernelName()).isEqualTo("LinearRowKernels.product");
        assertThat(product.scalars()).containsEntry("inputs", 768).containsEntry("columns", 2304);
        // 6 slices of 128 inputs, and 144 groups of 16 columns.
        assertThat(product.group()).isEqualTo(6 * 16);
        assertThat(product.items()).isEqualTo(144 * 6 * 16);
    }

    @Test
    void aProductHasItsNormBeforeAndWhatFollowsBehindIt() {
        List<String> tasks = tasks(GPT2, Kind.GPU);

        assertThat(tasks).doesNotContain("attentionNorm", "mlpNorm", "oProjSlices", "upProjSlices", "downProjSlices");
        assertThat(tasks).contains("qkvProjSums", "oProj", "upProj", "downProj", "lmHead");
        assertThat(tasks(ModelPresets.named("llama2-7B").orElseThrow().program(64), Kind.GPU))
                .contains("gatedMlp")
                .doesNotContain("gateUpProjSlices", "gateUpProjSums");
    }

    @Test
    void aCpuHasLoops() {
        DeviceTask product = task("qkvProjSlices", Kind.CPU);

        assertThat(product.kernelName()).isEqualTo("LinearKernels.sliceSums");
        assertThat(product.scalars()).isEqualTo(Map.of("format", 0, "inputs", 768, "columns", 2304));
        assertThat(product.items()).isEqualTo(6 * 2304);
    }

    private static List<String> tasks(Program program, Kind kind) {
        return TokenTasks.of(program, MatrixTypes.of(DType.F32), options(kind)).keySet().stream()
                .flatMap(graph -> graph.tasks().stream())
                .map(DeviceTask::id)
                .toList();
    }

    private static DeviceTask task(String id, Kind kind) {
        List<DeviceTask> tasks = TokenTasks.of(GPT2, MatrixTypes.of(DType.F32), options(kind)).keySet().stream()
                .flatMap(graph -> graph.tasks().stream())
                .filter(task -> task.id().equals(id))
                .toList();
        assertThat(tasks).hasSize(1);
        return tasks.getFirst();
    }

    private static DeviceOptions options(Kind kind) {
        return DeviceOptions.of(new DeviceInfo(
                new DeviceId(0, 0), Backend.CUDA, kind, "described", "none", 1L << 37, 1L << 37, 1024, true, true));
    }
}
