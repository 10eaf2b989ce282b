package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineKind;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.engines.GradientEngines;
import io.github.tornadotransformers.training.TrainingException;
import io.github.tornadotransformers.training.TrainingMemory;
import picocli.CommandLine.Option;

/** The options that say what computes gradients. */
final class TrainingEngine {
    @Option(
            names = {"-e", "--engine"},
            paramLabel = "ENGINE",
            description = {
                "host (all cores; default), scalar (one thread, the definition of right), or a TornadoVM device: tornado,"
                        + " opencl, ptx, spirv, cuda, metal"
            })
    EngineKind engine = EngineKind.HOST;

    @Option(
            names = "--device",
            paramLabel = "D:I",
            description = "which TornadoVM device, as `transformers devices` lists them")
    String device;

    @Option(names = "--threads", paramLabel = "N", description = "threads of the host engine (default: all cores)")
    Integer threads;

    /** @throws Failure if options contradict each other or a value is out of range */
    EngineSettings settings() {
        EngineOptions options = new EngineOptions();
        options.engine = engine;
        options.device = device;
        options.threads = threads;
        return options.settings();
    }

    /**
     * @param copies of all parameters that are kept on the host: weights and gradients, and an optimizer's means
     * @throws TrainingException if the host lacks memory
     */
    void requireMemory(Program program, int copies) {
        TrainingMemory.require(
                engine.onDevice()
                        ? TrainingMemory.parameterBytes(program, copies)
                        : TrainingMemory.bytes(program, copies));
    }

    /**
     * To be closed.
     *
     * @param status shows what takes long
     */
    GradientPass open(Program program, ParameterArrays weights, StatusLine status) {
        return GradientEngines.open(program, weights, settings().withCompileListener(new CompileStatus(status)));
    }
}
