package io.github.tornadotransformers.taskgraphs.memory;

/**
 * Layers whose weights and cache lie in one array each. There is one group unless an array would grow beyond what an int can
 * index or the device allocates at once.
 *
 * @param perGroup layers of a group; the last one may have fewer
 */
public record LayerGroups(int layers, int perGroup) {
    /** As few groups of equal size as hold at most {@code most} layers each. */
    public static LayerGroups of(int layers, long most) {
        int limit = Math.toIntExact(Math.clamp(most, 1, layers));
        return new LayerGroups(layers, Math.ceilDiv(layers, Math.ceilDiv(layers, limit)));
    }

    public int count() {
        return Math.ceilDiv(layers, perGroup);
    }

    public int firstLayer(int group) {
        return group * perGroup;
    }

    public int layersOf(int group) {
        return Math.min(perGroup, layers - firstLayer(group));
    }

    /** What tells a group's arrays and graphs from those of others; nothing where there is one. */
    public String suffix(int group) {
        return count() == 1 ? "" : String.valueOf(group);
    }
}
