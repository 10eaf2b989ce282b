package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.host.BackwardOps;
import io.github.tornadotransformers.host.HostOps;
import io.github.tornadotransformers.host.ScalarBackwardOps;
import io.github.tornadotransformers.host.VectorBackwardOps;
import io.github.tornadotransformers.host.VectorOps;
import io.github.tornadotransformers.models.learning.GradientPass;
import io.github.tornadotransformers.models.learning.ParameterArrays;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.training.TornadoTrainingPass;
import io.github.tornadotransformers.training.TrainingException;
import io.github.tornadotransformers.training.TrainingPass;

/** What computes gradients, by the engine's name. */
public final class GradientEngines {
    private GradientEngines() {}

    /**
     * @param weights that the gradients are of
     * @throws TrainingException if the program has an Op whose gradient is not implemented
     * @throws io.github.tornadotransformers.models.EngineException if the engine cannot run here
     */
    public static GradientPass open(Program program, ParameterArrays weights, EngineSettings settings) {
        program.whyNotLearned().ifPresent(reason -> {
            throw new TrainingException("this family cannot be trained: " + reason);
        });
        return settings.engine().onDevice() ? onDevice(program, weights, settings) : onHost(program, weights, settings);
    }

    private static GradientPass onDevice(Program program, ParameterArrays weights, EngineSettings settings) {
        TornadoTrainingPass pass = TornadoTrainingPass.open(program, weights, Engines.device(settings));
        pass.tell(settings.compiling());
        return pass;
    }

    private static GradientPass onHost(Program program, ParameterArrays weights, EngineSettings settings) {
        HostOps ops = Engines.openOps(settings);
        BackwardOps backwardOps =
                ops instanceof VectorOps vectorOps ? new VectorBackwardOps(vectorOps) : new ScalarBackwardOps();
        return new TrainingPass(program, weights, new ParameterArrays(program), ops, backwardOps);
    }
}
