package io.github.tornadotransformers.runner.madeup;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sizes;
import java.util.List;
import java.util.Map;
import org.kohsuke.MetaInfServices;

/** How checkpoints of {@link MadeUpConfig} are written: nothing is called as it is elsewhere. */
@MetaInfServices(ModelFamily.class)
public final class MadeUpFamily implements ModelFamily<MadeUpConfig> {
    static final String PRESET = "made-up-tower";

    @Override
    public String modelType() {
        return MadeUpConfig.MODEL_TYPE;
    }

    @Override
    public Class<MadeUpConfig> configType() {
        return MadeUpConfig.class;
    }

    @Override
    public String tensorPrefix() {
        return "tower.";
    }

    @Override
    public String fullName(String tensorName) {
        return tensorName.equals(MadeUpConfig.HEAD) ? tensorName : tensorPrefix() + tensorName;
    }

    @Override
    public MadeUpConfig parse(ConfigReader config) {
        Sizes sizes = new Sizes(
                config.count("words", 1 << 20),
                config.count("memory", 1 << 20),
                config.count("breadth", 1 << 16),
                config.count("thoughts", 1 << 16),
                config.count("floors", 1 << 10));
        Heads heads =
                new Heads(config.count("eyes", 1 << 10), config.count("ears", 1 << 10), config.count("look", 1 << 10));
        return new MadeUpConfig(sizes, heads, (float) config.positive("shouting"));
    }

    @Override
    public void describe(MadeUpConfig config, ObjectNode json) {
        json.put("words", config.vocabSize());
        json.put("memory", config.contextLength());
        json.put("breadth", config.sizes().hiddenSize());
        json.put("thoughts", config.sizes().intermediateSize());
        json.put("floors", config.layers());
        json.put("eyes", config.heads().heads());
        json.put("ears", config.heads().kvHeads());
        json.put("look", config.heads().headDim());
        json.put("shouting", config.cap());
    }

    @Override
    public List<MadeUpConfig> examples() {
        return List.of(
                new MadeUpConfig(new Sizes(73, 48, 34, 45, 4), new Heads(4, 2, 14), 2.5f),
                new MadeUpConfig(new Sizes(61, 40, 129, 131, 3), new Heads(3, 1, 6), 1.5f));
    }

    @Override
    public Map<String, MadeUpConfig> published() {
        return Map.of(PRESET, new MadeUpConfig(new Sizes(500, 64, 96, 160, 6), new Heads(6, 3, 16), 3f));
    }
}
