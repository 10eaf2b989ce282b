package io.github.tornadotransformers.kernels;

import io.github.tornadotransformers.models.program.RotaryTable;
import java.util.Arrays;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;

/** What every kernel's test hands to it. */
final class KernelArrays {
    private KernelArrays() {}

    /** A step whose rows have no place. */
    static IntArray live(int rows) {
        return IntArray.fromElements(rows);
    }

    /** Rows of one sequence, of the only one that has pages. */
    static IntArray step(int position, int rows, int live, int context) {
        int pages = Slices.count(context);
        IntArray step = new IntArray((int) Step.size(rows, pages));
        Step.setSequence(step, position, rows, live, pages);
        return step;
    }

    static IntArray layer(int layer) {
        return IntArray.fromElements(layer);
    }

    /** An output that nothing has written yet. */
    static FloatArray nan(int size) {
        return filled(size, Float.NaN);
    }

    static FloatArray filled(int size, float value) {
        float[] values = new float[size];
        Arrays.fill(values, value);
        return FloatArray.fromArray(values);
    }

    /** {@code values} as layer {@code layer} of {@code layers}, NaN in the others. */
    static FloatArray stacked(float[] values, int layer, int layers) {
        FloatArray stacked = nan(values.length * layers);
        for (int i = 0; i < values.length; i++) {
            stacked.set(layer * values.length + i, values[i]);
        }
        return stacked;
    }

    /** Cosines, then sines. */
    static FloatArray angles(RotaryTable table) {
        int size = table.size();
        RotaryTable.Angles rows = table.upTo(table.positions());
        FloatArray angles = new FloatArray(2 * size);
        for (int i = 0; i < size; i++) {
            angles.set(i, rows.cosines()[i]);
            angles.set(size + i, rows.sines()[i]);
        }
        return angles;
    }
}
