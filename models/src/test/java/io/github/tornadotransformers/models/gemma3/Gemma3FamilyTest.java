package io.github.tornadotransformers.models.gemma3;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.ConfigFields;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import org.junit.jupiter.api.Test;

class Gemma3FamilyTest {
    private static final Gemma3Config CONFIG = new Gemma3Family().examples().getFirst();

    private final ConfigFields fields = ConfigFields.of(new Gemma3Family(), CONFIG);
    private final ConfigFields older = fields.without("rope_parameters").without("layer_types");

    private static Gemma3Config parsed(ConfigFields fields) {
        return (Gemma3Config) fields.parse();
    }

    private static Rope rope(double theta, RopeScaling scaling) {
        return new Rope(theta, CONFIG.heads().headDim(), scaling);
    }

    @Test
    void olderConfigsScaleTheGlobalRotationAlone() {
        Gemma3Config config = parsed(older.with("rope_theta", "77")
                .with("rope_local_base_freq", "33")
                .with("rope_scaling", "{'rope_type':'linear','factor':8}"));
        assertThat(config.rope()).isEqualTo(rope(77, new RopeScaling.Linear(8)));
        assertThat(config.localRope()).isEqualTo(rope(33, new RopeScaling.None()));
    }

    @Test
    void olderConfigsHaveTheDefaultsOfTheirClass() {
        Gemma3Config config = parsed(older);
        assertThat(config.rope()).isEqualTo(rope(1_000_000, new RopeScaling.None()));
        assertThat(config.localRope()).isEqualTo(rope(10_000, new RopeScaling.None()));
        assertThat(config.windows().slides()).containsOnly(true);
    }

    @Test
    void theOlderPatternSaysWhichLayersSeeEverything() {
        assertThat(parsed(older.with("sliding_window_pattern", "2")).windows().slides())
                .containsExactly(true, false, true, false);
    }

    @Test
    void aSectionWithoutThetaHasThatOfTheTopLevel() {
        Gemma3Config config = parsed(fields.with("rope_theta", "77")
                .with("rope_local_base_freq", "33")
                .with(
                        "rope_parameters",
                        "{'full_attention':{'rope_type':'default'},'sliding_attention':{'rope_type':'default'}}"));
        assertThat(config.rope().theta()).isEqualTo(77);
        assertThat(config.localRope().theta()).isEqualTo(33);
    }

    @Test
    void bothLayoutsAtOnceAreRefused() {
        assertThat(fields.with("rope_scaling", "{'rope_type':'linear','factor':2}")
                        .rejection())
                .contains("rope_scaling is there, and rope_parameters.full_attention; expected one of them");
    }
}
