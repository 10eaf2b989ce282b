package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.host.HostMatrix;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.ColumnRun;
import io.github.tornadotransformers.models.checkpoint.ColumnType;
import io.github.tornadotransformers.models.checkpoint.StoredColumns;
import io.github.tornadotransformers.models.checkpoint.StoredMatrix;
import io.github.tornadotransformers.models.checkpoint.WeightAllocator;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** A matrix whose tensors are kept as they are stored: one layer as the oracle takes it, and all as kernels take them. */
record StoredArrays(HostMatrix host, FloatArray floats, IntArray words, List<Run> runs) {
    /** Columns of one format, and where they lie; layers that have no such columns have no place. */
    record Run(int firstColumn, int columns, int format, FloatArray powers, IntArray places) {}

    private static final long HEAP = 1 << 24;

    static StoredArrays of(StoredMatrix matrix, int layer) {
        try (Arena arena = Arena.ofShared()) {
            Heap heap = new Heap(arena.allocate(HEAP, 64), arena.allocate(HEAP, 64), new long[2]);
            List<StoredColumns> columns = matrix.load(heap).columns(matrix.weight(), layer);
            List<Run> runs = new ArrayList<>();
            for (int run = 0; run < columns.size(); run++) {
                runs.add(run(matrix, layer, matrix.runs(layer).get(run), columns.get(run), heap));
            }
            HostMatrix host = HostMatrix.of(
                    matrix.load(new ArenaAllocator(Arena.ofAuto(), WeightLayout.PANELS)), matrix.weight(), layer);
            return new StoredArrays(host, heap.asFloats(), heap.asWords(), runs);
        }
    }

    private static Run run(StoredMatrix matrix, int layer, ColumnRun run, StoredColumns columns, Heap heap) {
        int format = format(run.type());
        IntArray places = new IntArray(2 * matrix.weight().layers());
        places.init(-1);
        switch (columns) {
            case StoredColumns.Words words -> {
                places.set(2 * layer, heap.wordOf(words.data().words()));
                places.set(2 * layer + 1, heap.floatOf(words.data().floats()));
            }
            case StoredColumns.Plain plain -> {
                MemorySegment elements = plain.data().layer(0);
                boolean isFloat = format == WeightFormat.F32;
                places.set(2 * layer, isFloat ? -1 : heap.wordOf(elements));
                places.set(2 * layer + 1, isFloat ? heap.floatOf(elements) : -1);
            }
            case StoredColumns.Blocks _ -> throw new IllegalArgumentException("of the host");
        }
        return new Run(run.firstColumn(), run.columns(), format, WeightFormat.powers(format), places);
    }

    private static int format(ColumnType type) {
        return switch (type) {
            case ColumnType.Plain plain -> KernelMatrix.format(plain.dtype());
            case ColumnType.Blocks blocks -> {
                BlockFormat format = blocks.format();
                yield StoredFormat.ofBlocks(
                        format.bits(), format.blockRows(), format.groupRows(), format.offset(), format.hasMinimum());
            }
        };
    }

    /** What is allocated lies one behind the other, as on a device. */
    private record Heap(MemorySegment words, MemorySegment floats, long[] used) implements WeightAllocator {
        @Override
        public MemorySegment allocate(String name, long bytes) {
            int which = name.endsWith(".scales") ? 1 : 0;
            MemorySegment next = (which == 1 ? floats : words).asSlice(used[which], bytes);
            used[which] += bytes;
            return next;
        }

        int wordOf(MemorySegment part) {
            return Math.toIntExact((part.address() - words.address()) / Integer.BYTES);
        }

        int floatOf(MemorySegment part) {
            return Math.toIntExact((part.address() - floats.address()) / Float.BYTES);
        }

        IntArray asWords() {
            return IntArray.fromArray(words.asSlice(0, used[0]).toArray(ValueLayout.JAVA_INT));
        }

        FloatArray asFloats() {
            return FloatArray.fromArray(floats.asSlice(0, used[1]).toArray(ValueLayout.JAVA_FLOAT));
        }
    }
}
