package io.github.tornadotransformers.testsupport;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Rotary position embedding (arXiv:2104.09864) from the JSON of a config: of the first part of each head.
 *
 * @param frequencies radians per position of each pair
 * @param magnitude what the rotated part is multiplied by
 */
record Float64Rope(double[] frequencies, double magnitude) {
    /**
     * @param scaling the section that says the kind: {@code rope_scaling}, {@code rope_parameters} or a part of it
     * @param dimensions elements of a head that are rotated
     * @param contextLength positions that a sequence may have
     * @param trained positions that the model was trained for
     */
    static Float64Rope of(JsonNode scaling, double theta, int dimensions, int contextLength, int trained) {
        double[] plain = new double[dimensions / 2];
        for (int pair = 0; pair < plain.length; pair++) {
            plain[pair] = 1 / Math.pow(theta, 2.0 * pair / dimensions);
        }
        String kind = scaling.path("rope_type").asText(scaling.path("type").asText("default"));
        return switch (kind) {
            case "default" -> new Float64Rope(plain, 1);
            case "linear" -> linear(scaling, plain);
            case "llama3" -> llama3(scaling, plain);
            case "yarn" -> yarn(scaling, plain, theta, dimensions);
            case "longrope" -> longRope(scaling, plain, contextLength, trained);
            default -> throw new IllegalArgumentException("no float64 rotary embedding of kind " + kind);
        };
    }

    /** arXiv:2306.15595. */
    private static Float64Rope linear(JsonNode scaling, double[] frequencies) {
        for (int pair = 0; pair < frequencies.length; pair++) {
            frequencies[pair] /= scaling.get("factor").doubleValue();
        }
        return new Float64Rope(frequencies, 1);
    }

    /** Llama 3.1's reference code: by how often a pair turns within the original context. */
    private static Float64Rope llama3(JsonNode scaling, double[] frequencies) {
        double low = scaling.get("low_freq_factor").doubleValue();
        double high = scaling.get("high_freq_factor").doubleValue();
        for (int pair = 0; pair < frequencies.length; pair++) {
            double turns = original(scaling) * frequencies[pair] / (2 * Math.PI);
            double kept = Math.clamp((turns - low) / (high - low), 0.0, 1.0);
            frequencies[pair] *= kept + (1 - kept) / scaling.get("factor").doubleValue();
        }
        return new Float64Rope(frequencies, 1);
    }

    /** arXiv:2309.00071, appendix A.2, with its ramp over pairs as in the paper's code. */
    private static Float64Rope yarn(JsonNode scaling, double[] frequencies, double theta, int dimensions) {
        double factor = scaling.get("factor").doubleValue();
        double first = pairOfTurns(scaling, "beta_fast", 32, theta, dimensions);
        double last = pairOfTurns(scaling, "beta_slow", 1, theta, dimensions);
        if (scaling.path("truncate").asBoolean(true)) {
            first = Math.floor(first);
            last = Math.ceil(last);
        }
        first = Math.max(first, 0);
        last = Math.min(last, dimensions - 1);
        last = first == last ? last + 0.001 : last;
        for (int pair = 0; pair < frequencies.length; pair++) {
            double kept = 1 - Math.clamp((pair - first) / (last - first), 0.0, 1.0);
            frequencies[pair] *= kept + (1 - kept) / factor;
        }
        double recommended = yarnMagnitude(factor, 1);
        if (scaling.has("mscale") && scaling.has("mscale_all_dim")) {
            recommended = yarnMagnitude(factor, scaling.get("mscale").doubleValue())
                    / yarnMagnitude(factor, scaling.get("mscale_all_dim").doubleValue());
        }
        return new Float64Rope(frequencies, scaling.path("attention_factor").asDouble(recommended));
    }

    private static double pairOfTurns(JsonNode scaling, String field, double otherwise, double theta, int dimensions) {
        double turns = scaling.path(field).asDouble(otherwise);
        return dimensions * Math.log(original(scaling) / (turns * 2 * Math.PI)) / (2 * Math.log(theta));
    }

    private static double yarnMagnitude(double factor, double weight) {
        return factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1;
    }

    /** arXiv:2402.13753: one list of factors for sequences within the original context, one for longer ones. */
    private static Float64Rope longRope(JsonNode scaling, double[] frequencies, int contextLength, int trained) {
        double original = original(scaling);
        JsonNode factors = scaling.get(contextLength > original ? "long_factor" : "short_factor");
        for (int pair = 0; pair < frequencies.length; pair++) {
            frequencies[pair] /= factors.get(pair).doubleValue();
        }
        double factor = scaling.path("factor").asDouble(trained / original);
        double recommended = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
        return new Float64Rope(frequencies, scaling.path("attention_factor").asDouble(recommended));
    }

    private static double original(JsonNode scaling) {
        return scaling.get("original_max_position_embeddings").doubleValue();
    }

    /** Rotates every head of every row by the row's position, in place. */
    void rotate(double[][] x, int headDim) {
        int pairs = frequencies.length;
        for (int position = 0; position < x.length; position++) {
            double[] row = x[position];
            for (int head = 0; head < row.length; head += headDim) {
                for (int i = 0; i < pairs; i++) {
                    double cosine = magnitude * Math.cos(position * frequencies[i]);
                    double sine = magnitude * Math.sin(position * frequencies[i]);
                    double a = row[head + i];
                    double b = row[head + i + pairs];
                    row[head + i] = a * cosine - b * sine;
                    row[head + i + pairs] = b * cosine + a * sine;
                }
            }
        }
    }
}
