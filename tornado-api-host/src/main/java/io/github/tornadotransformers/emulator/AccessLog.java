package io.github.tornadotransformers.emulator;

import java.util.Arrays;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** Which items of a task read and wrote the elements of one array. */
final class AccessLog {
    private static final int NONE = -1;
    private static final int SEVERAL = -2;

    private final TornadoNativeArray array;
    private final int[] readers;
    private final int[] writers;
    private boolean read;
    private boolean written;

    AccessLog(TornadoNativeArray array) {
        this.array = array;
        readers = new int[array.getSize()];
        writers = new int[array.getSize()];
        Arrays.fill(readers, NONE);
        Arrays.fill(writers, NONE);
    }

    boolean isRead() {
        return read;
    }

    boolean isWritten() {
        return written;
    }

    /** @throws ItemConflict if another item wrote the element */
    void read(int item, int element) {
        read = true;
        int writer = writers[element];
        if (writer != NONE && writer != item) {
            throw new ItemConflict(
                    array, "item %d reads element %d, which item %d writes".formatted(item, element, writer));
        }
        readers[element] = readers[element] == NONE || readers[element] == item ? item : SEVERAL;
    }

    /** @throws ItemConflict if another item read or wrote the element */
    void write(int item, int element) {
        written = true;
        int writer = writers[element];
        if (writer != NONE && writer != item) {
            throw new ItemConflict(array, "items %d and %d both write element %d".formatted(writer, item, element));
        }
        int reader = readers[element];
        if (reader != NONE && reader != item) {
            throw new ItemConflict(
                    array,
                    "item %d writes element %d, which %s"
                            .formatted(item, element, reader == SEVERAL ? "others read" : "item " + reader + " reads"));
        }
        writers[element] = item;
    }

    /** Two items of a task touch the same element, and one of them writes it: what they leave depends on which comes first. */
    static final class ItemConflict extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient TornadoNativeArray array;

        ItemConflict(TornadoNativeArray array, String message) {
            super(message);
            this.array = array;
        }

        /** The device's memory that both touch. */
        TornadoNativeArray array() {
            return array;
        }
    }
}
