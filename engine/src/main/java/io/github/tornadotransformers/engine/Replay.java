package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.generation.Generation;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.Generator;
import io.github.tornadotransformers.models.generation.Sampler;
import io.github.tornadotransformers.models.generation.StopReason;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Runs again what a {@link Receipt} tells of. */
public final class Replay {
    private Replay() {}

    /**
     * @param session with the receipt's model and its types, with at least its context
     * @param tokenizer for stop texts
     * @return where this run parts from the receipt, in words; empty where it does not
     * @throws io.github.tornadotransformers.models.InvalidRequest if the receipt does not fit the model
     */
    public static Optional<String> difference(Receipt receipt, EngineSession session, Optional<Tokenizer> tokenizer) {
        Run run = run(receipt, session.forward().program().vocabSize(), tokenizer);
        new Generator(session.forward()).run(run.generation());
        return run.difference();
    }

    /** The answer as it is to be run again, by whoever runs sequences. */
    public static Run run(Receipt receipt, int vocabSize, Optional<Tokenizer> tokenizer) {
        Comparison comparison = new Comparison(receipt.logits());
        LogitsHashes hashes = new LogitsHashes(vocabSize, comparison);
        comparison.hashes = hashes;
        Generation generation = new Generation(
                array(receipt.promptIds()),
                receipt.context(),
                new Sampler(receipt.sampling(), vocabSize),
                tokenizer,
                receipt.options(),
                Optional.empty(),
                hashes);
        return new Run(receipt, generation, hashes, comparison);
    }

    /** An answer that is run again. */
    public static final class Run {
        private final Receipt receipt;
        private final Generation generation;
        private final LogitsHashes hashes;
        private final Comparison comparison;

        private Run(Receipt receipt, Generation generation, LogitsHashes hashes, Comparison comparison) {
            this.receipt = receipt;
            this.generation = generation;
            this.hashes = hashes;
            this.comparison = comparison;
        }

        public Generation generation() {
            return generation;
        }

        /** Once it has ended: where it parts from the receipt, in words; empty where it does not. */
        public Optional<String> difference() {
            GenerationResult result = generation.result();
            if (comparison.parted) {
                int step = hashes.count();
                return Optional.of("step " + step + " of " + receipt.logits().size() + " (position "
                        + (receipt.promptIds().size() + step - 2) + "): the logits differ");
            }
            return ending(receipt, result, hashes.count());
        }
    }

    /** What only a receipt that was altered, or another tokenizer, can differ in. */
    private static Optional<String> ending(Receipt receipt, GenerationResult result, int steps) {
        int[] ids = array(receipt.ids());
        int mismatch = Arrays.mismatch(ids, result.ids());
        if (mismatch >= 0) {
            return Optional.of("step " + (mismatch + 1) + " of "
                    + receipt.logits().size() + ": the logits are equal, but the ids are not");
        }
        if (steps != receipt.logits().size()) {
            return Optional.of("the end: " + steps + " steps instead of "
                    + receipt.logits().size());
        }
        boolean isWhole = receipt.stopReason() != StopReason.CANCELLED;
        return isWhole && receipt.stopReason() != result.stopReason()
                ? Optional.of("the end: stopped for " + result.stopReason().jsonName() + " instead of "
                        + receipt.stopReason().jsonName())
                : Optional.empty();
    }

    private static int[] array(List<Integer> ids) {
        return ids.stream().flatMapToInt(IntStream::of).toArray();
    }

    /** Ends a run at the first step whose logits differ. */
    private static final class Comparison implements GenerationListener {
        private final List<String> expected;
        private LogitsHashes hashes;
        private boolean parted;

        Comparison(List<String> expected) {
            this.expected = expected;
        }

        @Override
        public void text(String piece) {}

        @Override
        public void chosen(int token, float[] logits, int offset) {
            int step = hashes.count() - 1;
            parted |= step >= expected.size() || !hashes.last().equals(expected.get(step));
        }

        @Override
        public boolean isCancelled() {
            return parted;
        }
    }
}
