package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.checkpoint.ModelFamilies;
import io.github.tornadotransformers.models.program.AttentionShape;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class LayerWindowsTest {
    private static final int LAYERS = 3;
    private static final String TYPES = "'layer_types':['full_attention','sliding_attention','full_attention']";

    private static LayerWindows parsed(String config) {
        try {
            ConfigReader reader =
                    new ConfigReader(Path.of("config.json"), new ObjectMapper().readTree(config.replace('\'', '"')));
            return LayerWindows.parse(reader, LAYERS, 64, layer -> layer == 0);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(config, e);
        }
    }

    @Test
    void typesGoBeforeTheFamilysPattern() {
        assertThat(parsed("{'sliding_window':8," + TYPES + "}"))
                .isEqualTo(new LayerWindows(8, List.of(false, true, false)));
        assertThat(parsed("{" + TYPES + "}")).isEqualTo(new LayerWindows(64, List.of(false, true, false)));
        assertThat(parsed("{'sliding_window':8}")).isEqualTo(new LayerWindows(8, List.of(true, false, false)));
    }

    @Test
    void aWindowThatIsNullIsNone() {
        assertThat(parsed("{'sliding_window':null}")).isEqualTo(LayerWindows.none(LAYERS));
        assertThatThrownBy(() -> parsed("{'sliding_window':null," + TYPES + "}"))
                .isInstanceOf(CheckpointException.class)
                .hasMessage("config.json: sliding_window is null, but layer_types has sliding_attention");
    }

    @Test
    void layersThatAllSeeEverythingHaveNoWindow() {
        assertThat(parsed("{'sliding_window':8,'layer_types':['full_attention','full_attention','full_attention']}"))
                .isEqualTo(LayerWindows.none(LAYERS));
    }

    @Test
    void onlyLayersThatSlideHaveTheWindow() {
        LayerWindows windows = new LayerWindows(8, List.of(false, true));
        AttentionShape cache =
                ModelFamilies.all().getFirst().examples().getFirst().program(32).attention();
        assertThat(windows.slides(0)).isFalse();
        assertThat(windows.slides(1)).isTrue();
        assertThat(windows.shape(cache, false)).isEqualTo(cache);
        assertThat(windows.shape(cache, true)).isEqualTo(cache.withWindow(8)).isNotEqualTo(cache);
    }

    @Test
    void moreLayersRepeatThePattern() {
        LayerWindows windows = new LayerWindows(8, List.of(true, true, false));
        assertThat(windows.withLayers(5)).isEqualTo(new LayerWindows(8, List.of(true, true, false, true, true)));
        assertThat(windows.withLayers(1)).isEqualTo(new LayerWindows(8, List.of(true)));
    }
}
