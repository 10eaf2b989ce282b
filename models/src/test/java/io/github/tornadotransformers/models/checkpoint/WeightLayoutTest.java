package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WeightLayoutTest {
    record Shape(WeightLayout layout, DType dtype, int rows, int columns) {}

    static Stream<Shape> shapes() {
        SplittableRandom random = new SplittableRandom(1);
        return IntStream.range(0, 40)
                .boxed()
                .flatMap(_ -> DType.OF_MATRICES.stream()
                        .flatMap(dtype -> Stream.of(WeightLayout.values())
                                .map(layout ->
                                        new Shape(layout, dtype, random.nextInt(1, 70), random.nextInt(1, 150)))));
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void eachElementHasAPlaceOfItsOwn(Shape shape) {
        BitSet taken = new BitSet();
        for (int row = 0; row < shape.rows(); row++) {
            for (int column = 0; column < shape.columns(); column++) {
                long index = shape.layout().index(shape.dtype(), shape.rows(), shape.columns(), row, column);
                assertThat(index).isBetween(0L, (long) shape.rows() * shape.columns() - 1);
                taken.set((int) index);
            }
        }
        assertThat(taken.cardinality()).isEqualTo(shape.rows() * shape.columns());
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void aRunIsInOneRowAndItsColumnsAreAdjacentUnlessPaired(Shape shape) {
        WeightLayout layout = shape.layout();
        for (int column = 0; column < shape.columns(); column++) {
            int start = layout.runStart(column);
            int end = layout.runEnd(shape.columns(), column);
            assertThat(column).isBetween(start, end - 1);
            if (!layout.isPaired(shape.dtype(), shape.columns(), column)) {
                long first = layout.index(shape.dtype(), shape.rows(), shape.columns(), shape.rows() - 1, start);
                long here = layout.index(shape.dtype(), shape.rows(), shape.columns(), shape.rows() - 1, column);
                assertThat(here).isEqualTo(first + column - start);
            }
        }
    }

    @Test
    void panelsFollowEachOther() {
        // two rows of 70 columns: panels of 32, 32 and 6
        WeightLayout panels = WeightLayout.PANELS;
        assertThat(panels.index(DType.F32, 2, 70, 0, 31)).isEqualTo(31);
        assertThat(panels.index(DType.F32, 2, 70, 1, 0)).isEqualTo(32);
        assertThat(panels.index(DType.INT8, 2, 70, 0, 32)).isEqualTo(64);
        assertThat(panels.index(DType.F16, 2, 70, 1, 33)).isEqualTo(97);
        assertThat(panels.index(DType.BF16, 2, 70, 1, 33)).isEqualTo(98);
        assertThat(panels.index(DType.BF16, 2, 70, 1, 48)).isEqualTo(97);
        assertThat(panels.index(DType.BF16, 2, 70, 1, 69)).isEqualTo(128 + 6 + 5);
    }
}
