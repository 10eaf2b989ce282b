package io.github.tornadotransformers.models.generation;

import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A forward pass that computes nothing: a script gives the logits of a sequence. It keeps to the contract of its calls. */
final class ScriptedForwardPass implements ForwardPass {
    private final Program program;
    private final Script script;
    private final int[] cache;
    private final List<String> calls = new ArrayList<>();
    private int cached;

    ScriptedForwardPass(int vocabSize, int contextLength, Script script) {
        program = new Gpt2Config(new Sizes(vocabSize, contextLength, 4, 16, 1), 1, 1e-5f, true, true)
                .program(contextLength);
        this.script = script;
        cache = new int[contextLength];
    }

    /** Says these ids one after the other once the prompt is over, and 0 after them. */
    static ScriptedForwardPass saying(int vocabSize, int contextLength, int promptLength, int... ids) {
        return new ScriptedForwardPass(vocabSize, contextLength, (sequence, logits) -> {
            int generated = sequence.length - promptLength;
            logits[generated >= 0 && generated < ids.length ? ids[generated] : 0] = 1;
        });
    }

    /** The calls so far: first position and number of tokens, as in {@code 0+3}. */
    List<String> calls() {
        return calls;
    }

    @Override
    public Program program() {
        return program;
    }

    @Override
    public float[] forward(int[] tokens, int firstPosition) {
        calls.add(firstPosition + "+" + tokens.length);
        run(tokens, firstPosition);
        return logits(cached);
    }

    @Override
    public void forwardAll(int[] tokens, int firstPosition, LogitsSink sink) {
        calls.add(firstPosition + "+" + tokens.length + " all");
        run(tokens, firstPosition);
        int offset = 3;
        for (int position = firstPosition; position < cached; position++) {
            float[] shifted = new float[offset + program.vocabSize()];
            System.arraycopy(logits(position + 1), 0, shifted, offset, program.vocabSize());
            sink.accept(position, shifted, offset);
        }
    }

    private void run(int[] tokens, int firstPosition) {
        if (tokens.length == 0 || firstPosition > cached || firstPosition + tokens.length > cache.length) {
            throw new AssertionError(tokens.length + " tokens from position " + firstPosition + " after " + cached
                    + " in a context of " + cache.length);
        }
        System.arraycopy(tokens, 0, cache, firstPosition, tokens.length);
        cached = firstPosition + tokens.length;
    }

    private float[] logits(int length) {
        float[] logits = new float[program.vocabSize()];
        script.fill(Arrays.copyOf(cache, length), logits);
        return logits;
    }

    @Override
    public void trace(TraceListener listener) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}

    /** Fills in the logits of the token that follows a sequence; they are zeros before. */
    @FunctionalInterface
    interface Script {
        void fill(int[] sequence, float[] logits);
    }
}
