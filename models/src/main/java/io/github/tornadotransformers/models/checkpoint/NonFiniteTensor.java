package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.Quoted;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A tensor with elements that are NaN or infinite: whatever is computed from it is, too.
 *
 * @param count of such elements
 * @param index of the first, counted in row-major order
 * @param value of the first
 */
public record NonFiniteTensor(StoredTensor tensor, long count, long index, float value) {
    /** Reads all elements of a tensor of a type that weights have. */
    static Optional<NonFiniteTensor> in(StoredTensor tensor) {
        StoredType type = tensor.readType();
        long elements = tensor.elementCount();
        long count = 0;
        long first = 0;
        float value = 0;
        float[] floats = new float[Tile.SIDE];
        try (Arena arena = Arena.ofConfined();
                TensorReader reader = new TensorReader(tensor)) {
            TensorSource source = new TensorSource(type, tensor.elements(reader), elements, arena);
            for (long from = 0; from < elements; from += source.windowWidth()) {
                int width = (int) Math.min(source.windowWidth(), elements - from);
                source.load(0, 1, elements, from, width);
                for (int at = 0; at < width; at += Tile.SIDE) {
                    int length = Math.min(Tile.SIDE, width - at);
                    source.read(at, floats, 0, length);
                    for (int i = 0; i < length; i++) {
                        if (!Float.isFinite(floats[i])) {
                            first = count == 0 ? from + at + i : first;
                            value = count == 0 ? floats[i] : value;
                            count++;
                        }
                    }
                }
            }
        }
        return count == 0 ? Optional.empty() : Optional.of(new NonFiniteTensor(tensor, count, first, value));
    }

    /** The first element's place, an index for each dimension. */
    List<Long> place() {
        List<Long> place = new ArrayList<>();
        long rest = index;
        for (long size : tensor.shape().reversed()) {
            place.addFirst(rest % size);
            rest /= size;
        }
        return place;
    }

    @Override
    public String toString() {
        return "tensor " + Quoted.text(tensor.name()) + " (" + tensor.dtype() + " " + tensor.shape() + ") in "
                + Quoted.path(tensor.file()) + ": element " + place() + " is " + value
                + (count == 1 ? "" : ", and " + (count - 1) + (count == 2 ? " more is" : " more are") + " not finite");
    }
}
