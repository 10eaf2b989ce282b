package io.github.tornadotransformers.models.rope;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import java.util.List;
import java.util.Optional;

/**
 * Rotary embedding in a {@code config.json}: {@code rope_theta} beside {@code rope_scaling} (its kind called {@code type}
 * or {@code rope_type}), or both within the newer {@code rope_parameters}.
 */
public final class RopeFields {
    private static final String SCALING = "rope_scaling";
    private static final String PARAMETERS = "rope_parameters";
    private static final String THETA = "rope_theta";
    private static final String KIND = "rope_type";
    private static final String OLD_KIND = "type";
    private static final String FACTOR = "factor";
    private static final String MAGNITUDE = "attention_factor";
    private static final String WEIGHT = "mscale";
    private static final String WEIGHT_OF_ALL = "mscale_all_dim";
    private static final String PARTIAL = "partial_rotary_factor";
    private static final String ORIGINAL_CONTEXT = "original_max_position_embeddings";
    private static final String LINEAR = "linear";
    private static final String LLAMA3 = "llama3";
    private static final String YARN = "yarn";
    private static final String LONG_ROPE = "longrope";
    private static final String SHORT_FACTORS = "short_factor";
    private static final String LONG_FACTORS = "long_factor";

    /** What LongRoPE was called in Phi-3's first configs. */
    private static final String OLD_LONG_ROPE = "su";

    private final ConfigReader config;
    private final int headDim;
    private final int contextLength;
    private boolean mayBePartial;

    /**
     * @param contextLength positions that the model was trained for
     * @param headDim elements of a head
     */
    public RopeFields(ConfigReader config, int contextLength, int headDim) {
        this.config = config;
        this.contextLength = contextLength;
        this.headDim = headDim;
    }

    /** Accepts {@code partial_rotary_factor}, for families whose heads may be rotated in part. */
    public RopeFields allowPartial() {
        mayBePartial = true;
        return this;
    }

    /** What a section says; one that says nothing of theta leaves it to the top level. */
    private record Section(Optional<Double> theta, Optional<Double> partial, RopeScaling scaling) {}

    /**
     * The one rotary embedding of a model.
     *
     * @param theta the family's where the config says none
     * @throws io.github.tornadotransformers.models.CheckpointException if fields contradict each other, or ask for what is not
     *     implemented
     */
    public Rope parse(double theta) {
        refusePartial(config);
        Optional<Section> older = config.section(SCALING).map(this::section);
        Optional<Section> newer = config.section(PARAMETERS).map(this::section);
        if (older.isPresent()
                && newer.isPresent()
                && !older.get().scaling().equals(newer.get().scaling())) {
            throw config.contradiction(SCALING + " and " + PARAMETERS + " differ; expected one of them");
        }
        Section section =
                newer.or(() -> older).orElse(new Section(Optional.empty(), Optional.empty(), new RopeScaling.None()));
        String place = newer.isPresent() ? PARAMETERS : SCALING;
        double base = agreed(THETA, topLevel(THETA), section.theta(), place).orElse(theta);
        Optional<Double> partial = agreed(PARTIAL, topLevel(PARTIAL), section.partial(), place);
        return rope(base, partial, section.scaling());
    }

    /**
     * The rotary embedding of one kind of layer, where {@code rope_parameters} has a section for each.
     *
     * @param kind as {@code layer_types} spells it
     * @param theta where the section says none
     * @return empty where the config has no such section
     */
    public Optional<Rope> parseKind(String kind, double theta) {
        Optional<Section> found = config.section(PARAMETERS)
                .flatMap(parameters -> parameters.section(kind))
                .map(this::section);
        if (found.isPresent() && config.has(SCALING)) {
            throw config.contradiction(
                    SCALING + " is there, and " + PARAMETERS + "." + kind + "; expected one of them");
        }
        return found.map(section -> rope(section.theta().orElse(theta), section.partial(), section.scaling()));
    }

    private void refusePartial(ConfigReader fields) {
        if (!mayBePartial) {
            fields.requireNumber(PARTIAL, 1);
        }
    }

    private Optional<Double> topLevel(String field) {
        return config.has(field) ? Optional.of(config.positive(field)) : Optional.empty();
    }

    private Optional<Double> agreed(String field, Optional<Double> top, Optional<Double> inner, String place) {
        if (top.isPresent() && inner.isPresent() && !top.equals(inner)) {
            throw config.contradiction(field + " is " + top.get() + ", but " + inner.get() + " in " + place);
        }
        return inner.or(() -> top);
    }

    private Rope rope(double theta, Optional<Double> partial, RopeScaling scaling) {
        double fraction = partial.orElse(1.0);
        int dimensions = (int) (headDim * fraction);
        if (fraction > 1 || dimensions < 2 || dimensions % 2 != 0) {
            throw config.contradiction(PARTIAL + " is " + fraction + ", which rotates " + dimensions + " of " + headDim
                    + " elements of a head, expected an even number of 2 to " + headDim);
        }
        if (scaling instanceof RopeScaling.LongRope longRope) {
            requireFactors(SHORT_FACTORS, longRope.shortFactors(), dimensions);
            requireFactors(LONG_FACTORS, longRope.longFactors(), dimensions);
        }
        return new Rope(theta, dimensions, scaling);
    }

    private void requireFactors(String field, List<Double> factors, int dimensions) {
        if (factors.size() != dimensions / 2) {
            throw config.contradiction(field + " has " + factors.size() + " numbers, expected " + dimensions / 2
                    + ", one for each pair that is rotated");
        }
    }

