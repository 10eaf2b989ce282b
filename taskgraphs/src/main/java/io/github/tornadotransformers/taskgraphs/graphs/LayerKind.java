package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.checkpoint.ColumnRun;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.taskgraphs.memory.DeviceModel;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Layers that share graphs: their blocks are equal, and their weights lie in the same arrays.
 *
 * @param columns of each matrix whose tensors are kept as they are stored: in what they are kept
 */
public record LayerKind(Block block, List<List<ColumnRun>> columns, int group) {
    public LayerKind {
        columns = List.copyOf(columns);
    }

    public static LayerKind of(DeviceModel model, int layer) {
        return of(model, layer, model.groups().of(layer));
    }

    private static LayerKind of(DeviceModel model, int layer, int group) {
        Block block = model.program().blocks().get(layer);
        List<List<ColumnRun>> columns = block.ops().stream()
                .flatMap(op -> op.weights().stream())
                .filter(model.types()::isStored)
                .map(weight -> model.runs(weight, weight.layers() > 1 ? layer : 0))
                .toList();
        return new LayerKind(block, columns, group);
    }

    /** What tells the graphs of these layers from those of others; nothing where all are of a kind. */
    public String suffix(DeviceModel model) {
        List<LayerKind> kinds = IntStream.range(0, model.program().layers())
                .mapToObj(layer -> of(model, layer, group))
                .distinct()
                .toList();
        String ofGroup = model.groups().suffix(group);
        return kinds.size() == 1 ? ofGroup : "_" + kinds.indexOf(this) + (ofGroup.isEmpty() ? "" : "_" + ofGroup);
    }
}
