package io.github.tornadotransformers.taskgraphs.memory;

/**
 * What a kernel is called with: an array, by its key, a scalar, or which item of a group it is.
 *
 * @param <T> as the kernel takes it
 */
public sealed interface Argument<T> permits PlannedArray, ConstantKey, Scalar, GroupContext {
    /** The value, once arrays are allocated. */
    T in(DeviceArrays arrays);
}