    private Section section(ConfigReader section) {
        refusePartial(section);
        Optional<Double> theta = section.has(THETA) ? Optional.of(section.positive(THETA)) : Optional.empty();
        Optional<Double> partial = section.has(PARTIAL) ? Optional.of(section.positive(PARTIAL)) : Optional.empty();
        return new Section(theta, partial, scaling(section));
    }

    private RopeScaling scaling(ConfigReader section) {
        String field = section.has(KIND) || !section.has(OLD_KIND) ? KIND : OLD_KIND;
        return switch (section.text(field).orElse("default")) {
            case "default" -> new RopeScaling.None();
            case LINEAR -> new RopeScaling.Linear(section.positive(FACTOR));
            case LLAMA3 -> llama3(section);
            case YARN -> section.has(SHORT_FACTORS) ? longRope(section) : yarn(section);
            case LONG_ROPE, OLD_LONG_ROPE -> longRope(section);
            default -> throw section.notImplemented(field, "default, linear, llama3, yarn, longrope");
        };
    }

    private static RopeScaling llama3(ConfigReader section) {
        RopeScaling.Llama3 scaling = new RopeScaling.Llama3(
                section.positive(FACTOR),
                section.positive("low_freq_factor"),
                section.positive("high_freq_factor"),
                section.positive(ORIGINAL_CONTEXT));
        if (scaling.highFreqFactor() <= scaling.lowFreqFactor()) {
            throw section.rejected("high_freq_factor", "more than low_freq_factor " + scaling.lowFreqFactor());
        }
        return scaling;
    }

    private RopeScaling yarn(ConfigReader section) {
        double original = originalContext(section);
        double factor = section.positiveOr(FACTOR, contextLength / original);
        double recommended = RopeScaling.Yarn.recommendedMagnitude(factor, 1);
        if (section.has(WEIGHT) && section.has(WEIGHT_OF_ALL)) {
            recommended = RopeScaling.Yarn.recommendedMagnitude(factor, section.positive(WEIGHT))
                    / RopeScaling.Yarn.recommendedMagnitude(factor, section.positive(WEIGHT_OF_ALL));
        }
        return new RopeScaling.Yarn(
                factor,
                section.positiveOr("beta_fast", 32),
                section.positiveOr("beta_slow", 1),
                original,
                section.flagOr("truncate", true),
                section.positiveOr(MAGNITUDE, recommended));
    }

    private RopeScaling longRope(ConfigReader section) {
        double original = originalContext(section);
        double factor = section.positiveOr(FACTOR, contextLength / original);
        return new RopeScaling.LongRope(
                section.positives(SHORT_FACTORS),
                section.positives(LONG_FACTORS),
                (int) original,
                section.positiveOr(MAGNITUDE, RopeScaling.LongRope.recommendedMagnitude(factor, original)));
    }

    /** Phi-3 has it beside the section, others within. */
    private double originalContext(ConfigReader section) {
        return config.has(ORIGINAL_CONTEXT) && !section.has(ORIGINAL_CONTEXT)
                ? config.positive(ORIGINAL_CONTEXT)
                : section.positiveOr(ORIGINAL_CONTEXT, contextLength);
    }

    /** Writes what {@link #parse} reads. */
    public static void describe(Rope rope, int headDim, ObjectNode json) {
        json.put(THETA, rope.theta());
        if (rope.dimensions() != headDim) {
            json.put(PARTIAL, (double) rope.dimensions() / headDim);
        }
        if (!(rope.scaling() instanceof RopeScaling.None)) {
            describe(rope.scaling(), json.putObject(SCALING));
        }
    }

    /** Writes what {@link #parseKind} reads into a section. */
    public static void describeKind(Rope rope, ObjectNode section) {
        section.put(THETA, rope.theta());
        describe(rope.scaling(), section);
    }

    private static void describe(RopeScaling scaling, ObjectNode section) {
        switch (scaling) {
            case RopeScaling.None _ -> section.put(KIND, "default");
            case RopeScaling.Linear linear -> section.put(KIND, LINEAR).put(FACTOR, linear.factor());
            case RopeScaling.Llama3 llama3 ->
                section.put(KIND, LLAMA3)
                        .put(FACTOR, llama3.factor())
                        .put("low_freq_factor", llama3.lowFreqFactor())
                        .put("high_freq_factor", llama3.highFreqFactor())
                        .put(ORIGINAL_CONTEXT, llama3.originalContextLength());
            case RopeScaling.Yarn yarn ->
                section.put(KIND, YARN)
                        .put(FACTOR, yarn.factor())
                        .put("beta_fast", yarn.fast())
                        .put("beta_slow", yarn.slow())
                        .put(ORIGINAL_CONTEXT, yarn.originalContextLength())
                        .put("truncate", yarn.truncate())
                        .put(MAGNITUDE, yarn.magnitude());
            case RopeScaling.LongRope longRope -> {
                section.put(KIND, LONG_ROPE)
                        .put(ORIGINAL_CONTEXT, longRope.originalContextLength())
                        .put(MAGNITUDE, longRope.magnitude());
                longRope.shortFactors().forEach(section.putArray(SHORT_FACTORS)::add);
                ArrayNode factors = section.putArray(LONG_FACTORS);
                longRope.longFactors().forEach(factors::add);
            }
        }
    }
}
