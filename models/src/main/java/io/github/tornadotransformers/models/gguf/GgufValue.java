package io.github.tornadotransformers.models.gguf;

import java.util.List;

/** What stands behind a key of a GGUF file. */
public sealed interface GgufValue {
    /** An integer of any width. */
    record Whole(long value) implements GgufValue {
        @Override
        public String toString() {
            return Long.toString(value);
        }
    }

    /** A floating-point number; a float32 as the shortest decimal number that is nearest to it, as its author wrote it. */
    record Real(double value) implements GgufValue {
        static Real of(float value) {
            return new Real(Float.isFinite(value) ? Double.parseDouble(Float.toString(value)) : value);
        }

        @Override
        public String toString() {
            return Double.toString(value);
        }
    }

    record Flag(boolean value) implements GgufValue {
        @Override
        public String toString() {
            return Boolean.toString(value);
        }
    }

    record Text(String value) implements GgufValue {
        @Override
        public String toString() {
            return value;
        }
    }

    /** An array of texts. */
    record Texts(List<String> values) implements GgufValue {
        public Texts {
            values = List.copyOf(values);
        }

        @Override
        public String toString() {
            return "a list of " + values.size() + " texts";
        }
    }

    /**
     * An array of numbers, or of flags as 0 and 1; float32 as they are.
     *
     * @param areWhole whether they are kept as integers
     */
    record Numbers(List<Double> values, boolean areWhole) implements GgufValue {
        public Numbers {
            values = List.copyOf(values);
        }

        @Override
        public String toString() {
            return "a list of " + values.size() + " numbers";
        }
    }
}
