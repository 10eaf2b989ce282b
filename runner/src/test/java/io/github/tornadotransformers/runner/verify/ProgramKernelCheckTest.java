package io.github.tornadotransformers.runner.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSession;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ProgramKernelCheckTest {
    private static final List<ProgramKernelCheck.Typed> MODELS = Stream.of(
                    TestCheckpoints.llama(), TestCheckpoints.gpt2())
            .flatMap(config -> DType.OF_MATRICES.stream().map(dtype -> new ProgramKernelCheck.Typed(config, dtype)))
            .toList();

    private static EngineSession host(ModelSource model, DType dtype) {
        return Engines.open(model, EngineSettings.of(EngineKind.HOST).withDType(dtype));
    }

    /** Rotary with other pairs, and nothing else. */
    private static EngineSession wrongRotary(ModelSource model, DType dtype) {
        EngineSettings settings = EngineSettings.of(EngineKind.SCALAR).withDType(dtype);
        return Engines.openHost(model, settings, new Fault.InterleavedRotary()::open);
    }

    @Test
    void anEngineAgreesWithItself() {
        List<KernelCheck.Verdict> verdicts = ProgramKernelCheck.run(
                MODELS, ProgramKernelCheckTest::host, ProgramKernelCheckTest::host, _ -> Tolerance.EXACT, 3);
        assertThat(verdicts).hasSize(24).allMatch(KernelCheck.Verdict::agrees);
        assertThat(verdicts).allMatch(verdict -> verdict.differences().elements() > 0 && verdict.cases() > 0);
    }

    /** Every kernel that hosts are checked with comes up in a program, but for two that no family has. */
    @Test
    void modelsHaveEveryKernel() {
        Set<String> found = new TreeSet<>();
        for (ProgramKernelCheck.Typed model : ProgramKernelCheck.models()) {
            Program program = model.config().program(model.config().contextLength());
            for (Op op : program.ops()) {
                KernelCheck.Kernel.of(op, model.dtype()).ifPresent(kernel -> found.add(kernel.name()));
            }
        }
        Set<String> cases = KernelCase.all(1).stream()
                .map(KernelCase::kernel)
                .filter(kernel -> !kernel.equals("cacheAppend"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(cases).containsAll(found);
        cases.removeAll(found);
        assertThat(cases).containsExactlyInAnyOrder("linear + bias, GELU_ERF", "linear + bias, SILU");
    }

    @Test
    void theWrongKernelIsTheFirstToDiffer() {
        List<KernelCheck.Verdict> verdicts = ProgramKernelCheck.run(
                MODELS, ProgramKernelCheckTest::host, ProgramKernelCheckTest::wrongRotary, _ -> Tolerance.EXACT, 3);
        KernelCheck.Verdict rotary = verdicts.stream()
                .filter(verdict -> verdict.kernel().name().equals("rotary"))
                .findFirst()
                .orElseThrow();
        assertThat(rotary.firstRefused().orElseThrow()).contains("layer 0 rotary, position 1");
        assertThat(verdicts.stream().filter(each -> each.kernel().name().equals("tokenEmbedding")))
                .allMatch(KernelCheck.Verdict::agrees);
    }
}
