package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.Checkpoint;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLoader;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Supplier;

/** A loaded checkpoint, and forward passes on it. */
record HostModel(Program program, Weights weights) {
    static HostModel load(Path folder) {
        Checkpoint checkpoint = Checkpoint.open(folder);
        return load(checkpoint, checkpoint.config().contextLength());
    }

    static HostModel load(Checkpoint checkpoint, int contextLength) {
        Program program = checkpoint.config().program(contextLength);
        Weights weights = WeightLoader.load(checkpoint, program, DType.F32, new ArenaAllocator(Arena.ofAuto()));
        return new HostModel(program, weights);
    }

    HostForwardPass open(Supplier<HostOps> ops) {
        return new HostForwardPass(program, weights, ops.get());
    }

    HostForwardPass open(Supplier<HostOps> ops, int chunkRows) {
        return new HostForwardPass(program, weights, ops.get(), chunkRows);
    }

    /** The {@code count} ids that greedy decoding appends to the prompt. */
    static int[] greedy(HostForwardPass pass, int[] prompt, int count, boolean cached) {
        int[] ids = Arrays.copyOf(prompt, prompt.length + count);
        for (int length = prompt.length; length < ids.length; length++) {
            boolean decoding = cached && length > prompt.length;
            int first = decoding ? length - 1 : 0;
            ids[length] = argmax(pass.forward(Arrays.copyOfRange(ids, first, length), first));
        }
        return Arrays.copyOfRange(ids, prompt.length, ids.length);
    }

    static int argmax(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }
}
