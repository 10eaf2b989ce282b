package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.program.Weight;

/**
 * Layers whose weights and cache lie in one array each. There is one group unless an array would grow beyond what an int can
 * index or the device allocates at once.
 *
 * @param perGroup layers of a group; the last one may have fewer
 */
public record LayerGroups(int layers, int perGroup) {
    /** As few groups of equal size as hold at most {@code most} layers each. */
    static LayerGroups of(int layers, long most) {
        int limit = Math.toIntExact(Math.clamp(most, 1, layers));
        return new LayerGroups(layers, Math.ceilDiv(layers, Math.ceilDiv(layers, limit)));
    }

    public int count() {
        return Math.ceilDiv(layers, perGroup);
    }

    /** The group of a layer. */
    public int of(int layer) {
        return layer / perGroup;
    }

    /** Where in its group's arrays a layer is. */
    public int indexOf(int layer) {
        return layer % perGroup;
    }

    public LayerRange range(int group) {
        int first = group * perGroup;
        return new LayerRange(first, Math.min(perGroup, layers - first));
    }

    /** The layers of a weight that lie in the same array as those of a group. */
    public LayerRange range(Weight weight, int group) {
        return weight.layers() > 1 ? range(group) : LayerRange.SINGLE;
    }

    /** How many arrays a weight is. */
    public int count(Weight weight) {
        return weight.layers() > 1 ? count() : 1;
    }

    /** What tells a group's graphs from those of others; nothing where there is one. */
    public String suffix(int group) {
        return count() == 1 ? "" : String.valueOf(group);
    }
}
