package io.github.tornadotransformers.models.llama;

/** How the frequencies of rotary embedding are changed for longer contexts; the kinds that are implemented. */
public sealed interface RopeScaling {
    /** Frequency in, frequency out; radians per position. */
    double scale(double frequency);

    /** The frequencies as they are. */
    record None() implements RopeScaling {
        @Override
        public double scale(double frequency) {
            return frequency;
        }
    }

    /** Positions divided by {@code factor}, arXiv:2306.15595. */
    record Linear(double factor) implements RopeScaling {
        @Override
        public double scale(double frequency) {
            return frequency / factor;
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
        public double scale(double frequency) {
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
}
