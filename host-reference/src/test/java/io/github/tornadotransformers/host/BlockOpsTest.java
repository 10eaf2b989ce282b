package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.BlockData;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Residual;
import io.github.tornadotransformers.testsupport.Bits;
import io.github.tornadotransformers.testsupport.RandomData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Matrices in block formats, alone and beside others: the vector loops give the plain loops' bits. */
class BlockOpsTest {
    private static final VectorOps VECTOR = new VectorOps(3);
    private static final ScalarOps SCALAR = new ScalarOps();

    @AfterAll
    static void stop() {
        VECTOR.close();
    }

    /** Any bytes are quants and small integers; only the float scales are made to be numbers. */
    private static BlockData random(BlockFormat format, int rows, int columns, RandomData data) {
        MemorySegment memory = Arena.ofAuto().allocate(format.bytes(rows, columns), 64);
        int[] bytes = data.ints((int) memory.byteSize(), 256);
        for (int i = 0; i < bytes.length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) bytes[i]);
        }
        BlockData matrix = new BlockData(format, rows, columns, memory);
        int panels = Math.ceilDiv(columns, WeightLayout.PANEL);
        for (int panel = 0; panel < panels; panel++) {
            for (int row = 0; row < rows; row += format.groupRows()) {
                long group = matrix.groupAt(row, panel * WeightLayout.PANEL);
                float[] scales = data.floats((format.hasMinimum() ? 2 : 1) * WeightLayout.PANEL);
                for (int i = 0; i < scales.length; i++) {
                    memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, group + (long) i * Float.BYTES, scales[i]);
                }
            }
        }
        return matrix;
    }

    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void linearOfAnyRows(BlockFormat format) {
        RandomData data = new RandomData(format.ordinal());
        for (int rows : new int[] {1, 2, 3, 4, 5, 7, 8, 9, 13, 24, 33}) {
            for (int groups = 1; groups <= 5; groups += 2) {
                int inputs = groups * format.groupRows();
                int outputs = WeightLayout.PANEL * data.between(0, 4) + data.between(1, WeightLayout.PANEL);
                BlockData blocks = random(format, inputs, outputs, data);
                HostMatrix weight = new HostMatrix(inputs, outputs, List.of(new HostColumns.Blocks(0, blocks)));
                check(format + " " + rows + "x" + inputs + "x" + outputs, weight, rows, data);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 11})
    void linearOfColumnsThatAreKeptApart(int rows) {
        RandomData data = new RandomData(rows);
        int inputs = 512;
        List<HostColumns> columns = new ArrayList<>();
        int first = 0;
        for (BlockFormat format : BlockFormat.values()) {
            int count = data.between(1, 90);
            columns.add(new HostColumns.Blocks(first, random(format, inputs, count, data)));
            first += count;
            DType dtype = DType.OF_MATRICES.get(data.between(0, 3));
            int plain = data.between(1, 90);
            columns.add(new HostColumns.Plain(first, RandomMatrix.of(dtype, inputs, plain, WeightLayout.PANELS, data)));
            first += plain;
        }
        check(rows + " rows", new HostMatrix(inputs, first, columns), rows, data);
    }

    @ParameterizedTest
    @EnumSource(BlockFormat.class)
    void tokenEmbedding(BlockFormat format) {
        RandomData data = new RandomData(format.ordinal());
        int width = 2 * format.groupRows();
        HostMatrix table =
                new HostMatrix(width, 77, List.of(new HostColumns.Blocks(0, random(format, width, 77, data))));
        int[] tokens = data.ints(9, 77);
        float[] expected = new float[9 * width];
        float[] actual = expected.clone();
        SCALAR.tokenEmbedding(table, 3.5f, tokens, 9, expected);
        VECTOR.tokenEmbedding(table, 3.5f, tokens, 9, actual);
        Bits.assertSame(format.name(), actual, expected);
    }

    private static void check(String shape, HostMatrix weight, int rows, RandomData data) {
        float[] x = data.wildFloats(rows * weight.rows());
        float[] bias = data.coin() ? data.floats(weight.columns()) : null;
        float[] expected = data.floats(rows * weight.columns());
        float[] actual = expected.clone();
        SCALAR.linear(x, weight, bias, Activation.SILU, Residual.ADD, rows, expected);
        VECTOR.linear(x, weight, bias, Activation.SILU, Residual.ADD, rows, actual);
        Bits.assertSame(shape, actual, expected);
    }
}
