package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A matrix whose tensors are kept as they are stored, of any types side by side and in each layer others, from a seed. Any bits are
 * quants and small integers; scales and minima are numbers of any size, zeros and subnormal ones of 16 bits among them.
 *
 * @param types of each layer's parts
 */
public record StoredMatrix(Weight weight, List<List<ColumnType>> types, long seed) implements StoredLoader.Source {
    private static final List<ColumnType> PLAIN = Stream.of(DType.F32, DType.BF16, DType.F16)
            .<ColumnType>map(ColumnType.Plain::new)
            .toList();

    /** @param mostParts tensors of a layer; some neighbours are of one type */
    public static StoredMatrix random(int layers, int mostParts, RandomData data) {
        return random(data.coin() ? List.of() : PLAIN, layers, mostParts, data);
    }

    /** Of blocks alone. */
    public static StoredMatrix ofBlocks(int layers, int mostParts, RandomData data) {
        return random(List.of(), layers, mostParts, data);
    }

    private static StoredMatrix random(List<ColumnType> others, int layers, int mostParts, RandomData data) {
        int rows = data.coin() ? 32 * data.between(1, 15) : 256 * data.between(1, 3);
        List<ColumnType> choice = new ArrayList<>(others);
        for (BlockFormat format : BlockFormat.values()) {
            if (rows % format.groupRows() == 0) {
                choice.add(new ColumnType.Blocks(format));
            }
        }
        return random(rows, choice, layers, mostParts, data);
    }

    /** Of a format alone. */
    public static StoredMatrix of(BlockFormat format, RandomData data) {
        return random(format.groupRows() * data.between(1, 5), List.of(new ColumnType.Blocks(format)), 1, 1, data);
    }

    private static StoredMatrix random(int rows, List<ColumnType> choice, int layers, int mostParts, RandomData data) {
        List<TensorPart> parts = new ArrayList<>();
        int columns = 0;
        for (int part = data.between(1, mostParts); part > 0; part--) {
            int own = data.size(131);
            parts.add(TensorPart.transposed("tensor " + part + " of " + TensorPart.LAYER, columns, own));
            columns += own;
        }
        List<List<ColumnType>> types = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            List<ColumnType> ofLayer = new ArrayList<>();
            for (int part = 0; part < parts.size(); part++) {
                boolean alike = part > 0 && data.coin();
                ofLayer.add(alike ? ofLayer.getLast() : choice.get(data.between(0, choice.size() - 1)));
            }
            types.add(ofLayer);
        }
        return new StoredMatrix(
                new Weight("matrix", layers, rows, columns, Weight.Kind.MATRIX, parts),
                types,
                data.between(0, Integer.MAX_VALUE - 1));
    }

    /** In memory of an allocator, in its layout. */
    public Weights load(WeightAllocator allocator) {
        return new Weights(Map.of(), Map.of(weight, new StoredLoader(this, allocator).layers(weight)));
    }

    /** In what a layer's columns are kept where neighbours lie together. */
    public List<ColumnRun> runs(int layer) {
        return ColumnRun.of(weight, part -> type(weight, layer, part));
    }

    @Override
    public ColumnType type(Weight of, int layer, TensorPart part) {
        return types.get(layer).get(weight.parts().indexOf(part));
    }

    @Override
    public void readBlocks(Weight of, int layer, TensorPart part, Consumer<TensorBytes> to) {
        BlockFormat format = ((ColumnType.Blocks) type(of, layer, part)).format();
        RandomData data = new RandomData(seed + part.tensorName(layer).hashCode());
        long groups = (long) part.columns() * weight.rows() / format.groupRows();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment file = new RandomBlocks(format, data.between(0, 1 << 30), 1).bytes(arena, groups);
            for (long group = 0; group < groups; group++) {
                long at = group * format.fileBytes() + (format == BlockFormat.Q6_K ? format.fileBytes() - 2 : 0);
                file.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, scale(data));
                if (format.hasMinimum()) {
                    file.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + 2, scale(data));
                }
            }
            to.accept(TensorBytes.of(file));
        }
    }

    private static short scale(RandomData data) {
        return switch (data.between(0, 40)) {
            case 0 -> 0;
            case 1 -> Short.MIN_VALUE; // -0
            case 2 -> (short) data.between(1, 0x3FF); // subnormal
            case 3 -> (short) (0x8000 | data.between(1, 0x3FF));
            case 4 -> 0x7BFF; // the largest
            case 5 -> 0x7C00; // infinite
            case 6 -> 0x7E00; // NaN
            default -> Float.floatToFloat16(data.wildFloats(1)[0] % 1000);
        };
    }

    @Override
    public void fill(WeightData data, int layer, TensorPart part) {
        RandomData random = new RandomData(seed + part.tensorName(layer).hashCode());
        Weight own = data.weight();
        int width = own.rows() * part.columns();
        MemorySegment values = MemorySegment.ofArray(random.wildFloats(width));
        long _ = WeightLoader.copy(StoredType.F32, TensorBytes.of(values), data, layer, part);
    }
}
