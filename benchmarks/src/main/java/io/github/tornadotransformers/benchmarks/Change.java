package io.github.tornadotransformers.benchmarks;

/** A row against the same row of an earlier run. */
public record Change(double ratio, Verdict verdict) {
    /** Fewer measurements say nothing about noise. */
    private static final int FEWEST = 3;

    /** What the difference means. */
    public enum Verdict {
        /** Every measurement is above all earlier ones. */
        FASTER("faster"),

        /** Every measurement is below all earlier ones. */
        SLOWER("SLOWER"),

        /** The measurements overlap. */
        NOISE("within noise"),

        TOO_FEW("too few repetitions to say");

        private final String words;

        Verdict(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** The change of speeds: of two runs of five measurements each that do not differ, one in 126 is called a change. */
    public static Change between(Samples earlier, Samples now) {
        return new Change(now.mean() / earlier.mean(), verdict(earlier, now));
    }

    private static Verdict verdict(Samples earlier, Samples now) {
        if (Math.min(earlier.values().size(), now.values().size()) < FEWEST) {
            return Verdict.TOO_FEW;
        }
        return now.min() > earlier.max() ? Verdict.FASTER : now.max() < earlier.min() ? Verdict.SLOWER : Verdict.NOISE;
    }
}
