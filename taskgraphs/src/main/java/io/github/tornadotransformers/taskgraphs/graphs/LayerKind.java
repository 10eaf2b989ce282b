package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import java.util.List;

/** Layers that share graphs: their blocks are equal, and their weights lie in the same arrays. */
public record LayerKind(Block block, int group) {
    public static LayerKind of(DeviceModel model, int layer) {
        return new LayerKind(model.program().blocks().get(layer), model.groups().of(layer));
    }

    /** What tells the graphs of these layers from those of others; nothing where all are of a kind. */
    public String suffix(DeviceModel model) {
        Program program = model.program();
        List<Block> blocks = program.kinds();
        String ofGroup = model.groups().suffix(group);
        return blocks.size() == 1 ? ofGroup : "_" + blocks.indexOf(block) + (ofGroup.isEmpty() ? "" : "_" + ofGroup);
    }
}
