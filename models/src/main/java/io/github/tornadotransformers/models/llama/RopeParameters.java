package io.github.tornadotransformers.models.llama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import java.util.Optional;

/**
 * Rotary embedding in a {@code config.json}: {@code rope_theta} beside {@code rope_scaling} (its kind called {@code type}
 * or {@code rope_type}), or both within the newer {@code rope_parameters}.
 */
record RopeParameters(double theta, RopeScaling scaling) {
    private static final String SCALING = "rope_scaling";
    private static final String PARAMETERS = "rope_parameters";
    private static final String THETA = "rope_theta";
    private static final String KIND = "rope_type";
    private static final String OLD_KIND = "type";
    private static final String LINEAR = "linear";
    private static final String LLAMA3 = "llama3";
    private static final double DEFAULT_THETA = 10_000;

    /** A section that says nothing of theta leaves it to the top level. */
    private record Section(Optional<Double> theta, RopeScaling scaling) {}

    static RopeParameters parse(ConfigReader config) {
        Optional<Section> older = config.section(SCALING).map(RopeParameters::section);
        Optional<Section> newer = config.section(PARAMETERS).map(RopeParameters::section);
        if (older.isPresent()
                && newer.isPresent()
                && !older.get().scaling().equals(newer.get().scaling())) {
            throw config.contradiction(SCALING + " and " + PARAMETERS + " differ; expected one of them");
        }
        Section section = newer.or(() -> older).orElse(new Section(Optional.empty(), new RopeScaling.None()));
        Optional<Double> topLevel = config.has(THETA) ? Optional.of(config.positive(THETA)) : Optional.empty();
        if (topLevel.isPresent() && section.theta().isPresent() && !topLevel.equals(section.theta())) {
            throw config.contradiction(THETA + " is " + topLevel.get() + ", but "
                    + section.theta().get() + " in " + (newer.isPresent() ? PARAMETERS : SCALING));
        }
        return new RopeParameters(section.theta().or(() -> topLevel).orElse(DEFAULT_THETA), section.scaling());
    }

    private static Section section(ConfigReader section) {
        section.requireNumber("partial_rotary_factor", 1);
        Optional<Double> theta = section.has(THETA) ? Optional.of(section.positive(THETA)) : Optional.empty();
        return new Section(theta, scaling(section));
    }

    private static RopeScaling scaling(ConfigReader section) {
        String field = section.has(KIND) || !section.has(OLD_KIND) ? KIND : OLD_KIND;
        return switch (section.text(field).orElse("default")) {
            case "default" -> new RopeScaling.None();
            case LINEAR -> new RopeScaling.Linear(section.positive("factor"));
            case LLAMA3 -> llama3(section);
            default -> throw section.notImplemented(field, "default, linear, llama3");
        };
    }

    private static RopeScaling llama3(ConfigReader section) {
        RopeScaling.Llama3 scaling = new RopeScaling.Llama3(
                section.positive("factor"),
                section.positive("low_freq_factor"),
                section.positive("high_freq_factor"),
                section.positive("original_max_position_embeddings"));
        if (scaling.highFreqFactor() <= scaling.lowFreqFactor()) {
            throw section.rejected("high_freq_factor", "more than low_freq_factor " + scaling.lowFreqFactor());
        }
        return scaling;
    }

    void describe(ObjectNode json) {
        json.put(THETA, theta);
        switch (scaling) {
            case RopeScaling.None _ -> {}
            case RopeScaling.Linear linear ->
                json.putObject(SCALING).put(KIND, LINEAR).put("factor", linear.factor());
            case RopeScaling.Llama3 llama3 ->
                json.putObject(SCALING)
                        .put(KIND, LLAMA3)
                        .put("factor", llama3.factor())
                        .put("low_freq_factor", llama3.lowFreqFactor())
                        .put("high_freq_factor", llama3.highFreqFactor())
                        .put("original_max_position_embeddings", llama3.originalContextLength());
        }
    }
}
