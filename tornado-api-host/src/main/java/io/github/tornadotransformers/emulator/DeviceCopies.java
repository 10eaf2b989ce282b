package io.github.tornadotransformers.emulator;

/** What a task sees in place of its arguments. */
@FunctionalInterface
public interface DeviceCopies {

    /** The device's copy if {@code argument} is an array, {@code argument} itself if it is a scalar. */
    <T> T copy(T argument);
}
