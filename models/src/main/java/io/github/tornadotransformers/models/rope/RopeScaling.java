package io.github.tornadotransformers.models.rope;

import java.util.List;

/** How the frequencies of rotary embedding are changed for longer contexts; the kinds that are implemented. */
public sealed interface RopeScaling {
    /**
     * Radians per position of each pair, {@code theta^(-2i/dimensions)} changed as this kind does.
     *
     * @param dimensions elements of a head that are rotated, two a pair
     * @param contextLength positions that a sequence may have
     */
    double[] frequencies(double theta, int dimensions, int contextLength);

    /** What cosines and sines are multiplied by. */
    default double magnitude() {
        return 1;
    }

    private static double[] plain(double theta, int dimensions) {
        double[] frequencies = new double[dimensions / 2];
        for (int pair = 0; pair < frequencies.length; pair++) {
            frequencies[pair] = Math.pow(theta, -2.0 * pair / dimensions);
        }
        return frequencies;
    }

    /** The frequencies as they are, arXiv:2104.09864. */
    record None() implements RopeScaling {
        @Override
        public double[] frequencies(double theta, int dimensions, int contextLength) {
            return plain(theta, dimensions);
        }
    }

    /** Positions divided by {@code factor}, arXiv:2306.15595. */
    record Linear(double factor) implements RopeScaling {
        @Override
        public double[] frequencies(double theta, int dimensions, int contextLength) {
            double[] frequencies = plain(theta, dimensions);
            for (int pair = 0; pair < frequencies.length; pair++) {
                frequencies[pair] /= factor;
            }
            return frequencies;
        }
    }

    /**
     * Llama 3.1's kind: long wavelengths are divided by {@code factor}, short ones kept, those between interpolated.
     *
     * <p>Source: Meta's Llama 3.1 reference code and Hugging Face's {@code rope_type: llama3}.
     */
    record Llama3(double factor, double lowFreqFactor, double highFreqFactor, double originalContextLength)
            implements RopeScaling {
        @Override
        public double[] frequencies(double theta, int dimensions, int contextLength) {
            double[] frequencies = plain(theta, dimensions);
            for (int pair = 0; pair < frequencies.length; pair++) {
                frequencies[pair] = scale(frequencies[pair]);
            }
            return frequencies;
        }

        private double scale(double frequency) {
            double wavelength = 2 * Math.PI / frequency;
            if (wavelength < originalContextLength / highFreqFactor) {
                return frequency;
            }
            if (wavelength > originalContextLength / lowFreqFactor) {
                return frequency / factor;
            }
            double smooth = (originalContextLength / wavelength - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
            return (1 - smooth) * frequency / factor + smooth * frequency;
        }
    }

    /**
     * YaRN, arXiv:2309.00071: pairs that turn more than {@code fast} times within the original context keep their frequency,
     * those that turn less than {@code slow} times have it divided by {@code factor}, and between them it goes over in a
     * line over the pair's index.
     *
     * <p>Source: the paper, and Hugging Face's {@code rope_type: yarn}, which rounds the ramp's ends to whole pairs.
     *
     * @param truncate whether the ramp's ends are whole pairs
     */
    record Yarn(
            double factor, double fast, double slow, double originalContextLength, boolean truncate, double magnitude)
            implements RopeScaling {
        /** The smallest length of the ramp, where both ends are the same pair. */
        private static final double SHORTEST_RAMP = 0.001;

        /** The paper's recommendation for what cosines and sines are multiplied by. */
        public static double recommendedMagnitude(double factor, double weight) {
            return factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1;
        }

        @Override
        public double[] frequencies(double theta, int dimensions, int contextLength) {
            double first = pairOfTurns(fast, theta, dimensions);
            double last = pairOfTurns(slow, theta, dimensions);
            double low = Math.max(truncate ? Math.floor(first) : first, 0);
            double high = Math.min(truncate ? Math.ceil(last) : last, dimensions - 1);
            double length = high == low ? SHORTEST_RAMP : high - low;
            double[] frequencies = plain(theta, dimensions);
            for (int pair = 0; pair < frequencies.length; pair++) {
                double divided = Math.clamp((pair - low) / length, 0.0, 1.0);
                frequencies[pair] = frequencies[pair] / factor * divided + frequencies[pair] * (1 - divided);
            }
            return frequencies;
        }

        /** The pair, as a fraction, that turns so often within the original context. */
        private double pairOfTurns(double turns, double theta, int dimensions) {
            return dimensions * Math.log(originalContextLength / (turns * 2 * Math.PI)) / (2 * Math.log(theta));
        }
    }

    /**
     * LongRoPE, arXiv:2402.13753: each frequency is divided by a factor of its own. There are two lists, for sequences
     * within the original context and for longer ones. Which one holds is decided by how long a sequence may become, not by how
     * long it is: keys in a cache were rotated with one list, and a change of lists in the middle of a text would not fit
     * them.
     *
     * <p>Source: the paper, and Hugging Face's {@code rope_type: longrope}, whose factors are float32.
     */
    record LongRope(List<Double> shortFactors, List<Double> longFactors, int originalContextLength, double magnitude)
            implements RopeScaling {
        public LongRope {
            shortFactors = rounded(shortFactors);
            longFactors = rounded(longFactors);
        }

        private static List<Double> rounded(List<Double> factors) {
            return factors.stream().map(factor -> (double) factor.floatValue()).toList();
        }

        /** What cosines and sines are multiplied by, for a context so many times the original one. */
        public static double recommendedMagnitude(double factor, double originalContextLength) {
            return factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalContextLength));
        }

        @Override
        public double[] frequencies(double theta, int dimensions, int contextLength) {
            List<Double> factors = contextLength > originalContextLength ? longFactors : shortFactors;
            double[] frequencies = plain(theta, dimensions);
            for (int pair = 0; pair < frequencies.length; pair++) {
                frequencies[pair] /= factors.get(pair);
            }
            return frequencies;
        }
    }
}
