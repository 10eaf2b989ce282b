package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.program.RotaryTable;
import java.lang.foreign.MemorySegment;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;

/** The cosines of a table, then its sines. The host fills it before the device is first used. */
public record RotaryKey(RotaryTable table) implements ArrayKey<FloatArray> {
    @Override
    public ElementType<FloatArray> type() {
        return ElementType.FLOAT;
    }

    public PlannedArray<FloatArray> planned() {
        return new PlannedArray<>(this, 2L * table.size());
    }

    /** Puts cosines, then sines into an array of {@code 2 * table.size()}. */
    public void fill(FloatArray array) {
        RotaryTable.Angles angles = table.upTo(table.positions());
        MemorySegment cosines = MemorySegment.ofArray(angles.cosines());
        MemorySegment elements = array.getSegment();
        elements.asSlice(0, cosines.byteSize()).copyFrom(cosines);
        elements.asSlice(cosines.byteSize()).copyFrom(MemorySegment.ofArray(angles.sines()));
    }

    @Override
    public String toString() {
        return "rotary table of " + table.positions() + " positions";
    }
}
