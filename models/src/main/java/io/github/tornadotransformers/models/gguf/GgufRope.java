package io.github.tornadotransformers.models.gguf;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.util.ArrayList;
import java.util.List;

/** Rotary embedding of a GGUF file: its keys, and the tensors in which each frequency has a factor of its own. */
final class GgufRope {
    private static final String SCALING = "rope_scaling";
    private static final String TYPE = "rope.scaling.type";
    private static final String FACTOR = "rope.scaling.factor";
    private static final String MAGNITUDE = "rope.scaling.attn_factor";
    private static final String ORIGINAL = "rope.scaling.original_context_length";
    static final String FREQUENCIES = "rope_freqs.weight";
    static final String SHORT = "rope_factors_short.weight";
    static final String LONG = "rope_factors_long.weight";
    private static final long MAX_FACTORS = 1 << 15;

    /** What Llama 3 was trained with, which the file does not say: it has the factors that follow from it. */
    private static final double LLAMA3_CONTEXT = 8192;

    private static final double LLAMA3_LOW = 1;
    private static final double LLAMA3_HIGH = 4;

    /** The factors were computed in float32. */
    private static final double TOLERANCE = 1e-5;

    private final GgufFile file;
    private final GgufMetadata metadata;
    private final GgufArchitecture architecture;
    private final GgufConfig config;

    GgufRope(GgufFile file, GgufArchitecture architecture, GgufConfig config) {
        this.file = file;
        this.metadata = file.metadata();
        this.architecture = architecture;
        this.config = config;
    }

    /** Whether a tensor is one of those that are read here. */
    static boolean reads(String tensorName) {
        return tensorName.equals(FREQUENCIES) || tensorName.equals(SHORT) || tensorName.equals(LONG);
    }

    void write() {
        rotated();
        String type = metadata.text(config.key(TYPE)).orElse(metadata.has(config.key(FACTOR)) ? "linear" : "none");
        if (file.tensors().containsKey(SHORT) || file.tensors().containsKey(LONG)) {
            longRope();
            return;
        }
        if (file.tensors().containsKey(FREQUENCIES)) {
            frequencies();
            return;
        }
        switch (type) {
            case "none" -> {}
            case "linear" -> linear();
            case "yarn" -> yarn();
            default -> throw metadata.notImplemented(config.key(TYPE), "none, linear, yarn");
        }
    }

    private void rotated() {
        String name = "rope.dimension_count";
        metadata.whole(config.key(name)).ifPresent(dimensions -> {
            if (config.headDimension() > 0 && dimensions != config.headDimension()) {
                config.json("partial_rotary_factor", name)
                        .put("partial_rotary_factor", (double) dimensions / config.headDimension());
            }
        });
    }

    private ObjectNode section(String name) {
        return config.json(SCALING, name).putObject(SCALING);
    }

    private void linear() {
        double factor = metadata.number(config.key(FACTOR)).orElse(1.0);
        if (factor != 1) {
            section(FACTOR).put("rope_type", "linear").put("factor", factor);
        }
    }

    private void yarn() {
        if (metadata.number(config.key(MAGNITUDE)).orElse(1.0) != 1) {
            throw metadata.notImplemented(config.key(MAGNITUDE), "1");
        }
        ObjectNode section = section(TYPE).put("rope_type", "yarn");
        metadata.number(config.key(FACTOR)).ifPresent(factor -> section.put("factor", factor));
        metadata.whole(config.key(ORIGINAL))
                .ifPresent(length -> section.put("original_max_position_embeddings", length));
        metadata.number(config.key("rope.scaling.yarn_beta_fast")).ifPresent(beta -> section.put("beta_fast", beta));
        metadata.number(config.key("rope.scaling.yarn_beta_slow")).ifPresent(beta -> section.put("beta_slow", beta));
    }

    private void longRope() {
        ObjectNode section = section(ORIGINAL).put("rope_type", "longrope");
        put(section.putArray("short_factor"), factors(SHORT));
        put(section.putArray("long_factor"), factors(LONG));
        metadata.whole(config.key(ORIGINAL))
                .ifPresent(length -> section.put("original_max_position_embeddings", length));
        double context = metadata.number(config.key("context_length")).orElse(1.0);
        double original = metadata.number(config.key(ORIGINAL)).orElse(context);
        double usual = RopeScaling.LongRope.recommendedMagnitude(context / original, original);
        double magnitude = metadata.number(config.key(MAGNITUDE)).orElse(1.0);
        if (!(Math.abs(magnitude - usual) <= TOLERANCE * usual)) {
            section.put("attention_factor", magnitude);
        }
    }

    /** Llama 3's, where the factors are those of its rule; else each frequency has its own, whatever the context. */
    private void frequencies() {
        List<Double> factors = factors(FREQUENCIES);
        double largest = factors.stream().mapToDouble(Double::doubleValue).max().orElse(1);
        double original = metadata.number(config.key(ORIGINAL)).orElse(LLAMA3_CONTEXT);
        double theta = metadata.number(config.key("rope.freq_base")).orElse(10_000.0);
        ObjectNode section = section(ORIGINAL);
        if (architecture == GgufArchitecture.LLAMA && areLlama3(factors, largest, original, theta)) {
            section.put("rope_type", "llama3")
                    .put("factor", largest)
                    .put("low_freq_factor", LLAMA3_LOW)
                    .put("high_freq_factor", LLAMA3_HIGH)
                    .put("original_max_position_embeddings", original);
        } else {
            section.put("rope_type", "longrope").put("attention_factor", 1);
            put(section.putArray("short_factor"), factors);
            put(section.putArray("long_factor"), factors);
        }
    }

    private static boolean areLlama3(List<Double> factors, double largest, double original, double theta) {
        for (int pair = 0; pair < factors.size(); pair++) {
            double expected =
                    llama3Factor((double) pair / factors.size(), theta, original, LLAMA3_LOW, LLAMA3_HIGH, largest);
            if (!(Math.abs(factors.get(pair) - expected) <= TOLERANCE * expected)) {
                return false;
            }
        }
        return true;
    }

    /**
     * What Llama 3's rule divides a frequency by.
     *
     * @param exponent of the wavelength, in turns {@code theta^exponent}
     */
    static double llama3Factor(double exponent, double theta, double original, double low, double high, double factor) {
        double wavelength = 2 * Math.PI * Math.pow(theta, exponent);
        double smooth = Math.clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
        return 1 / ((1 - smooth) / factor + smooth);
    }

    private static void put(ArrayNode array, List<Double> values) {
        values.forEach(array::add);
    }

    private List<Double> factors(String name) {
        GgufTensor tensor = file.tensors().get(name);
        if (tensor == null) {
            throw new CheckpointException(Quoted.path(file.file()) + ": tensor " + Quoted.text(name) + " is missing");
        }
        if (tensor.type() != GgufTensorType.F32 || tensor.bytes() > MAX_FACTORS * Float.BYTES) {
            throw new CheckpointException(Quoted.path(tensor.file()) + ": tensor " + Quoted.text(name) + " is of type "
                    + tensor.type() + " and shape " + tensor.shape() + ", expected at most " + MAX_FACTORS
                    + " elements of F32");
        }
        List<Double> factors = new ArrayList<>();
        for (float factor : file.vector(tensor)) {
            factors.add((double) factor);
        }
        if (factors.stream().anyMatch(factor -> !(factor > 0 && factor <= Float.MAX_VALUE))) {
            throw new CheckpointException(Quoted.path(tensor.file()) + ": tensor " + Quoted.text(name)
                    + " has elements that are not numbers above 0");
        }
        return factors;
    }
}
